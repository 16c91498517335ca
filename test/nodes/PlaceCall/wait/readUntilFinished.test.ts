import { NotSent, ServiceRejection } from '../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../nodes/shared/api/resolution';
import { readUntilFinished } from '../../../../nodes/PlaceCall/wait/readUntilFinished';
import type { JsonObject } from '../../../../nodes/shared/json';

/** A clock that only advances with waits. */
function clockAt(start = 0) {
	let time = start;
	const sleeps: number[] = [];
	return {
		sleeps,
		now: () => time,
		elapsed: () => time,
		sleep: async (ms: number) => {
			sleeps.push(ms);
			time += ms;
			await Promise.resolve();
		},
	};
}

const IDS = Array.from({ length: 30 }, (_, index) => `call-${index}`);
const FINISHED = ['not_picked', 'voicemail'];
const HOUR = 3_600_000;

it('reads each call at growing intervals until it is completed', async () => {
	const clock = clockAt();
	const reads = new Map<string, number>();
	const read = async (callId: string): Promise<JsonObject> => {
		const times = (reads.get(callId) ?? 0) + 1;
		reads.set(callId, times);
		const isLast = callId === 'call-29';
		return { call_id: callId, status: times >= (isLast ? 8 : 2) ? 'not_picked' : 'ringing' };
	};
	const calls = await readUntilFinished(IDS, FINISHED, read, {
		clock,
		until: HOUR,
		reader: 'onScreen',
	});
	expect([...calls.values()].every(({ hasEnded }) => hasEnded)).toBe(true);
	expect(reads.get('call-0')).toBe(2);
	expect(reads.get('call-29')).toBe(8);
	expect(clock.sleeps).toEqual([5000, 7500, 11250, 16875, 25313, 37969, 56953, 60000]);
});

it('the calls of all waits in this process are read at max 50 times a second on average', async () => {
	const sleeps: number[] = [];
	const ended: Array<() => void> = [];
	const clock = {
		now: () => 0,
		elapsed: () => 0,
		sleep: async (ms: number) => {
			sleeps.push(ms);
			await new Promise<void>((resolve) => ended.push(resolve));
		},
	};
	const wait = async (callId: string) =>
		await readUntilFinished([callId], FINISHED, async () => ({ status: 'not_picked' }), {
			clock,
			until: HOUR,
			reader: 'onScreen',
		});
	const waits = Array.from({ length: 5_000 }, async (_, index) => await wait(`call-${index}`));
	expect(sleeps.slice(0, 250)).toEqual(new Array(250).fill(5_000));
	expect(sleeps.at(-1)).toBe(100_000);
	ended.forEach((end) => end());
	await Promise.all(waits);
	void wait('alone');
	expect(sleeps.at(-1)).toBe(5_000);
	ended.at(-1)?.();
});

it('a call is completed if it has a listed status or shows the end', async () => {
	const clock = clockAt();
	const records = new Map<string, JsonObject>([
		['listed', { status: 'voicemail' }],
		['ended', { status: 'busy', call_ended_reason: 'busy' }],
		['not listed', { status: 'failed' }],
		['talking', { status: 'picked', post_call_analysis: { sentiment: null } }],
	]);
	const read = async (callId: string): Promise<JsonObject> => records.get(callId) ?? {};
	const ids = [...records.keys()];
	const calls = await readUntilFinished(ids, FINISHED, read, {
		clock,
		until: 60_000,
		reader: 'onScreen',
	});
	expect([...calls].map(([callId, { hasEnded }]) => [callId, hasEnded])).toEqual([
		['listed', true],
		['ended', true],
		['not listed', false],
		['talking', false],
	]);
	expect(calls.get('talking')).toMatchObject({ record: { status: 'picked' } });
	expect(clock.now()).toBe(60_000);
});

it('has at max ten reads in flight', async () => {
	let inFlight = 0;
	let max = 0;
	const read = async (): Promise<JsonObject> => {
		max = Math.max(max, ++inFlight);
		await Promise.resolve();
		inFlight--;
		return { status: 'not_picked' };
	};
	await readUntilFinished(IDS, FINISHED, read, {
		clock: clockAt(),
		until: HOUR,
		reader: 'onScreen',
	});
	expect(max).toBe(10);
});

it('continues after temporary failures', async () => {
	let reads = 0;
	const read = async (): Promise<JsonObject> => {
		if (++reads < 6) throw new NotSent('The service cannot be reached', forEveryone('Wait.'));
		return { status: 'not_picked' };
	};
	const calls = await readUntilFinished(['a'], FINISHED, read, {
		clock: clockAt(),
		until: HOUR,
		reader: 'onScreen',
	});
	expect(calls.get('a')).toMatchObject({ hasEnded: true });
});

it('stops reading a call whose reads the service rejects, and says why', async () => {
	const clock = clockAt();
	let reads = 0;
	const read = async (callId: string): Promise<JsonObject> => {
		if (callId === 'good') return { status: 'not_picked' };
		reads++;
		throw new ServiceRejection('Unknown call', forEveryone('Check it.'), 'call_not_found', 404, {
			texts: ['call_not_found'],
			body: {},
		});
	};
	const calls = await readUntilFinished(['bad', 'good'], FINISHED, read, {
		clock,
		until: HOUR,
		reader: 'onScreen',
	});
	expect(reads).toBe(3);
	expect(calls.get('bad')).toMatchObject({
		hasEnded: false,
		readFailure: 'Unknown call. Check it. The service said: call_not_found.',
	});
	expect(calls.get('good')).toMatchObject({ hasEnded: true });
});

it('reads a last time at the limit', async () => {
	const clock = clockAt();
	const read = async (): Promise<JsonObject> => ({
		status: clock.now() === 8_000 ? 'not_picked' : 'ringing',
	});
	const calls = await readUntilFinished(['a'], FINISHED, read, {
		clock,
		until: 8_000,
		reader: 'onScreen',
	});
	expect(clock.sleeps).toEqual([5_000, 3_000]);
	expect(calls.get('a')).toMatchObject({ hasEnded: true });
});
