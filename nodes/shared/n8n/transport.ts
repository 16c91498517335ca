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
		...(request.query && { qs: request.query }),
		// axios writes an object once; text would be parsed again before it is sent.
		...(request.body && { body: request.body, headers: { 'Content-Type': 'application/json' } }),
		json: true,
		encoding: 'text',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		sendCredentialsOnCrossOriginRedirect: false,
		timeout: REQUEST_TIMEOUT_MS,
	};
}

export function toWireAnswer(response: unknown): WireAnswer {
	if (!isJsonObject(response)) throw new TransportFault('NO_RESPONSE', 'No response');
	const { statusCode, headers, body } = response;
	return {
		status: typeof statusCode === 'number' ? statusCode : 0,
		headers: isJsonObject(headers) ? headers : {},
		text: typeof body === 'string' ? body : JSON.stringify(body ?? ''),
	};
}

/** Only the code is taken: the error itself holds the request, and with it the token. */
export function toFault(error: unknown): TransportFault {
	for (let current = error; current instanceof Error; current = current.cause) {
		if ('code' in current && typeof current.code === 'string') {
			return new TransportFault(current.code, current.code);
		}
	}
	return new TransportFault(BLOCKED_BY_N8N, error instanceof Error ? error.message : '');
}
