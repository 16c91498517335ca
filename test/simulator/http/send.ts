import { gzipSync } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { delay } from '../clock';
import type { Dialect } from '../dialects';
import { isObject } from '../json';
import { rejected, type SimulatorResponse } from './responses';
import type { Fault } from './faults';
import type { Outcome } from './requestLog';

/** The response that a fault sends instead. Undefined if it sends the true one, or a part of it. */
export function faultyResponse(
	fault: Fault,
	dialect: Dialect,
	elsewhere: string,
	handled?: SimulatorResponse,
): SimulatorResponse | undefined {
	const retryAfter: Record<string, string> =
		fault.retryAfterSeconds === undefined ? {} : retryAfterHeader(dialect, fault.retryAfterSeconds);
	switch (fault.kind) {
		case 'status':
			return {
				...rejected(fault.status ?? 500, 'Internal server error'),
				...(fault.body === undefined ? {} : { body: fault.body }),
				headers: retryAfter,
			};
		case 'tooManyRequests':
			return { status: 429, body: fault.body ?? dialect.general.tooManyBody, headers: retryAfter };
		case 'html':
			return {
				status: fault.status ?? 502,
				body: fault.body ?? '<html><body><h1>Bad Gateway</h1></body></html>',
				headers: { 'content-type': 'text/html' },
			};
		case 'successFalseAt200':
			return {
				status: 200,
				body: fault.body ?? { success: false, error: 'Internal server error', details: null },
			};
		// The request took effect, and the response says the opposite.
		case 'rejectingWords':
			return {
				...rejected(fault.status ?? 500, 'call_not_found'),
				...(fault.body === undefined ? {} : { body: fault.body }),
			};
		case 'wrongCounts':
			return handled && withCounts(handled, fault.body ?? { contacts_accepted: 0 });
		case 'redirect':
			return {
				status: fault.status ?? 302,
				body: '',
				headers: { location: typeof fault.body === 'string' ? fault.body : elsewhere },
			};
		case 'redirectLoop':
			return { status: fault.status ?? 302, body: '', headers: { location: '' } };
		case 'hugeBody':
			return { status: fault.status ?? 403, body: '' };
		default:
			return undefined;
	}
}

function withCounts(handled: SimulatorResponse, counts: unknown): SimulatorResponse {
	const { body } = handled;
	if (!isObject(body) || !isObject(body.data) || !isObject(counts)) return handled;
	return { ...handled, body: { ...body, data: { ...body.data, ...counts } } };
}

/** Retry-After can be seconds or a date. The document doesn't say which. */
export function retryAfterHeader(dialect: Dialect, seconds: number): Record<string, string> {
	const asDate = dialect.general.rateLimit?.retryAfter === 'date';
	const value = asDate ? new Date(Date.now() + seconds * 1000).toUTCString() : String(seconds);
	return { 'retry-after': value };
}

function bytesOf(body: unknown): Buffer {
	if (Buffer.isBuffer(body)) return body;
	return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function firstHalf(bytes: Buffer): Buffer {
	return bytes.subarray(0, Math.ceil(bytes.length / 2));
}

/** Sends the response, or the part of it that the fault leaves. */
export async function send(
	reply: FastifyReply,
	sent: SimulatorResponse,
	fault?: Fault,
	outcome?: Outcome,
): Promise<void> {
	const bytes = bytesOf(sent.body);
	const headers = { 'content-type': 'application/json; charset=utf-8', ...sent.headers };
	switch (fault?.kind) {
		case 'resetMiddle':
			await cutAfterHalf(reply, sent.status, { ...headers, 'content-length': bytes.length }, bytes);
			return;
		case 'cutWithoutLength':
			// As in HTTP 1.0, the body ends with its connection, so nothing shows its length.
			reply.hijack();
			reply.raw.shouldKeepAlive = false;
			reply.raw.useChunkedEncodingByDefault = false;
			reply.raw.writeHead(sent.status, headers);
			reply.raw.end(firstHalf(bytes));
			return;
		case 'hugeBody':
			writeHugeBody(reply, sent.status, headers, outcome);
			return;
		case 'cutGzip': {
			const packed = firstHalf(gzipSync(bytes));
			await reply
				.code(sent.status)
				.headers({ ...headers, 'content-encoding': 'gzip', 'content-length': packed.length })
				.send(packed);
			return;
		}
		default: {
			const shown = fault?.kind === 'truncatedJson' ? firstHalf(bytes) : bytes;
			await reply.code(sent.status).headers(headers).send(shown);
		}
	}
}

type ResponseHeaders = Record<string, string | number>;

async function cutAfterHalf(
	reply: FastifyReply,
	status: number,
	headers: ResponseHeaders,
	bytes: Buffer,
): Promise<void> {
	reply.hijack();
	reply.raw.writeHead(status, headers);
	reply.raw.write(firstHalf(bytes));
	// The first half must be sent before the socket is destroyed.
	await delay(5);
	reply.raw.destroy();
}

const BLOCK = Buffer.alloc(100_000, ' ');
const HUGE_BYTES = 1_000_000_000;

/** Writes as fast as the client reads, until it disconnects. */
function writeHugeBody(
	reply: FastifyReply,
	status: number,
	headers: ResponseHeaders,
	outcome?: Outcome,
): void {
	reply.hijack();
	const { raw } = reply;
	raw.writeHead(status, { ...headers, 'content-length': HUGE_BYTES });
	let written = 0;
	const more = (): void => {
		while (written < HUGE_BYTES && !raw.destroyed) {
			written += BLOCK.length;
			if (outcome !== undefined) outcome.writtenBytes = written;
			if (!raw.write(BLOCK)) {
				raw.once('drain', more);
				return;
			}
		}
		raw.end();
	};
	more();
}
