import { OtherRecord } from '../errors';
import {
	hasAnyField,
	either,
	hasId,
	hasRecord,
	hasAnyValue,
	isAbout,
	type SuccessCheck,
} from '../envelope';
import type { ApiResponse, Query } from '../http';
import type { ApiClient } from '../client';
import type { CallRequest } from '../types';
import { segment, withAdditions, type Additions } from './endpoint';

/**
 * `POST /v1/call`, or the legacy `POST /call` with the same contract. A `call_id` in the response proves the call.
 *
 * @param bodyNow the body for a further attempt. If it throws, no further attempt is made.
 */
export async function placeCall(
	client: ApiClient,
	body: CallRequest,
	{
		legacy = false,
		bodyNow = () => body,
		...additions
	}: Additions & { legacy?: boolean; bodyNow?: () => CallRequest } = {},
): Promise<ApiResponse> {
	const path = legacy ? '/call' : '/v1/call';
	const requestWith = (call: CallRequest) =>
		withAdditions({ method: 'POST', path, body: call }, additions);
	return await client.send(requestWith(body), hasId('call_id'), {
		effectFields: ['call_id'],
		renew: () => requestWith(bodyNow()),
	});
}

/**
 * `GET /v1/call/{id}`: the call record.
 *
 * @throws OtherRecord if the response is about another call. So do the reads below.
 */
export async function getCall(
	client: ApiClient,
	callId: string,
	additions: Additions = {},
): Promise<ApiResponse> {
	return await readCall(client, callId, '', additions, either(hasAnyField('call_id'), hasRecord));
}

/** `GET /v1/call/{id}/transcript`: an empty list if none was captured. */
export async function getTranscript(
	client: ApiClient,
	callId: string,
	additions: Additions = {},
): Promise<ApiResponse> {
	const successCheck = hasAnyField('call_id', 'transcript');
	return await readCall(client, callId, '/transcript', additions, successCheck);
}

/** `GET /v1/call/{id}/recording`: a presigned URL, or the error `recording_not_available`. */
export async function getRecording(
	client: ApiClient,
	callId: string,
	additions: Additions = {},
): Promise<ApiResponse> {
	const successCheck = hasAnyField('call_id', 'recording_url');
	return await readCall(client, callId, '/recording', additions, successCheck);
}

/**
 * `GET /v1/calls`. Only its parameter `campaign_upload_id` is documented.
 *
 * @param page a query, or a complete link from the service, to which nothing is added
 */
export async function listCalls(
	client: ApiClient,
	page: { query: Query } | { link: string },
	additions: Additions = {},
	signal?: AbortSignal,
): Promise<ApiResponse> {
	const request = { method: 'GET', path: '/v1/calls', ...page, signal } as const;
	const complete = 'link' in page ? request : withAdditions(request, additions);
	return await client.send(complete, hasAnyValue);
}

async function readCall(
	client: ApiClient,
	callId: string,
	part: '' | '/transcript' | '/recording',
	additions: Additions,
	successCheck: SuccessCheck,
): Promise<ApiResponse> {
	const path = `/v1/call/${segment(callId)}${part}`;
	const request = withAdditions({ method: 'GET', path }, additions);
	const response = await client.send(request, successCheck, { isSecret: part === '/recording' });
	if (isAbout('call_id', callId)(response.body)) return response;
	throw new OtherRecord('call', callId);
}
