import type { FastifyReply } from 'fastify';
import { delay } from '../clock';
import type { Dialect } from '../dialects';
import { isObject } from '../json';
import { refused, type Answer } from './answers';
import type { Fault } from './faults';

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
				...refused(fault.status ?? 500, 'Internal server error'),
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
		case 'refusingWords':
			return {
				...refused(fault.status ?? 500, 'call_not_found'),
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
export async function send(reply: FastifyReply, sent: Answer, fault?: Fault): Promise<void> {
	const bytes = bytesOf(sent.body);
	const headers = { 'content-type': 'application/json; charset=utf-8', ...sent.headers };
	if (fault?.kind === 'resetMiddle') {
		reply.hijack();
		reply.raw.writeHead(sent.status, { ...headers, 'content-length': bytes.length });
		reply.raw.write(firstHalf(bytes));
		// The half must be on its way before the socket goes.
		await delay(5);
		reply.raw.destroy();
		return;
	}
	const shown = fault?.kind === 'truncatedJson' ? firstHalf(bytes) : bytes;
	await reply.code(sent.status).headers(headers).send(shown);
}
