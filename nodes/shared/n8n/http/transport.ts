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
import { urlOf } from '../../api/access';
import {
	BLOCKED_BY_N8N,
	bytesOf,
	TransportFault,
	type Query,
	type ServiceRequest,
	type Transport,
	type HttpResponse,
} from '../../api/http';
import { isJsonObject } from '../../json';
import { plainText } from '../../values';
import { firstBytes, isByteStream, TIMED_OUT } from './byteStream';
import { CREDENTIAL } from './credential';
import { deadlineOf } from '../tools/toolDeadline';

export type ServiceContext =
	| IExecuteFunctions
	| IHookFunctions
	| ILoadOptionsFunctions
	| IPollFunctions
	| ITriggerFunctions
	| IWebhookFunctions;

export const TIME_LIMITS = {
	/** Without a byte. A push of 10,000 contacts takes its time; giving up early would leave its fate unknown. */
	silenceMs: 180_000,
	/** From beginning to end: an answer that drips on for ever is no answer. */
	wholeMs: 300_000,
	/** Of a recording, which may be long; its link lives as long. */
	downloadMs: 900_000,
};

/** How much of a response is read. What an error says is short, though it may name each of 10,000 contacts. */
export const RESPONSE_LIMITS = { successBytes: 64_000_000, otherBytes: 8_000_000 };

/** axios' name for a request that a signal ended. */
const AXIOS_CANCELED = 'ERR_CANCELED';

/** n8n's own HTTP helper as a transport: it brings the instance's proxy, SSRF guard and time-outs. */
export function createTransport(
	context: ServiceContext,
	baseUrl: string,
	data: ICredentialDataDecryptedObject,
): Transport {
	// Handing the credential over saves a database look-up for every request.
	const credentialsDecrypted = { id: '', name: CREDENTIAL, type: CREDENTIAL, data };
	return async (request) => {
		const own = AbortSignal.timeout(request.timeoutMs ?? TIME_LIMITS.wholeMs);
		const others = [deadlineOf(context)?.signal, request.signal].filter((end) => end !== undefined);
		const limit = others.length === 0 ? own : AbortSignal.any([own, ...others]);
		const url = urlOf(baseUrl, request);
		try {
			const response: unknown = await context.helpers.httpRequestWithAuthentication.call(
				endingBy(context, limit),
				CREDENTIAL,
				{ ...toHttpRequest(url, request), abortSignal: limit },
				{ credentialsDecrypted },
			);
			return { ...(await readWireAnswer(response, silenceOf(request))), url };
		} catch (error) {
			const fault = toFault(error);
			const hasEnded = fault.code === AXIOS_CANCELED && limit.aborted;
			throw hasEnded ? new TransportFault(TIMED_OUT, TIMED_OUT) : fault;
		}
	};
}

/** In an execution n8n's helper puts the signal of *Stop* in place of the one that it is given. */
function endingBy<Context extends ServiceContext>(context: Context, limit: AbortSignal): Context {
	const stop = 'getExecutionCancelSignal' in context && context.getExecutionCancelSignal();
	const end = stop ? AbortSignal.any([stop, limit]) : limit;
	return new Proxy(context, {
		get: (target, name): unknown =>
			name === 'getExecutionCancelSignal' ? () => end : Reflect.get(target, name),
	});
}

function toHttpRequest(url: string, request: ServiceRequest): IHttpRequestOptions {
	return {
		method: request.method,
		url,
		...(request.query && { qs: request.query, ...arraysOf(request.query) }),
		// As bytes: n8n and axios copy an object, and read a text as JSON once more.
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
		timeout: silenceOf(request),
	};
}

function silenceOf({ timeoutMs }: ServiceRequest): number {
	return timeoutMs ?? TIME_LIMITS.silenceMs;
}

/** axios by itself would add brackets to the name of a list. */
function arraysOf(query: Query): { arrayFormat?: 'repeat' } {
	return Object.values(query).some(Array.isArray) ? { arrayFormat: 'repeat' } : {};
}

/** Reads the body up to {@link RESPONSE_LIMITS}: n8n's HTTP helper itself would read 600 MB of it. */
async function readWireAnswer(response: unknown, silenceMs: number): Promise<HttpResponse> {
	if (!isJsonObject(response)) throw new TransportFault('NO_RESPONSE', 'No response');
	const { body, ...rest }: { [name: string]: unknown } = response;
	if (!isByteStream(body)) return toWireAnswer(response);
	const answer = toWireAnswer(rest);
	const { successBytes, otherBytes } = RESPONSE_LIMITS;
	const most = answer.status >= 200 && answer.status < 300 ? successBytes : otherBytes;
	let isWhole = false;
	try {
		const bytes = await firstBytes(body, most + 1, silenceMs);
		isWhole = bytes.length <= most;
		const text = new TextDecoder().decode(bytes);
		return isWhole ? { ...answer, text } : { ...answer, text, readBytes: most };
	} finally {
		// One that was read whole ends by itself, and leaves its connection for the next request.
		if (!isWhole) body.destroy();
	}
}

export function toWireAnswer(response: unknown): HttpResponse {
	if (!isJsonObject(response)) throw new TransportFault('NO_RESPONSE', 'No response');
	const { statusCode, headers, body } = response;
	return {
		status: typeof statusCode === 'number' ? statusCode : 0,
		headers: isJsonObject(headers) ? headers : {},
		// An empty body comes as nothing from n8n's older helper.
		text: typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body),
	};
}

/**
 * Only codes are taken: the error itself holds the request, and with it the token. n8n wraps what axios wraps what
 * Node threw, so the whole chain is looked at; a code that comes with a `syscall` is Node's own.
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

/** An error as its fields: Node's own may come from another realm, where `instanceof` does not know them. */
type Link = { [field: string]: unknown };

function* causes(error: unknown): Generator<Link> {
	const seen = new Set<Link>();
	for (let link = error; isLink(link) && !seen.has(link); link = link.cause) {
		seen.add(link);
		yield link;
	}
}

function isLink(value: unknown): value is Link {
	return typeof value === 'object' && value !== null;
}

/** Several addresses tried one after another fail together: what they have in common counts. */
function syscallOf({ syscall, errors }: Link): string | undefined {
	if (typeof syscall === 'string') return syscall;
	if (!Array.isArray(errors)) return undefined;
	const tries: unknown[] = errors;
	const syscalls = new Set(tries.map((one) => (isLink(one) ? syscallOf(one) : undefined)));
	return syscalls.size === 1 ? [...syscalls][0] : undefined;
}

/** The errors by which n8n 2 names its own rejections: the SSRF guard's two, and the allowed domains' by its words. */
function isBlockedByN8n({ name, message }: Link): boolean {
	if (name === 'SsrfBlockedIpError' || name === 'SsrfBlockedHostnameError') return true;
	return plainText(message).startsWith('Domain not allowed:');
}
