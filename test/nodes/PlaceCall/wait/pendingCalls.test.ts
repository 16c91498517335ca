import { randomUUID } from 'node:crypto';
import { sleep } from 'n8n-workflow';
import { OBSERVED_OUTCOMES } from '../../../../nodes/shared/calls/callEnd';
import { MAX_LAG_MS, PendingCalls } from '../../../../nodes/PlaceCall/wait/pendingCalls';
import { deferred } from '../../../../nodes/shared/clock';
import type { JsonObject } from '../../../../nodes/shared/json';

const IDS = Array.from({ length: 25 }, (_, index) => `call-${index}`);

/** A service with records by ID, which counts the reads. */
function service() {
	const records = new Map<string, JsonObject>();
	const reads: string[] = [];
	const down = new Set<string>();
	const state = { inFlight: 0, max: 0 };
	return {
		records,
		reads,
		down,
		state,
		end: (...callIds: string[]) => {
			for (const call_id of callIds) records.set(call_id, { call_id, status: 'failed' });
		},
		read: async (callId: string): Promise<JsonObject> => {
			reads.push(callId);
			state.max = Math.max(state.max, ++state.inFlight);
			await Promise.resolve();
			state.inFlight--;
			if (down.has(callId)) throw new Error('down');
			return records.get(callId) ?? { call_id: callId, status: 'ringing' };
		},
	};
}

let now = 0;
const openCalls = () => new PendingCalls(new Set(IDS), OBSERVED_OUTCOMES, () => now);
beforeEach(() => {
	now = 0;
});

it('the first poll finds completed calls, with ten reads at a time', async () => {
	const { read, end, reads, state } = service();
	const calls = openCalls();
	end('call-3', 'call-7');
	await calls.pollAll(read);
	expect(reads).toHaveLength(IDS.length);
	expect(state.max).toBe(10);
	expect(calls.pending).toHaveLength(IDS.length - 2);
	expect(calls.known('call-3')).toEqual({
		record: { call_id: 'call-3', status: 'failed' },
		hasEnded: true,
	});
	expect(calls.known('call-4')).toMatchObject({ record: { status: 'ringing' }, hasEnded: false });
});

it('after that, a completion webhook reads only its own call', async () => {
	const { read, end, reads } = service();
	const calls = openCalls();
	await calls.pollAll(read);
	reads.length = 0;
	for (const callId of IDS) {
		end(callId);
		await calls.handleCompleted([callId], read);
	}
	expect(reads).toEqual(IDS);
	expect(calls.pending).toEqual([]);
});

it('a reported call stays pending while its record shows no end', async () => {
	const { read, records, reads } = service();
	const calls = openCalls();
	await calls.pollAll(read);
	records.set('call-1', { call_id: 'call-1', status: 'pending', summary: null });
	await calls.handleCompleted(['call-1'], read);
	expect(calls.lagging).toEqual(['call-1']);
	expect(calls.known('call-1')).toMatchObject({ hasEnded: false, record: { status: 'pending' } });
	reads.length = 0;
	records.set('call-1', { call_id: 'call-1', status: 'voicemail', summary: 'Left a message' });
	await calls.pollLagging(read);
	expect(reads).toEqual(['call-1']);
	expect(calls.lagging).toEqual([]);
	expect(calls.known('call-1')).toMatchObject({ hasEnded: true, record: { status: 'voicemail' } });
});

it('a reported call whose record never shows an end counts as completed after five minutes', async () => {
	const { read } = service();
	const calls = openCalls();
	await calls.pollAll(read);
	await calls.handleCompleted(['call-1'], read);
	now = MAX_LAG_MS - 1;
	await calls.handleCompleted(['call-1'], read);
	expect(calls.known('call-1').hasEnded).toBe(false);
	now = MAX_LAG_MS;
	await calls.pollAll(read);
	expect(calls.known('call-1')).toMatchObject({ hasEnded: true, record: { status: 'ringing' } });
	expect(calls.known('call-2').hasEnded).toBe(false);
});

it('has the reason why the last read failed', async () => {
	const { read, down } = service();
	const calls = openCalls();
	down.add('call-3');
	await calls.pollAll(read);
	expect(calls.known('call-3')).toEqual({ record: {}, hasEnded: false, readFailure: 'down' });
	down.clear();
	await calls.pollAll(read);
	expect(calls.known('call-3')).not.toHaveProperty('readFailure');
});

it('a completed call is not read again', async () => {
	const { read, reads, end } = service();
	const calls = openCalls();
	await calls.pollAll(read);
	end('call-1');
	await calls.handleCompleted(['call-1'], read);
	reads.length = 0;
	await calls.handleCompleted(['call-1'], read);
	expect(reads).toEqual([]);
});

it('the first completion webhook, such as after a restart, reads all calls', async () => {
	const { read, end } = service();
	const calls = openCalls();
	end(...IDS);
	await calls.handleCompleted(['call-24'], read);
	expect(calls.pending).toEqual([]);
});

it('simultaneous completion webhooks share that poll', async () => {
	const { read, reads, end } = service();
	const calls = openCalls();
	end(...IDS);
	await Promise.all(IDS.map(async (callId) => await calls.handleCompleted([callId], read)));
	expect(calls.pending).toEqual([]);
	expect(reads.length).toBeLessThanOrEqual(2 * IDS.length);
});

it('a reported call whose read failed is read in the next poll', async () => {
	const { read, down, end } = service();
	const calls = openCalls();
	down.add('call-2');
	await calls.pollAll(read);
	await expect(calls.handleCompleted(['call-2'], read)).rejects.toThrow('down');
	expect(calls.pending).toContain('call-2');
	down.clear();
	end('call-2', 'call-5');
	await calls.handleCompleted(['call-5'], read);
	expect(calls.known('call-2').hasEnded).toBe(true);
	expect(calls.known('call-5').hasEnded).toBe(true);
});

it('a completion webhook of another call changes nothing', async () => {
	const { read, reads } = service();
	const calls = openCalls();
	await calls.pollAll(read);
	reads.length = 0;
	await calls.handleCompleted(['other'], read);
	expect(reads).toEqual([]);
	expect(calls.pending).toEqual(IDS);
});

it('all calls are read at most every 2 seconds', async () => {
	const { read, reads } = service();
	const calls = openCalls();
	for (now = 0; now < 2_000; now += 100) await calls.pollAll(read);
	expect(reads).toHaveLength(IDS.length);
	await calls.pollAll(read);
	expect(reads).toHaveLength(2 * IDS.length);
});

it('a poll with a failed read may be repeated immediately', async () => {
	const { read, reads, down } = service();
	const calls = openCalls();
	down.add('call-3');
	await calls.pollAll(read);
	await calls.pollAll(read);
	expect(reads).toHaveLength(2 * IDS.length);
});

it('one call is read at most every second', async () => {
	const { read, reads } = service();
	const calls = openCalls();
	await calls.pollAll(read);
	reads.length = 0;
	for (now = 0; now < 1_000; now += 10) await calls.handleCompleted(['call-1'], read);
	expect(reads).toEqual(['call-1']);
	expect(calls.lagging).toEqual(['call-1']);
	await calls.handleCompleted(['call-1'], read);
	expect(reads).toEqual(['call-1', 'call-1']);
});

it('a completion webhook with several calls reads each of them, in upper and lower case', async () => {
	const uuids = Array.from({ length: 3 }, () => randomUUID());
	const { read, reads, end } = service();
	const calls = new PendingCalls(new Set(uuids), OBSERVED_OUTCOMES, () => now);
	await calls.pollAll(read);
	reads.length = 0;
	end(...uuids);
	const [first = '', second = ''] = uuids;
	await calls.handleCompleted([first.toUpperCase(), second, 'other'], read);
	expect(reads).toEqual([first, second]);
	expect(calls.pending).toEqual(uuids.slice(2));
});

it('a failed read changes nothing after another one has seen the end', async () => {
	const calls = openCalls();
	const isDown = deferred<undefined>();
	const round = calls.pollAll(async () => {
		await isDown.promise;
		throw new Error('down');
	});
	const { read, end } = service();
	end(...IDS);
	const reported = calls.handleCompleted(IDS, async (callId) => {
		const record = await read(callId);
		if (callId === IDS.at(-1)) void sleep(0).then(() => isDown.resolve(undefined));
		return record;
	});
	await Promise.all([round, reported]);
	expect(calls.known('call-3')).toEqual({
		record: { call_id: 'call-3', status: 'failed' },
		hasEnded: true,
	});
});
