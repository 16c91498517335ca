import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../../../nodes/core/values/clock';
import { ExplainedError, type Outcome } from '../../../../nodes/core/service/errors';
import {
	TransportFault,
	type Method,
	type HttpResponse,
} from '../../../../nodes/core/service/http';
import { ATTEMPTS, sendWithRetry } from '../../../../nodes/core/service/retry';
import { clientOf } from './clientOf';
import { virtualClock } from './virtualClock';

const response = (status: number, headers = {}): HttpResponse => ({ status, headers, text: '' });

const fakeClock = () => virtualClock(Date.UTC(2026, 0, 1));

beforeEach(() => {
	jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
	jest.restoreAllMocks();
});

/** Responses: everyResponse.test.ts */
describe('the retry rule after a network fault', () => {
	const attempts = async (method: Method, fault: TransportFault) => {
		let sent = 0;
		const transport = async () => {
			sent++;
			return await Promise.reject(fault);
		};
		const sending = clientOf(transport).send(
			{ method, path: '/v1/calls' },
			{ successCheck: () => true },
		);
		const error: unknown = await sending.catch((thrown: unknown) => thrown);
		return { sent, outcome: error instanceof ExplainedError ? error.outcome : 'done' };
	};

	test.each<[Method, string, string | undefined, number, Outcome]>([
		['POST', 'ECONNREFUSED', 'connect', ATTEMPTS, 'not_sent'],
		['POST', 'ENOTFOUND', 'getaddrinfo', ATTEMPTS, 'not_sent'],
		['POST', 'CERT_HAS_EXPIRED', undefined, 1, 'not_sent'],
		['GET', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', undefined, 1, 'not_sent'],
		['POST', 'BLOCKED_BY_N8N', undefined, 1, 'not_sent'],
		['GET', 'BLOCKED_BY_N8N', undefined, 1, 'not_sent'],
		['POST', 'ECONNRESET', 'read', 1, 'unknown'],
		['POST', 'ECONNREFUSED', undefined, 1, 'unknown'],
		['GET', 'ECONNRESET', 'read', ATTEMPTS, 'unknown'],
	])('%s after %s (%s): %d attempts, %s', async (method, code, syscall, sent, outcome) => {
		const fault = new TransportFault(code, code, syscall);
		expect(await attempts(method, fault)).toEqual({ sent, outcome });
	});
});

test('sends until it succeeds, waiting as the service asks', async () => {
	const clock = fakeClock();
	const responses = [response(429, { 'retry-after': '2' }), response(429), response(200)];
	const send = jest.fn(async () => await Promise.resolve(responses.shift() ?? response(500)));
	expect(await sendWithRetry('POST', send, { clock })).toEqual(response(200));
	expect(send).toHaveBeenCalledTimes(3);
	expect(clock.slept).toEqual([2_000, 1_000]);
});

test.each<[string, number[]]>([
	// Always some wait before the next attempt. A date is by the service's clock.
	...['0', '-5', 'soon', '', ' ', 'Thu, 01 Jan 2026 00:00:05 GMT'].map(
		(asked): [string, number[]] => [asked, [500, 1_000, 2_000]],
	),
	['3', [3_000, 3_000, 3_000]],
	['60', [60_000, 60_000, 60_000]],
	// Longer than it waits.
	['3600', []],
])('a service that always asks to wait %s: waits %j milliseconds', async (asked, waits) => {
	const clock = fakeClock();
	const send = jest.fn(async () => await Promise.resolve(response(429, { 'retry-after': asked })));
	const result = await sendWithRetry('POST', send, { clock });
	expect(result).toMatchObject({ status: 429 });
	expect(send).toHaveBeenCalledTimes(waits.length + 1);
	expect(clock.slept).toEqual(waits);
});

test('a 429 that shows an effect is final', async () => {
	const send = jest.fn(async () => await Promise.resolve(response(429)));
	const tookEffect = () => true;
	await sendWithRetry('POST', send, { clock: fakeClock(), tookEffect });
	expect(send).toHaveBeenCalledTimes(1);
});

test('an aborted request is not sent again', async () => {
	const over = new AbortController();
	const clock = {
		now: () => 0,
		elapsed: () => 0,
		sleep: async () => await new Promise<void>(() => {}),
	};
	const send = jest.fn(async () => await Promise.resolve(response(429, { 'retry-after': '60' })));
	const sending = sendWithRetry('GET', send, { clock, signal: over.signal });
	await setImmediate();
	over.abort();
	expect(await sending).toMatchObject({ status: 429 });
	expect(send).toHaveBeenCalledTimes(1);
});

test.each([-24, 24])(
	'the deadline of a tool is measured by elapsed time, with the system clock %d hours off',
	async (hours) => {
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
		await sendWithRetry('GET', send, { clock, notAfter });
		expect(send).toHaveBeenCalledTimes(2);
		expect(elapsed).toBe(2_500);
	},
);
