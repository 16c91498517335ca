import { gzipSync } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { delay } from '../clock';
import type { Dialect } from '../dialects';
import { isObject } from '../json';
import { rejected, type Answer } from './answers';
import type { Fault } from './faults';
import type { Outcome } from './requestLog';

/** How a fault changes an answer that is sent as a whole. */
export function faultyAnswer(
	fault: Fault,
	dialect: Dialect,
	elsewhere: string,
	honest?: Answer,
): Answer | undefined {
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
		// It has done it, and says the opposite.
		case 'rejectingWords':
			return {
				...rejected(fault.status ?? 500, 'call_not_found'),
				...(fault.body === undefined ? {} : { body: fault.body }),
			};
		case 'wrongCounts':
			return honest && withCounts(honest, fault.body ?? { contacts_accepted: 0 });
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

function withCounts(honest: Answer, counts: unknown): Answer {
	const { body } = honest;
	if (!isObject(body) || !isObject(body.data) || !isObject(counts)) return honest;
	return { ...honest, body: { ...body, data: { ...body.data, ...counts } } };
}

/** Whether Retry-After is seconds or a date is open; the header's own rules allow both. */
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

/** Sends the answer, or the part of it that the fault lets through. */
export async function send(
	reply: FastifyReply,
	sent: Answer,
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
			// Over HTTP 1.0 a body ends with its connection, so nothing tells where it should.
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
	// The half must be on its way before the socket goes.
	await delay(5);
	reply.raw.destroy();
}

const BLOCK = Buffer.alloc(100_000, ' ');
const HUGE_BYTES = 1_000_000_000;

/** As fast as the client reads it, until it has enough. */
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
