import { createHmac } from 'node:crypto';
import type { SimulatorResponse } from '../http/responses';
import type { SimulatorRequest } from '../http/route';
import type { SimulatorState } from '../world';

const LIFETIME_MS = 900_000;

/** Presigned URLs of recordings, as in object storage. */
export class Recordings {
	constructor(private readonly world: SimulatorState) {}

	presign(callId: string): string {
		const expires = this.world.clock.now() + LIFETIME_MS;
		const path = `/${callId}?X-Expires=${expires}&X-Signature=${sign(callId, expires)}`;
		return this.world.dialect.calls.recordingUrl(this.world.baseUrl, path);
	}

	serve({ params, query, headers }: SimulatorRequest): SimulatorResponse {
		const callId = params.id ?? '';
		const expires = Number(query['X-Expires']);
		// Object storage rejects a request with two kinds of credentials.
		if (headers['api-token'] !== undefined) return denied(400, 'OnlyOneAuthMechanismAllowed');
		if (query['X-Signature'] !== sign(callId, expires)) return denied(403, 'SignatureDoesNotMatch');
		if (this.world.clock.now() > expires) return denied(403, 'RequestHasExpired');
		const recording = this.world.state.calls.get(callId)?.recording;
		if (!recording) return denied(404, 'NoSuchKey');
		return { status: 200, body: recording, headers: this.world.dialect.calls.recordingHeaders };
	}
}

function sign(callId: string, expires: number): string {
	return createHmac('sha256', 'recordings').update(`${callId}.${expires}`).digest('hex');
}

function denied(status: number, code: string): SimulatorResponse {
	const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code></Error>`;
	return { status, body, headers: { 'content-type': 'application/xml' } };
}
