import { InvalidInput, OtherRecord } from '../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../nodes/shared/api/resolution';
import { TransportFault, type ServiceRequest } from '../../../../nodes/shared/api/http';
import { ApiClient } from '../../../../nodes/shared/api/client';
import {
	isUnknownCall,
	readCallRecord,
	readCompletedCall,
	FormerOutcome,
	NotEndedYet,
	type Included,
} from '../../../../nodes/shared/calls/readBack';
import type { JsonObject } from '../../../../nodes/shared/json';

const CALL = { call_id: 'c', status: 'picked', summary: 'Wants a visit' };
const GOES_ON = { call_id: 'c', status: 'picked' };
const NONE: Included = { transcript: false, recording: false };
const NOT_FOUND = { success: false, error: 'call_not_found' };
const AWAY = new TransportFault('ECONNRESET', 'ECONNRESET');

type Script = Array<JsonObject | TransportFault>;

/** A service that returns these responses in order, and then the last one again. Time passes only in `sleep`. */
function scripted(...script: Script) {
	let time = 0;
	const asked: string[] = [];
	const sleeps: number[] = [];
	const clock = {
		now: () => time,
		elapsed: () => time,
		sleep: async (ms: number) => {
			sleeps.push(ms);
			time += ms;
			await Promise.resolve();
		},
	};
	const transport = async ({ path }: ServiceRequest) => {
		const response = script[Math.min(asked.length, script.length - 1)];
		asked.push(path);
		await Promise.resolve();
		if (response === undefined || response instanceof TransportFault) throw response ?? AWAY;
		const body = response.success === undefined ? { success: true, data: response } : response;
		return { status: 200, headers: {}, text: JSON.stringify(body) };
	};
	// The pauses of single requests don't count here.
	const service = new ApiClient(transport, { ...clock, sleep: async () => {} }, () => 0);
	const onEnd = jest.fn();
	const read = async (included = NONE, until = 300_000, finished: string[] = [], isKnown = false) =>
		await readCompletedCall(service, 'c', {
			included,
			finished,
			isFormer: ({ retry_count: retries }) => retries === 0,
			mayWait: (ms) => time + ms <= until,
			clock,
			onEnded: onEnd,
			limiter: async (act) => await act(),
			isKnown: () => isKnown,
		});
	return { service, read, asked, sleeps, onEnd };
}

test('an ended call is read once', async () => {
	const { read, asked, sleeps, onEnd } = scripted(CALL);
	expect(await read()).toEqual(CALL);
	expect(asked).toEqual(['/v1/call/c']);
	expect(sleeps).toEqual([]);
	expect(onEnd).toHaveBeenCalledTimes(1);
});

test('a lagging record is read again after increasing waits', async () => {
	const { read, sleeps } = scripted(GOES_ON, GOES_ON, GOES_ON, CALL);
	expect(await read()).toEqual(CALL);
	expect(sleeps).toEqual([1_000, 2_000, 4_000]);
});

test('a finished status ends the reading', async () => {
	const { read } = scripted({ call_id: 'c', status: 'voicemail' });
	expect(await read(NONE, 0, ['voicemail'])).toMatchObject({ status: 'voicemail' });
});

test('a call without an end in time is an error', async () => {
	const { read, sleeps, asked, onEnd } = scripted(GOES_ON);
	await expect(read({ transcript: true, recording: true }, 7_000)).rejects.toThrow(NotEndedYet);
	expect(sleeps).toEqual([1_000, 2_000, 4_000]);
	expect(new Set(asked)).toEqual(new Set(['/v1/call/c']));
	expect(onEnd).not.toHaveBeenCalled();
});

describe('a record with the outcome before the reported one', () => {
	const former = { ...CALL, retry_count: 0 };

	test('is read again, also while the call is in progress again', async () => {
		const later = { ...CALL, retry_count: 1 };
		const { read, sleeps } = scripted(former, GOES_ON, former, later);
		expect(await read()).toEqual(later);
		expect(sleeps).toEqual([1_000, 2_000, 4_000]);
	});

	test('is an error if it stays the same', async () => {
		const { read, sleeps, onEnd } = scripted(former);
		await expect(read(NONE, 7_000)).rejects.toThrow(FormerOutcome);
		expect(sleeps).toEqual([1_000, 2_000, 4_000]);
		expect(onEnd).not.toHaveBeenCalled();
	});
});

describe('transcript and recording', () => {
	const turns = [{ role: 'assistant', content: 'Hello' }];
	const recording = {
		call_id: 'c',
		recording_url: 'https://x.example.com/a',
		expires_in_seconds: 900,
	};

	test.each<[Included, Script, object]>([
		[NONE, [CALL], {}],
		[{ transcript: true, recording: false }, [CALL, { transcript: turns }], { transcript: turns }],
		[{ transcript: true, recording: false }, [CALL, { transcript: [] }], { transcript: [] }],
		[
			{ transcript: false, recording: true },
			[CALL, { success: false, error: 'recording_not_available' }],
			{ recording: null },
		],
		[
			{ transcript: false, recording: true },
			[CALL, recording],
			{ recording: { ...recording, expires_at: '1970-01-01T00:15:00.000Z' } },
		],
	])('%j', async (included, script, expected) => {
		expect(await scripted(...script).read(included)).toEqual({ ...CALL, ...expected });
	});

	test('only the part that failed is read again', async () => {
		const { read, asked, sleeps } = scripted(CALL, ...Array.from({ length: 4 }, () => AWAY), {
			transcript: [],
		});
		expect(await read({ transcript: true, recording: false })).toEqual({ ...CALL, transcript: [] });
		expect(asked.filter((path) => path === '/v1/call/c')).toHaveLength(1);
		expect(sleeps).toEqual([2_000]);
	});
});

describe('an outage', () => {
	test('is retried', async () => {
		const { read, sleeps } = scripted(...Array.from({ length: 8 }, () => AWAY), CALL);
		expect(await read()).toEqual(CALL);
		expect(sleeps).toEqual([2_000, 4_000]);
	});

	test('that is longer than the time limit is an error', async () => {
		const { read, sleeps } = scripted(AWAY);
		await expect(read(NONE, 14_000)).rejects.toMatchObject({ outcome: 'unknown' });
		expect(sleeps).toEqual([2_000, 4_000, 8_000]);
	});

	test('is not the same as a rejection', async () => {
		const { read, sleeps } = scripted({ success: false, error: 'Not allowed' });
		await expect(read()).rejects.toMatchObject({ outcome: 'rejected' });
		expect(sleeps).toEqual([]);
	});
});

describe('a call that the service does not know', () => {
	test('may be known soon after', async () => {
		const { read, sleeps } = scripted(NOT_FOUND, CALL);
		expect(await read()).toEqual(CALL);
		expect(sleeps).toEqual([1_000]);
	});

	test('is requested twice', async () => {
		const { read, asked } = scripted(NOT_FOUND);
		const error: unknown = await read().catch((caught: unknown) => caught);
		expect(isUnknownCall(error)).toBe(true);
		expect(asked).toHaveLength(2);
	});

	test('is read again with increasing waits if the call exists', async () => {
		const known = async ({ read }: ReturnType<typeof scripted>) =>
			await read(NONE, 7_000, [], true).catch((error: unknown) => isUnknownCall(error));
		const found = scripted(NOT_FOUND, NOT_FOUND, NOT_FOUND, CALL);
		expect(await known(found)).toEqual(CALL);
		const missing = scripted(NOT_FOUND);
		expect(await known(missing)).toBe(true);
		for (const { sleeps } of [found, missing]) expect(sleeps).toEqual([1_000, 2_000, 4_000]);
	});

	test('is also assumed if the service returns another call', async () => {
		const { service } = scripted({ ...CALL, call_id: 'other' });
		const error: unknown = await readCallRecord(service, 'c').catch((caught: unknown) => caught);
		expect(error).toBeInstanceOf(OtherRecord);
		expect(isUnknownCall(error)).toBe(true);
	});

	test('is not assumed for a record without an ID, or for another rejection', async () => {
		const { service } = scripted({ status: 'failed' });
		expect(await readCallRecord(service, 'c')).toEqual({ status: 'failed' });
		expect(isUnknownCall(new InvalidInput('a', forEveryone('b')))).toBe(false);
	});
});
