import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IHookFunctions,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
	IPollFunctions,
	ITriggerFunctions,
	IWebhookFunctions,
} from 'n8n-workflow';
import {
	BLOCKED_BY_N8N,
	bytesOf,
	TransportFault,
	type ServiceRequest,
	type Transport,
	type HttpResponse,
} from '../../core/service/http';
import { anyOf, type Deadline, DONE, whenAborted } from '../../core/values/clock';
import { isJsonObject, type JsonObject } from '../../core/values/json';
import { plainText } from '../../core/values/values';
import { CREDENTIAL } from './credential';

export type ServiceContext =
	| IExecuteFunctions
	| IHookFunctions
	| ILoadOptionsFunctions
	| IPollFunctions
	| ITriggerFunctions
	| IWebhookFunctions;

export const TIME_LIMITS = {
	/** Without data. Long, because a push of 10,000 contacts takes time and a timeout leaves its outcome unknown. */
	silenceMs: 180_000,
	/** In total, for responses that arrive too slowly. */
	wholeMs: 300_000,
	/** For a recording, as long as its link is valid. */
	downloadMs: 900_000,
};

/** Node's code of a connection that timed out. */
export const TIMED_OUT = 'ETIMEDOUT';

/** Maximum bytes of a response to read. An error may name each of 10,000 contacts. */
export const RESPONSE_LIMITS = { successBytes: 64_000_000, otherBytes: 8_000_000 };

/** A transport with n8n's HTTP helper, which uses the instance's proxy, SSRF protection, and timeouts. */
export function createTransport(
	context: ServiceContext,
	baseUrl: string,
	data: ICredentialDataDecryptedObject,
	deadline?: Deadline,
): Transport {
	// Passing the credential saves a database query per request.
	const credentialsDecrypted = { id: '', name: CREDENTIAL, type: CREDENTIAL, data };
	return async (request) => {
		const own = AbortSignal.timeout(request.timeoutMs ?? TIME_LIMITS.wholeMs);
		const limit = anyOf(own, deadline?.signal) ?? own;
		// Such as of a tool that has waited for n8n's database before.
		if (limit.aborted) throw new TransportFault(TIMED_OUT);
		const url = `${baseUrl}${request.path}${request.search ?? ''}`;
		const response = context.helpers.httpRequestWithAuthentication
			.call(context, CREDENTIAL, toHttpRequest(url, request), { credentialsDecrypted })
			.then(async (received) => await readHttpResponse(received, limit))
			.catch((error: unknown) => {
				throw toFault(error);
			});
		// In an execution, n8n's helper replaces an abort signal with that of *Stop*.
		const ended = new AbortController();
		const timedOut = whenAborted(limit, ended.signal).then(() => {
			throw new TransportFault(TIMED_OUT);
		});
		return await Promise.race([response, timedOut]).finally(() => ended.abort(DONE));
	};
}

/** The signal of *Stop*, in executions that a person can stop. */
export function stopSignalOf(context: ServiceContext): AbortSignal | undefined {
	return 'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined;
}

function toHttpRequest(url: string, request: ServiceRequest): IHttpRequestOptions {
	return {
		method: request.method,
		url,
		// By default, axios adds brackets to the name of a list.
		...(request.query && { qs: request.query, arrayFormat: 'repeat' }),
		// As bytes, because n8n and axios copy an object and parse a text again.
		...(request.body && {
			body: bytesOf(request.body, request.list),
			headers: { 'Content-Type': 'application/json' },
		}),
		json: true,
		encoding: 'stream',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		sendCredentialsOnCrossOriginRedirect: false,
		timeout: request.timeoutMs ?? TIME_LIMITS.silenceMs,
	};
}

/** A response body as a stream, as returned by n8n's HTTP helper. */
type ByteStream = Exclude<
	Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0],
	Uint8Array
>;

export function isByteStream(value: unknown): value is ByteStream {
	return typeof value === 'object' && value !== null && 'pipe' in value;
}

/**
 * Reads the body until it has more than `max` bytes, or all of it, or `end` is aborted. Then, the stream is closed.
 *
 * @throws an error with Node's code if the connection breaks
 */
async function firstBytes(content: ByteStream, max: number, end?: AbortSignal): Promise<Buffer> {
	const chunks: Buffer[] = [];
	let length = 0;
	const parts: AsyncIterable<Uint8Array> = content;
	for await (const part of parts) {
		const bytes = Buffer.from(part);
		chunks.push(bytes);
		length += bytes.length;
		if (length > max || end?.aborted === true) break;
	}
	return Buffer.concat(chunks);
}

/** Reads the body up to {@link RESPONSE_LIMITS}, or until `end`. The limit of n8n's HTTP helper is 600 MB. */
async function readHttpResponse(response: unknown, end: AbortSignal): Promise<HttpResponse> {
	if (!isJsonObject(response)) throw new TransportFault('NO_RESPONSE');
	const { body, ...rest }: { [name: string]: unknown } = response;
	if (!isByteStream(body)) return toHttpResponse(response);
	const head = toHttpResponse(rest);
	const { successBytes, otherBytes } = RESPONSE_LIMITS;
	const max = head.status >= 200 && head.status < 300 ? successBytes : otherBytes;
	const bytes = await firstBytes(body, max, end);
	const text = new TextDecoder().decode(bytes.subarray(0, max));
	return bytes.length <= max ? { ...head, text } : { ...head, text, readBytes: max };
}

export function toHttpResponse(response: unknown): HttpResponse {
	if (!isJsonObject(response)) throw new TransportFault('NO_RESPONSE');
	const { statusCode, headers, body } = response;
	return {
		status: typeof statusCode === 'number' ? statusCode : 0,
		headers: isJsonObject(headers) ? headers : {},
		// For an empty body, n8n's older helper returns undefined.
		text: typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body),
	};
}

/**
 * Converts an error to its code only, because the error contains the request with the token. n8n and axios wrap
 * Node's errors, so the whole chain of causes is searched. A code with a `syscall` is from Node.
 */
export function toFault(error: unknown): TransportFault {
	const chain = [...causes(error)];
	const blocked = chain.find(isBlockedByN8n);
	if (blocked !== undefined) return new TransportFault(BLOCKED_BY_N8N, plainText(blocked.message));
	const coded = chain.filter(({ code }) => typeof code === 'string');
	const fault = coded.find((link) => syscallOf(link) !== undefined) ?? coded.at(-1);
	const code = plainText(fault?.code ?? chain.at(-1)?.name) || 'NO_RESPONSE';
	return new TransportFault(code, code, fault && syscallOf(fault));
}

/** `instanceof` doesn't recognize errors of another realm, so an error is any object. */
function* causes(error: unknown): Generator<JsonObject> {
	const seen = new Set<JsonObject>();
	for (let link = error; isJsonObject(link) && !seen.has(link); link = link.cause) {
		seen.add(link);
		yield link;
	}
}

/** The system call of an error, or the common one of several connection attempts. */
function syscallOf({ syscall, errors }: JsonObject): string | undefined {
	if (typeof syscall === 'string') return syscall;
	if (!Array.isArray(errors)) return undefined;
	const syscalls = new Set(errors.map((one) => (isJsonObject(one) ? syscallOf(one) : undefined)));
	return syscalls.size === 1 ? [...syscalls][0] : undefined;
}

/** The errors of n8n 2 for blocked requests: two of the SSRF protection, and that of the allowed domains by its text. */
function isBlockedByN8n({ name, message }: JsonObject): boolean {
	if (name === 'SsrfBlockedIpError' || name === 'SsrfBlockedHostnameError') return true;
	return plainText(message).startsWith('Domain not allowed:');
}
