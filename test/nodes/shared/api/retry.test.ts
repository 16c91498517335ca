import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../../../nodes/shared/clock';
import { TransportFault, type Method, type HttpResponse } from '../../../../nodes/shared/api/http';
import {
	ATTEMPTS,
	mayRetry,
	neverSent,
	retryAfterMs,
	sendWithRetry,
} from '../../../../nodes/shared/api/retry';

const response = (status: number, headers = {}): HttpResponse => ({ status, headers, text: '' });
const fault = (code: string) => new TransportFault(code, code);

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
	test.each<[Method, string, string | undefined, boolean]>([
		['POST', 'ECONNREFUSED', 'connect', true],
		['POST', 'EHOSTUNREACH', 'connect', true],
		['POST', 'ENOTFOUND', 'getaddrinfo', true],
		['POST', 'EAI_AGAIN', 'getaddrinfo', true],
		['DELETE', 'ECONNREFUSED', 'connect', true],
		['POST', 'EHOSTUNREACH', 'read', false],
		['POST', 'ECONNREFUSED', undefined, false],
		['POST', 'EPROTO', undefined, false],
		['POST', 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', undefined, false],
		['POST', 'ECONNRESET', 'read', false],
		['POST', 'ECONNABORTED', undefined, false],
		['POST', 'ETIMEDOUT', undefined, false],
		['POST', 'EPIPE', 'write', false],
		['DELETE', 'ECONNRESET', 'read', false],
		['GET', 'ECONNRESET', 'read', true],
		['GET', 'ETIMEDOUT', undefined, true],
		['GET', 'EPROTO', undefined, true],
		['GET', 'CERT_HAS_EXPIRED', undefined, false],
		['POST', 'CERT_HAS_EXPIRED', undefined, false],
		['POST', 'BLOCKED_BY_N8N', undefined, false],
		['GET', 'BLOCKED_BY_N8N', undefined, false],
	])('%s after %s (%s): %s', (method, code, syscall, expected) => {
		expect(mayRetry(method, new TransportFault(code, code, syscall))).toBe(expected);
	});

	test.each<[Method, number, boolean]>([
		['POST', 429, true],
		['DELETE', 429, true],
		['POST', 500, false],
		['POST', 503, false],
		['DELETE', 502, false],
		['GET', 500, true],
		['GET', 503, true],
		['GET', 404, false],
		['GET', 401, false],
		['POST', 200, false],
	])('%s with response %i: %s', (method, status, expected) => {
		expect(mayRetry(method, response(status))).toBe(expected);
	});
});

test.each([
	'BLOCKED_BY_N8N',
	'CERT_HAS_EXPIRED',
	'DEPTH_ZERO_SELF_SIGNED_CERT',
	'ERR_TLS_CERT_ALTNAME_INVALID',
	'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])('%s: the request was not sent, and is not retried', (code) => {
	expect(neverSent(fault(code))).toBe(true);
	expect(mayRetry('GET', fault(code))).toBe(false);
	expect(mayRetry('POST', fault(code))).toBe(false);
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

test('returns the last response after all attempts', async () => {
	const send = jest.fn(async () => await Promise.resolve(response(503)));
	expect(await sendWithRetry('GET', send, { clock: fakeClock(), random: () => 1 })).toEqual(
		response(503),
	);
	expect(send).toHaveBeenCalledTimes(ATTEMPTS);
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

test('a write whose connection breaks is sent once', async () => {
	const send = jest.fn(async () => await Promise.reject(fault('ECONNRESET')));
	await expect(
		sendWithRetry('POST', send, { clock: fakeClock(), random: () => 1 }),
	).rejects.toMatchObject({
		code: 'ECONNRESET',
	});
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
