import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../../../nodes/shared/clock';
import { ExplainedError, type Outcome } from '../../../../nodes/shared/api/errors';
import { TransportFault, type Method, type HttpResponse } from '../../../../nodes/shared/api/http';
import { ATTEMPTS, retryAfterMs, sendWithRetry } from '../../../../nodes/shared/api/retry';
import { clientOf } from './clientOf';

const response = (status: number, headers = {}): HttpResponse => ({ status, headers, text: '' });

function fakeClock(): Clock & { slept: number[] } {
	const slept: number[] = [];
	return {
		slept,
		now: () => Date.UTC(2026, 0, 1),
		elapsed: () => Date.UTC(2026, 0, 1),
		sleep: async (ms) => {
			slept.push(ms);
			await Promise.resolve();
		},
	};
}

describe('the retry rule', () => {
	const attempts = async (method: Method, result: HttpResponse | TransportFault) => {
		let sent = 0;
		const transport = async () => {
			sent++;
			await Promise.resolve();
			if (result instanceof TransportFault) throw result;
			return result;
		};
		const sending = clientOf(transport).send({ method, path: '/v1/calls' }, () => true);
		const error: unknown = await sending.catch((thrown: unknown) => thrown);
		return { sent, outcome: error instanceof ExplainedError ? error.outcome : 'done' };
	};

	test.each<[Method, string, string | undefined, number, Outcome]>([
		['POST', 'ECONNREFUSED', 'connect', ATTEMPTS, 'not_sent'],
		['POST', 'EHOSTUNREACH', 'connect', ATTEMPTS, 'not_sent'],
		['POST', 'ETIMEDOUT', 'connect', ATTEMPTS, 'not_sent'],
		['POST', 'ENOTFOUND', 'getaddrinfo', ATTEMPTS, 'not_sent'],
		['POST', 'EAI_AGAIN', 'getaddrinfo', ATTEMPTS, 'not_sent'],
		['DELETE', 'ECONNREFUSED', 'connect', ATTEMPTS, 'not_sent'],
		['POST', 'CERT_HAS_EXPIRED', undefined, 1, 'not_sent'],
		['POST', 'DEPTH_ZERO_SELF_SIGNED_CERT', undefined, 1, 'not_sent'],
		['POST', 'ERR_TLS_CERT_ALTNAME_INVALID', undefined, 1, 'not_sent'],
		['GET', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', undefined, 1, 'not_sent'],
		['POST', 'BLOCKED_BY_N8N', undefined, 1, 'not_sent'],
		['GET', 'BLOCKED_BY_N8N', undefined, 1, 'not_sent'],
		['POST', 'ECONNRESET', undefined, 1, 'unknown'],
		['POST', 'ECONNRESET', 'read', 1, 'unknown'],
		['POST', 'ECONNABORTED', undefined, 1, 'unknown'],
		['POST', 'ETIMEDOUT', 'read', 1, 'unknown'],
		['POST', 'EPIPE', 'write', 1, 'unknown'],
		['POST', 'EPROTO', undefined, 1, 'unknown'],
		['POST', 'EHOSTUNREACH', 'read', 1, 'unknown'],
		['POST', 'ENETUNREACH', 'write', 1, 'unknown'],
		['POST', 'ECONNREFUSED', undefined, 1, 'unknown'],
		['POST', 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', undefined, 1, 'unknown'],
		['POST', 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC', undefined, 1, 'unknown'],
		['POST', 'ERR_TLS_HANDSHAKE_TIMEOUT', undefined, 1, 'unknown'],
		['POST', 'TypeError', undefined, 1, 'unknown'],
		['DELETE', 'ECONNRESET', 'read', 1, 'unknown'],
		['GET', 'ECONNRESET', 'read', ATTEMPTS, 'unknown'],
		['GET', 'ETIMEDOUT', undefined, ATTEMPTS, 'unknown'],
		['GET', 'EPROTO', undefined, ATTEMPTS, 'unknown'],
	])('%s after %s (%s): %d attempts, %s', async (method, code, syscall, sent, outcome) => {
		const fault = new TransportFault(code, code, syscall);
		expect(await attempts(method, fault)).toEqual({ sent, outcome });
	});

	test.each<[Method, number, number]>([
		['POST', 429, ATTEMPTS],
		['DELETE', 429, ATTEMPTS],
		['POST', 500, 1],
		['POST', 503, 1],
		['DELETE', 502, 1],
		['GET', 500, ATTEMPTS],
		['GET', 503, ATTEMPTS],
		['GET', 404, 1],
		['GET', 401, 1],
		['POST', 200, 1],
	])('%s with response %i: %d attempts', async (method, status, sent) => {
		expect(await attempts(method, response(status))).toMatchObject({ sent });
	});
});

describe('Retry-After', () => {
	const now = Date.UTC(2026, 0, 1);
	test.each([
		['3', 3_000],
		['0', 0],
		['Thu, 01 Jan 2026 00:00:05 GMT', 5_000],
		['Wed, 31 Dec 2025 00:00:00 GMT', 0],
		['soon', undefined],
		['', undefined],
		[' ', undefined],
		['-5', 0],
	])('%s', (value, expected) => {
		expect(retryAfterMs(response(429, { 'retry-after': value }), now)).toBe(expected);
	});
});

test('sends until it succeeds, waiting as the service asks', async () => {
	const clock = fakeClock();
	const responses = [response(429, { 'retry-after': '2' }), response(429), response(200)];
	const send = jest.fn(async () => await Promise.resolve(responses.shift() ?? response(500)));
	expect(await sendWithRetry('POST', send, { clock, random: () => 0.5 })).toEqual(response(200));
	expect(send).toHaveBeenCalledTimes(3);
	expect(clock.slept).toEqual([2_000, 1_000]);
});

test.each(['0', '-5', 'Wed, 31 Dec 2025 00:00:00 GMT'])(
	'always waits before the next attempt: %s',
	async (asked) => {
		const clock = fakeClock();
		const send = jest.fn(
			async () => await Promise.resolve(response(429, { 'retry-after': asked })),
		);
		await sendWithRetry('GET', send, { clock, random: () => 0.5 });
		expect(clock.slept).toEqual([500, 1_000, 2_000]);
	},
);

test('a date in Retry-After is relative to the Date of the response', async () => {
	const clock = fakeClock();
	// An hour behind the clock of n8n, and an hour ahead.
	for (const day of ['Wed, 31 Dec 2025 23', 'Thu, 01 Jan 2026 01']) {
		const headers = { date: `${day}:00:00 GMT`, 'retry-after': `${day}:00:07 GMT` };
		expect(retryAfterMs(response(429, headers), clock.now())).toBe(7_000);
	}
	const noClock = { date: 'today', 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' };
	expect(retryAfterMs(response(429, noClock), clock.now())).toBe(7_000);
});

test('a 429 that shows an effect is final', async () => {
	const send = jest.fn(async () => await Promise.resolve(response(429)));
	const isFinal = () => true;
	await sendWithRetry('POST', send, { clock: fakeClock(), random: () => 1, isFinal });
	expect(send).toHaveBeenCalledTimes(1);
});

test('waits for a minute if the service asks for it', async () => {
	const clock = fakeClock();
	const send = jest.fn(async () => await Promise.resolve(response(429, { 'retry-after': '60' })));
	await sendWithRetry('POST', send, { clock, random: () => 1 });
	expect(clock.slept).toEqual([60_000, 60_000, 60_000]);
});

test('does not wait longer than a minute', async () => {
	const clock = fakeClock();
	const send = jest.fn(async () => await Promise.resolve(response(429, { 'retry-after': '3600' })));
	expect(await sendWithRetry('POST', send, { clock, random: () => 1 })).toMatchObject({
		status: 429,
	});
	expect(send).toHaveBeenCalledTimes(1);
	expect(clock.slept).toEqual([]);
});

test('an aborted request is not sent again', async () => {
	const over = new AbortController();
	const clock = {
		now: () => 0,
		elapsed: () => 0,
		sleep: async () => await new Promise<void>(() => {}),
	};
	const send = jest.fn(async () => await Promise.resolve(response(429, { 'retry-after': '60' })));
	const sending = sendWithRetry('GET', send, { clock, random: () => 1, signal: over.signal });
	await setImmediate();
	over.abort();
	expect(await sending).toMatchObject({ status: 429 });
	expect(send).toHaveBeenCalledTimes(1);
});

describe('the deadline of a tool is measured by elapsed time', () => {
	const hoursOff = [-24, -1, 0, 1, 24];

	test.each(hoursOff)('with the system clock %d hours off', async (hours) => {
		let elapsed = 0;
		const clock: Clock = {
			// It is set while the first attempt is in progress.
			now: () => Date.UTC(2026, 0, 1) + (elapsed === 0 ? 0 : hours * 3_600_000),
			elapsed: () => elapsed,
			sleep: async (ms) => {
				elapsed += ms;
				await Promise.resolve();
			},
		};
		const send = jest.fn(async () => {
			elapsed += 1_000;
			return await Promise.resolve(response(503));
		});
		const notAfter = 3_000;
		await sendWithRetry('GET', send, { clock, random: () => 0.5, notAfter });
		expect(send).toHaveBeenCalledTimes(2);
		expect(elapsed).toBe(2_500);
	});
});
