import type { FastifyReply } from 'fastify';
import { delay } from '../clock';
import { isObject } from '../json';
import type { Simulator } from '../simulator';
import type { Fault } from './faults';
import { invalid, rejected, response, type SimulatorResponse } from './route';

/** The response that a fault sends instead. Undefined if it sends the true one, or a part of it. */
export function faultyResponse(
	{ kind, status, body, retryAfterSeconds }: Fault,
	sim: Simulator,
	handled?: SimulatorResponse,
): SimulatorResponse | undefined {
	const retryAfter = retryAfterHeader(sim, retryAfterSeconds);
	const failure = rejected(500, 'Internal server error').body;
	switch (kind) {
		case 'status':
			return { status: status ?? 500, body: body ?? failure, headers: retryAfter };
		case 'tooManyRequests':
			return tooManyRequests(sim, retryAfterSeconds);
		case 'html': {
			const page = body ?? '<html><body><h1>Bad Gateway</h1></body></html>';
			return { status: status ?? 502, body: page, headers: { 'content-type': 'text/html' } };
		}
		case 'successFalseAt200':
			return response(200, body ?? failure);
		// The request took effect, and the response says the opposite.
		case 'rejectingWords':
			return response(status ?? 500, body ?? rejected(500, 'call_not_found').body);
		case 'wrongCounts':
			return handled && withCounts(handled, body ?? { contacts_accepted: 0 });
		case 'redirect': {
			const location = typeof body === 'string' ? body : `${sim.baseUrl}/elsewhere`;
			return { status: status ?? 302, body: '', headers: { location } };
		}
		default:
			return undefined;
	}
}

function withCounts(handled: SimulatorResponse, counts: unknown): SimulatorResponse {
	const { body } = handled;
	if (!isObject(body) || !isObject(body.data) || !isObject(counts)) return handled;
	return { ...handled, body: { ...body, data: { ...body.data, ...counts } } };
}

function retryAfterHeader({ dialect }: Simulator, seconds?: number): Record<string, string> {
	if (seconds === undefined) return {};
	const date = new Date(Date.now() + seconds * 1000).toUTCString();
	return { 'retry-after': dialect.retryAfter === 'date' ? date : String(seconds) };
}

function tooManyRequests(sim: Simulator, retryAfterSeconds?: number): SimulatorResponse {
	const headers = retryAfterHeader(sim, retryAfterSeconds);
	return { ...invalid(sim, ['Too many requests'], 429), headers };
}

function bytesOf(body: unknown): Buffer {
	if (Buffer.isBuffer(body)) return body;
	return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Sends the response, or the part of it that the fault leaves. */
export async function send(
	reply: FastifyReply,
	sent: SimulatorResponse,
	fault?: Fault,
): Promise<void> {
	const bytes = bytesOf(sent.body);
	const half = bytes.subarray(0, Math.ceil(bytes.length / 2));
	const headers = { 'content-type': 'application/json; charset=utf-8', ...sent.headers };
	if (fault?.kind !== 'resetMiddle') {
		const shown = fault?.kind === 'truncatedJson' ? half : bytes;
		await reply.code(sent.status).headers(headers).send(shown);
		return;
	}
	reply.hijack();
	reply.raw.writeHead(sent.status, { ...headers, 'content-length': bytes.length });
	reply.raw.write(half);
	// The first half must be sent before the socket is destroyed.
	await delay(5);
	reply.raw.destroy();
}
