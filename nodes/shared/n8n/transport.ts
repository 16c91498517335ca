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
	TransportFault,
	type Query,
	type ServiceRequest,
	type Transport,
	type WireAnswer,
} from '../service/core/http';
import { isJsonObject } from '../service/types';
import { CREDENTIAL } from './credential';

export type ServiceContext =
	| IExecuteFunctions
	| IHookFunctions
	| ILoadOptionsFunctions
	| IPollFunctions
	| ITriggerFunctions
	| IWebhookFunctions;

/** A feed of 10,000 contacts takes its time; giving up early would leave its fate unknown. */
export const REQUEST_TIMEOUT_MS = 180_000;

/** n8n's own HTTP helper as a transport: it brings the instance's proxy, SSRF guard and time-outs. */
export function createTransport(
	context: ServiceContext,
	baseUrl: string,
	data: ICredentialDataDecryptedObject,
): Transport {
	// Handing the credential over saves a database look-up for every request.
	const credentialsDecrypted = { id: '', name: CREDENTIAL, type: CREDENTIAL, data };
	return async (request) => {
		try {
			const response: unknown = await context.helpers.httpRequestWithAuthentication.call(
				context,
				CREDENTIAL,
				toHttpRequest(baseUrl, request),
				{ credentialsDecrypted },
			);
			return toWireAnswer(response);
		} catch (error) {
			throw toFault(error);
		}
	};
}

function toHttpRequest(baseUrl: string, request: ServiceRequest): IHttpRequestOptions {
	return {
		method: request.method,
		url: `${baseUrl}${request.path}`,
		...(request.query && { qs: request.query, ...arraysOf(request.query) }),
		// axios writes an object once; text would be parsed again before it is sent.
		...(request.body && { body: request.body, headers: { 'Content-Type': 'application/json' } }),
		json: true,
		encoding: 'text',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		sendCredentialsOnCrossOriginRedirect: false,
		timeout: request.timeoutMs ?? REQUEST_TIMEOUT_MS,
	};
}

/** axios by itself would add brackets to the name of a list. */
function arraysOf(query: Query): { arrayFormat?: 'repeat' } {
	return Object.values(query).some(Array.isArray) ? { arrayFormat: 'repeat' } : {};
}

export function toWireAnswer(response: unknown): WireAnswer {
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
 * Node threw, so the whole chain is looked at; the innermost code with a `syscall` is Node's own.
 */
export function toFault(error: unknown): TransportFault {
	const chain = [...causes(error)];
	const blocked = chain.find(isBlockedByN8n);
	if (blocked !== undefined) return new TransportFault(BLOCKED_BY_N8N, blocked.message);
	const coded = chain.filter(hasCode);
	const fault = coded.find((link) => syscallOf(link) !== undefined) ?? coded.at(-1);
	const code = fault?.code ?? chain.at(-1)?.name ?? 'NO_RESPONSE';
	return new TransportFault(code, code, fault && syscallOf(fault));
}

function* causes(error: unknown): Generator<Error> {
	for (let current = error; current instanceof Error; current = current.cause) yield current;
}

function hasCode(error: Error): error is Error & { code: string } {
	return 'code' in error && typeof error.code === 'string';
}

/** Several addresses tried one after another fail together: what they have in common counts. */
function syscallOf(error: Error): string | undefined {
	if ('syscall' in error && typeof error.syscall === 'string') return error.syscall;
	if (!(error instanceof AggregateError)) return undefined;
	const errors: unknown[] = error.errors;
	const syscalls = errors.map((one) => (one instanceof Error ? syscallOf(one) : undefined));
	return new Set(syscalls).size === 1 ? syscalls[0] : undefined;
}

/** The errors by which n8n 2 names its own refusals: the SSRF guard's two, and the allowed domains' by its words. */
function isBlockedByN8n({ name, message }: Error): boolean {
	return /^SsrfBlocked(Ip|Hostname)Error$/.test(name) || message.startsWith('Domain not allowed:');
}
