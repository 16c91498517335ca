import range from 'lodash/range';
import { ApiClient } from '../../../../nodes/shared/api/client';
import { NotSent, ServiceRejection } from '../../../../nodes/shared/api/errors';
import { saysSuccess } from '../../../../nodes/shared/api/successChecks';
import type { ServiceRequest, HttpResponse } from '../../../../nodes/shared/api/http';
import { virtualClock } from './virtualClock';

const READ: ServiceRequest = { method: 'GET', path: '/v1/call/1' };
const WRITE: ServiceRequest = { method: 'POST', path: '/v1/call', body: {} };
const TAKEN = { status: 200, headers: {}, text: '{"success":true,"data":{}}' };
const tooMany = (retryAfter?: number): HttpResponse => ({
	status: 429,
	headers: retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
	text: '{"success":false,"error":"Too many requests"}',
});

/** A service that accepts a request unless `rejects` returns a response, and its client. */
function service(
	rejects: (now: number, takenAt: readonly number[]) => HttpResponse | undefined,
	{ notAfter, stop }: { notAfter?: number; stop?: AbortSignal } = {},
) {
	const clock = virtualClock();
	const seen = { sent: 0, rejected: 0, takenAt: new Array<number>(), inFlight: 0, max: 0 };
	const transport = async () => {
		seen.sent++;
		const rejected = rejects(clock.now(), seen.takenAt);
		if (rejected === undefined) seen.takenAt.push(clock.now());
		else seen.rejected++;
		seen.inFlight++;
		seen.max = Math.max(seen.max, seen.inFlight);
		await clock.sleep(20);
		seen.inFlight--;
		return rejected ?? TAKEN;
	};
	const client = new ApiClient(transport, clock, () => 0.5, undefined, notAfter, stop);
	const read = async (count: number, request = READ) =>
		await Promise.allSettled(range(count).map(async () => await client.send(request, saysSuccess)));
	return { clock, seen, client, read };
}

const onePerSecond = (retryAfter?: number) => (now: number, takenAt: readonly number[]) =>
	now - (takenAt.at(-1) ?? -Infinity) < 1_000 ? tooMany(retryAfter) : undefined;
const failed = (results: Array<PromiseSettledResult<unknown>>) =>
	results.filter(({ status }) => status === 'rejected');

test('after every ten reads that the service accepts, one more is in flight', async () => {
	const { seen, read } = service(() => (seen.sent <= 2 ? tooMany(1) : undefined));
	// Rejected at the same time, and then accepted one after the other.
	await read(2);
	for (const [max, count] of [
		[1, 8],
		[2, 2],
		[2, 8],
		[3, 3],
	] as const) {
		seen.max = 0;
		expect(failed(await read(count))).toEqual([]);
		expect(seen.max).toBe(max);
	}
});

test.each([1, undefined])(
	'parallel reads all succeed at a service that accepts one per second (Retry-After: %p)',
	async (retryAfter) => {
		const { clock, seen, read } = service(onePerSecond(retryAfter));
		expect(failed(await read(40))).toEqual([]);
		expect(seen.takenAt).toHaveLength(40);
		// Nearly as fast as the service allows.
		expect(clock.now()).toBeLessThan(retryAfter === 1 ? 45_000 : 80_000);
		// All once, and then one rejection for each read, or two without Retry-After.
		expect(seen.rejected).toBeLessThanOrEqual(retryAfter === 1 ? 2 * 40 : 3 * 40);
	},
);

test('sequential reads are not slowed down', async () => {
	const { clock, seen, client } = service(onePerSecond(1));
	for (let read = 0; read < 10; read++) await client.send(READ, saysSuccess);
	expect(seen.takenAt).toHaveLength(10);
	expect(clock.now()).toBeLessThan(11_000);
});

test('reads wait for a service with a limit per minute', async () => {
	const { clock, seen, read } = service((now, takenAt) => {
		const start = now - (now % 60_000);
		const hasEnded = takenAt.filter((at) => at >= start).length >= 30;
		return hasEnded ? tooMany(Math.ceil((start + 60_000 - now) / 1_000)) : undefined;
	});
	expect(failed(await read(80))).toEqual([]);
	expect(seen.takenAt).toHaveLength(80);
	expect(clock.now()).toBeLessThan(130_000);
});

test('while a service accepts all reads, more and more are in flight', async () => {
	const { seen, read } = service((now) => (now < 10 && seen.sent > 3 ? tooMany(1) : undefined));
	await read(10);
	expect(seen.rejected).toBe(7);
	const maxima: number[] = [];
	for (let round = 0; round < 3; round++) {
		seen.max = 0;
		expect(failed(await read(40))).toEqual([]);
		maxima.push(seen.max);
	}
	const [first = 0, second = 0, third = 0] = maxima;
	expect(first).toBeGreaterThan(1);
	expect(second).toBeGreaterThan(first);
	expect(third).toBeGreaterThan(second);
	expect(third).toBeLessThan(20);
});

describe('a service that rejects every read', () => {
	test('makes one read wait, and the others are tried once', async () => {
		const { clock, seen, read } = service(() => tooMany(60));
		const results = await read(200);
		expect(failed(results)).toHaveLength(200);
		for (const result of failed(results))
			expect(result).toMatchObject({ reason: expect.any(ServiceRejection) });
		expect(seen.sent).toBe(200 + 4 + 199);
		expect(clock.now()).toBeLessThan(5 * 60_000);
	});

	test('is waited for again once it accepts a read', async () => {
		const until = 200_000;
		const { seen, clock, read } = service((now, takenAt) =>
			now < until ? tooMany(60) : onePerSecond(1)(now, takenAt),
		);
		expect(failed(await read(1))).toHaveLength(1);
		await clock.sleep(until);
		expect(failed(await read(10))).toEqual([]);
		expect(seen.takenAt).toHaveLength(10);
	});

	test('is not waited for if Retry-After is too long', async () => {
		const { clock, seen, read } = service(() => tooMany(3_600));
		expect(failed(await read(3))).toHaveLength(3);
		expect(seen.sent).toBe(3);
		expect(clock.now()).toBeLessThan(1_000);
	});
});

test('writes do not wait for reads, and have four attempts', async () => {
	const { seen, read } = service(() => tooMany());
	await read(3);
	const before = seen.sent;
	expect(failed(await read(2, WRITE))).toHaveLength(2);
	expect(seen.sent - before).toBe(2 * 4);
});

test('an aborted read makes way for the others', async () => {
	const { seen, client, clock } = service(onePerSecond(1));
	const over = new AbortController();
	const reads = range(6).map(
		async (index) =>
			await client.send(index === 3 ? { ...READ, signal: over.signal } : READ, saysSuccess),
	);
	// By then, all but one wait.
	await clock.sleep(1_500);
	const sent = seen.sent;
	over.abort();
	await expect(reads[3]).rejects.toBeInstanceOf(NotSent);
	await expect(reads[3]).rejects.toMatchObject({
		message: expect.stringContaining('because the service received too many requests'),
		resolution: 'Run this node again later.',
	});
	expect(seen.sent).toBe(sent);
	const results = await Promise.allSettled(reads);
	expect(failed(results)).toHaveLength(1);
	expect(seen.takenAt).toHaveLength(5);
});

test('when the execution is stopped, waiting reads end', async () => {
	const stop = new AbortController();
	const { clock, seen, read } = service(() => tooMany(60), { stop: stop.signal });
	const reading = read(10);
	await clock.sleep(1_000);
	stop.abort();
	expect(failed(await reading)).toHaveLength(10);
	expect(seen.sent).toBe(10);
	expect(clock.now()).toBeLessThan(3_000);
});

test('when the execution is stopped, waiting writes end and are not sent again', async () => {
	const stop = new AbortController();
	const { clock, seen, read } = service(() => tooMany(60), { stop: stop.signal });
	const writing = read(2, WRITE);
	await clock.sleep(1_000);
	stop.abort();
	const results = failed(await writing);
	expect(results).toHaveLength(2);
	// The service has certainly done nothing.
	for (const result of results)
		expect(result).toMatchObject({ reason: expect.any(ServiceRejection) });
	expect(seen.sent).toBe(2);
	expect(clock.now()).toBeLessThan(3_000);
});

test('no attempt starts after the deadline of a tool', async () => {
	const { clock, seen, read } = service(() => tooMany(30), { notAfter: 20_000 });
	expect(failed(await read(5))).toHaveLength(5);
	expect(seen.sent).toBe(5);
	expect(clock.now()).toBeLessThan(20_000);
});
