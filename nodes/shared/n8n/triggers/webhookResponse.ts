import type { IHookFunctions, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { DONE, pause } from '../../clock';
import { type JsonObject, type JsonValue, parseJson } from '../../json';
import { clock } from '../http/accountClient';

/** What the sender gets when its request cannot be used: an HTTP status and a sentence. */
export type RejectedDelivery = {
	status: number;
	message: string;
	/** Seconds after which it may be sent again. */
	retryAfter?: number;
};

/** While n8n or the service is not ready for it. */
export const ASK_AGAIN: RejectedDelivery = {
	status: 503,
	message: 'This cannot be taken now. Deliver it again.',
	retryAfter: 60,
};

/**
 * Keeps n8n from reading the body by itself: it would take only some content types (which of them
 * the service sends is open), answer a huge body with 500, and lose one whose sender has hung up. n8n asks nodes of
 * version 1 alone for it, by an expression that costs it a sandbox for each delivery.
 */
export const UNREAD_BODY = { binaryData: true } as const;

/** The part of n8n's request that is used here, and of Node's stream below it. */
type RawRequest = {
	readRawBody(): Promise<void>;
	rawBody?: Buffer;
	/** Whether the last byte has arrived. */
	complete?: boolean;
	headers?: { [name: string]: unknown };
	read?(): unknown;
};

/** The part of n8n's response that is used here. */
type RawResponse = {
	headersSent?: boolean;
	setHeader(name: string, value: string): unknown;
	status(code: number): { json(body: JsonObject): unknown };
};

/**
 * The JSON that was sent, whatever content type it was given.
 *
 * @param maxBytes where less than n8n's own limit is enough
 */
export async function readJson(
	context: IWebhookFunctions,
	maxBytes = Infinity,
): Promise<{ json: JsonValue; bytes: number } | { rejected: RejectedDelivery }> {
	const request: unknown = context.getRequestObject();
	if (!isRawRequest(request)) return reject(400, 'The body could not be read.');
	let body: Buffer | undefined;
	try {
		await request.readRawBody();
		body = request.rawBody;
	} catch (error) {
		if (isTooLarge(error)) return reject(413, 'The body is too large.');
		body = arrivedBody(request);
		if (body === undefined) return reject(400, 'The body could not be read.');
	}
	// As long as the request lasts, n8n would keep it beside what is made of it.
	delete request.rawBody;
	const bytes = body?.length ?? 0;
	if (bytes > maxBytes) {
		return reject(413, `The body is larger than ${maxBytes.toLocaleString('en-US')} bytes.`);
	}
	const text = body?.toString('utf8').replace(/^\uFEFF/, '') ?? '';
	const json = parseJson(text);
	if (json !== undefined) return { json, bytes };
	return reject(400, text === '' ? 'The body is empty.' : 'The body is not JSON.');
}

/**
 * A busy n8n gets round to a request late, and cannot read it once its sender has hung up. What had arrived
 * whole by then is still there: Node keeps it with the request.
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

/** Answers the sender once; what is to be said later is dropped. */
export class WebhookResponder {
	/** Where the answer goes, until it is given. */
	private respond: ((answer: WebhookResponse) => void) | undefined;

	private readonly answered = new AbortController();

	/** @param to of the context its response alone is kept: with the context n8n keeps a sandbox */
	constructor(to: IWebhookFunctions | ((answer: WebhookResponse) => void)) {
		this.respond = typeof to === 'function' ? to : responder(to.getResponseObject());
	}

	/** @param retryAfter seconds, for the header `Retry-After` */
	send(status: number, body: JsonObject, retryAfter?: number): void {
		const { respond } = this;
		// With the response Node.js keeps the request, and what was asked for may take minutes.
		this.respond = undefined;
		if (this.answered.signal.aborted) return;
		this.answered.abort(DONE);
		respond?.({ status, body, retryAfter });
	}

	/**
	 * A reply for each of several parts of the request. When all of them are given, the sender gets them with the highest
	 * status: one part that has to be sent again means that the request has to be.
	 */
	parts(count: number): WebhookResponder[] {
		if (count === 1) return [this];
		const answers: WebhookResponse[] = [];
		const gather = (answer: WebhookResponse) => {
			answers.push(answer);
			if (answers.length < count) return;
			const status = Math.max(...answers.map((one) => one.status));
			const parts = answers.map((one) => ({ status: one.status, ...one.body }));
			const retryAfter = answers.find((one) => one.retryAfter !== undefined)?.retryAfter;
			this.send(status, { received: status < 300, parts }, retryAfter);
		};
		return Array.from({ length: count }, () => new WebhookResponder(gather));
	}

	/** Leaves it to n8n to answer; false where the sender has its answer already. */
	leave(): boolean {
		const isOpen = !this.answered.signal.aborted;
		this.answered.abort(DONE);
		return isOpen;
	}

	/** Turns the request down if it has no answer by then. */
	rejectAfter(ms: number, rejected: RejectedDelivery): void {
		void pause(clock, ms, this.answered.signal).then((isLate) => {
			if (isLate) this.reject(rejected);
		});
	}

	/** Turns the request down; nothing starts. */
	reject({ status, message, retryAfter }: RejectedDelivery): IWebhookResponseData {
		this.send(status, { received: false, message }, retryAfter);
		return NO_EXECUTION;
	}
}

/** n8n answers by itself where a webhook throws. */
function responder(response: unknown): (answer: WebhookResponse) => void {
	return ({ status, body, retryAfter }) => {
		if (!isRawResponse(response) || response.headersSent === true) return;
		if (retryAfter !== undefined) response.setHeader('Retry-After', String(retryAfter));
		response.status(status).json(body);
	};
}

/** The node has answered by itself, and no execution starts. */
export const NO_EXECUTION: IWebhookResponseData = { noWebhookResponse: true };

/** For addresses that the service learns from a person or from a request: nothing is registered there. */
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
