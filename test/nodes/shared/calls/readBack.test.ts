import { InvalidInput, OtherRecord, OutcomeUnknown } from '../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../nodes/shared/api/resolution';
import { TransportFault, type ServiceRequest } from '../../../../nodes/shared/api/http';
import { ApiClient } from '../../../../nodes/shared/api/client';
import {
	isUnknownCall,
	readCallRecord,
	readCompletedCall,
	readIncluded,
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
	const read = async (finished: string[] = []) =>
		await readCompletedCall(service, 'c', {
			finished,
			isBehind: ({ retry_count: retries }) => retries === 0,
			clock,
		});
	return { service, read, asked, sleeps };
}

test('an ended call is read once', async () => {
	const { read, asked, sleeps } = scripted(CALL);
	expect(await read()).toEqual(CALL);
	expect(asked).toEqual(['/v1/call/c']);
	expect(sleeps).toEqual([]);
});

test('a lagging record is read again after increasing waits', async () => {
	const { read, sleeps } = scripted(GOES_ON, GOES_ON, GOES_ON, CALL);
	expect(await read()).toEqual(CALL);
	expect(sleeps).toEqual([1_000, 2_000, 4_000]);
});

test('a finished status ends the reading', async () => {
	const { read } = scripted({ call_id: 'c', status: 'voicemail' });
	expect(await read(['voicemail'])).toMatchObject({ status: 'voicemail' });
});

const sum = (all: number[]) => all.reduce((total, one) => total + one, 0);

test('a call without an end in five minutes is an error that names its status', async () => {
	const { read, sleeps } = scripted(GOES_ON);
	const error: unknown = await read().catch((caught: unknown) => caught);
	expect(error).toBeInstanceOf(OutcomeUnknown);
	expect(error).toMatchObject({
		message: "Call c was reported as completed, but its record doesn't show an end yet",
		resolution: expect.stringContaining('Its status is "picked".'),
	});
	expect(sum(sleeps)).toBeGreaterThan(260_000);
	expect(sum(sleeps)).toBeLessThanOrEqual(300_000);
});

describe('a record with the outcome before the reported one', () => {
	const former = { ...CALL, retry_count: 0 };

	test('is read again, also while the call is in progress again', async () => {
		const later = { ...CALL, retry_count: 1 };
		const { read, sleeps } = scripted(former, GOES_ON, former, later);
		expect(await read()).toEqual(later);
		expect(sleeps).toEqual([1_000, 2_000, 4_000]);
	});

	test('is returned if it stays the same', async () => {
		const { read, sleeps } = scripted(former);
		expect(await read()).toEqual(former);
		expect(sum(sleeps)).toBeGreaterThan(260_000);
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
		[NONE, [], {}],
		[{ transcript: true, recording: false }, [{ transcript: turns }], { transcript: turns }],
		[{ transcript: true, recording: false }, [{ transcript: [] }], { transcript: [] }],
		[
			{ transcript: false, recording: true },
			[{ success: false, error: 'recording_not_available' }],
			{ recording: null },
		],
		[
			{ transcript: false, recording: true },
			[recording],
			{ recording: { ...recording, expires_at: '1970-01-01T00:15:00.000Z' } },
		],
	])('%j', async (included, script, expected) => {
		expect(await readIncluded(scripted(...script).service, 'c', included)).toEqual(expected);
	});
});

describe('an outage', () => {
	test('is retried', async () => {
		const { read, sleeps } = scripted(...Array.from({ length: 8 }, () => AWAY), CALL);
		expect(await read()).toEqual(CALL);
		expect(sleeps).toEqual([1_000, 2_000]);
	});

	test('that lasts for five minutes is an error that says what to do', async () => {
		await expect(scripted(AWAY).read()).rejects.toMatchObject({
			message: "Call c was reported as completed, but couldn't be read",
			resolution: expect.stringMatching(/Then retry this execution\.$/),
		});
	});

	test('is not the same as a rejection', async () => {
		const { read, sleeps } = scripted({ success: false, error: 'Not allowed' });
		await expect(read()).rejects.toThrow("couldn't be read");
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
		expect(await read()).toBeUndefined();
		expect(asked).toHaveLength(2);
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
