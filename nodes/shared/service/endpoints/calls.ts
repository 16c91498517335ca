import type { Answer, Query } from '../core/http';
import type { Service } from '../core/service';
import type { CallRequest } from '../types';
import { segment, withAdditions, type Additions } from './request';

/** `POST /v1/call`, or the legacy `POST /call` with the identical contract. */
export async function placeCall(
	service: Service,
	body: CallRequest,
	{ legacy = false, ...additions }: Additions & { legacy?: boolean } = {},
): Promise<Answer> {
	const path = legacy ? '/call' : '/v1/call';
	return await service.send(withAdditions({ method: 'POST', path, body }, additions));
}

/** `GET /v1/call/{id}`: the call record. */
export async function getCall(
	service: Service,
	callId: string,
	additions: Additions = {},
): Promise<Answer> {
	return await readCall(service, callId, '', additions);
}

/** `GET /v1/call/{id}/transcript`; empty when none was captured. */
export async function getTranscript(
	service: Service,
	callId: string,
	additions: Additions = {},
): Promise<Answer> {
	return await readCall(service, callId, '/transcript', additions);
}

/** `GET /v1/call/{id}/recording`: a presigned address, or `recording_not_available`. */
export async function getRecording(
	service: Service,
	callId: string,
	additions: Additions = {},
): Promise<Answer> {
	return await readCall(service, callId, '/recording', additions);
}

/** `GET /v1/calls`; of its parameters only `campaign_upload_id` is documented. */
export async function listCalls(
	service: Service,
	query: Query,
	additions: Additions = {},
): Promise<Answer> {
	return await service.send(withAdditions({ method: 'GET', path: '/v1/calls', query }, additions));
}

async function readCall(
	service: Service,
	callId: string,
	part: '' | '/transcript' | '/recording',
	additions: Additions,
): Promise<Answer> {
	const path = `/v1/call/${segment(callId)}${part}`;
	return await service.send(withAdditions({ method: 'GET', path }, additions));
}
