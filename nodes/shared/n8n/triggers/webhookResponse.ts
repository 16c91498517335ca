import type { IHookFunctions, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { DONE, pause } from '../../clock';
import { type JsonObject, type JsonValue, parseJson } from '../../json';
import { clock } from '../http/accountClient';

/** The response to an unusable request: an HTTP status and a sentence. */
export type RejectedDelivery = {
	status: number;
	message: string;
	/** Seconds to wait before the request is sent again. */
	retryAfter?: number;
};

/** If n8n or the service isn't ready. */
export const TRY_LATER: RejectedDelivery = {
	status: 503,
	message: "This can't be processed now. Send the request again later.",
	retryAfter: 60,
};

/**
 * Stops n8n from reading the body. n8n would accept only some content types (the service's isn't documented), respond
 * to a huge body with status 500, and lose a body whose sender has closed the connection. n8n reads this option only in
 * nodes of version 1, by an expression, so it prepares its expression engine for each delivery.
 */
export const UNREAD_BODY = { binaryData: true } as const;

/** The used part of n8n's request, and of its Node.js stream. */
type RawRequest = {
	readRawBody(): Promise<void>;
	rawBody?: Buffer;
	/** Whether the last byte has arrived. */
	complete?: boolean;
	headers?: { [name: string]: unknown };
	read?(): unknown;
};

/** The used part of n8n's response. */
type RawResponse = {
	headersSent?: boolean;
	setHeader(name: string, value: string): unknown;
	status(code: number): { json(body: JsonObject): unknown };
};

/**
 * Reads the body as JSON, with any content type.
 *
 * @param maxBytes a limit below n8n's own
 */
export async function readJson(
	context: IWebhookFunctions,
	maxBytes = Infinity,
): Promise<{ json: JsonValue; bytes: number } | { rejected: RejectedDelivery }> {
	const request: unknown = context.getRequestObject();
	if (!isRawRequest(request)) return reject(400, "The body can't be read.");
	let body: Buffer | undefined;
	try {
		await request.readRawBody();
		body = request.rawBody;
	} catch (error) {
		if (isTooLarge(error)) return reject(413, 'The body is too large.');
		body = arrivedBody(request);
		if (body === undefined) return reject(400, "The body can't be read.");
	}
	// Otherwise, n8n would keep the bytes in memory during the whole request.
	delete request.rawBody;
	const bytes = body?.length ?? 0;
	if (bytes > maxBytes) {
		return reject(413, `The body is larger than ${maxBytes.toLocaleString('en-US')} bytes.`);
	}
	const text = body?.toString('utf8').replace(/^\uFEFF/, '') ?? '';
	const json = parseJson(text);
	if (json !== undefined) return { json, bytes };
	return reject(400, text === '' ? 'The body is empty.' : "The body isn't JSON.");
}

/**
 * A busy n8n may handle a request after its sender has closed the connection, and can't read it then. If the body had
 * arrived completely, Node.js still has it.
 */
function arrivedBody(request: RawRequest): Buffer | undefined {
	if (request.complete !== true || request.headers?.['content-encoding'] !== undefined) return;
	const chunks: Buffer[] = [];
	for (let chunk = request.read?.(); Buffer.isBuffer(chunk); chunk = request.read?.()) {
		chunks.push(chunk);
	}
	return chunks.length === 0 ? undefined : Buffer.concat(chunks);
}

function reject(status: number, message: string): { rejected: RejectedDelivery } {
	return { rejected: { status, message } };
}

function isTooLarge(error: unknown): boolean {
	return error instanceof Error && 'status' in error && error.status === 413;
}

function isRawRequest(request: unknown): request is RawRequest {
	return typeof request === 'object' && request !== null && 'readRawBody' in request;
}

function isRawResponse(response: unknown): response is RawResponse {
	return typeof response === 'object' && response !== null && 'status' in response;
}

type WebhookResponse = { status: number; body: JsonObject; retryAfter?: number | undefined };

/** Responds to the sender once, and ignores later responses. */
export class WebhookResponder {
	/** Undefined after the response. */
	private respond: ((response: WebhookResponse) => void) | undefined;

	private readonly responded = new AbortController();

	/** @param to keeps only the response of a context, because n8n keeps a sandbox with the context */
	constructor(to: IWebhookFunctions | ((response: WebhookResponse) => void)) {
		this.respond = typeof to === 'function' ? to : responder(to.getResponseObject());
	}

	/** @param retryAfter seconds, for the header `Retry-After` */
	send(status: number, body: JsonObject, retryAfter?: number): void {
		const { respond } = this;
		// Node.js keeps the request with the response, and the requested work may take minutes.
		this.respond = undefined;
		if (this.responded.signal.aborted) return;
		this.responded.abort(DONE);
		respond?.({ status, body, retryAfter });
	}

	/**
	 * A responder for each part of the request. When all have responded, the sender gets one response with the highest
	 * status: if one part must be sent again, the request must be.
	 */
	parts(count: number): WebhookResponder[] {
		if (count === 1) return [this];
		const responses: WebhookResponse[] = [];
		const gather = (response: WebhookResponse) => {
			responses.push(response);
			if (responses.length < count) return;
			const status = Math.max(...responses.map((one) => one.status));
			const parts = responses.map((one) => ({ status: one.status, ...one.body }));
			const retryAfter = responses.find((one) => one.retryAfter !== undefined)?.retryAfter;
			this.send(status, { received: status < 300, parts }, retryAfter);
		};
		return Array.from({ length: count }, () => new WebhookResponder(gather));
	}

	/** Lets n8n respond. False if the sender has got a response already. */
	leaveToN8n(): boolean {
		const isPending = !this.responded.signal.aborted;
		this.responded.abort(DONE);
		return isPending;
	}

	/** Rejects the request if it has no response by then. */
	rejectAfter(ms: number, rejected: RejectedDelivery): void {
		void pause(clock, ms, this.responded.signal).then((isLate) => {
			if (isLate) this.reject(rejected);
		});
	}

	/** Rejects the request, and starts nothing. */
	reject({ status, message, retryAfter }: RejectedDelivery): IWebhookResponseData {
		this.send(status, { received: false, message }, retryAfter);
		return NO_EXECUTION;
	}
}

/** n8n may have responded already, if a webhook threw an error. */
function responder(response: unknown): (content: WebhookResponse) => void {
	return ({ status, body, retryAfter }) => {
		if (!isRawResponse(response) || response.headersSent === true) return;
		if (retryAfter !== undefined) response.setHeader('Retry-After', String(retryAfter));
		response.status(status).json(body);
	};
}

/** The node has responded itself, and no execution starts. */
export const NO_EXECUTION: IWebhookResponseData = { noWebhookResponse: true };

/** For webhook URLs that are entered in the service or sent with a request, so nothing must be registered. */
export const nothingToRegister = {
	async checkExists(this: IHookFunctions): Promise<boolean> {
		return true;
	},
	async create(this: IHookFunctions): Promise<boolean> {
		return true;
	},
	async delete(this: IHookFunctions): Promise<boolean> {
		return true;
	},
};
