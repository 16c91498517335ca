import { readCompletedCall } from '../../../nodes/CallCompletedTrigger/readCompletedCall';
import { ApiClient } from '../../../nodes/core/service/client';
import { TransportFault } from '../../../nodes/core/service/http';
import type { JsonObject } from '../../../nodes/core/values/json';
import { virtualClock } from '../core/service/virtualClock';

const CALL = { call_id: 'c', status: 'picked', summary: 'Wants a visit', retry_count: 1 };
const FORMER = { ...CALL, retry_count: 0 };
const IN_PROGRESS = { call_id: 'c', status: 'picked' };
const VOICEMAIL = { call_id: 'c', status: 'voicemail', retry_count: 1 };
const OTHER = { ...CALL, call_id: 'other' };
const NOT_FOUND = { success: false, error: 'call_not_found' };
const AWAY = new TransportFault('ECONNRESET', 'ECONNRESET');

type Script = Array<JsonObject | TransportFault>;

/** Reads from a service that returns these responses in order, and then the last one again. */
function reading(script: Script) {
	let requests = 0;
	const clock = virtualClock();
	const transport = async () => {
		const response = script[Math.min(requests++, script.length - 1)] ?? AWAY;
		await Promise.resolve();
		if (response instanceof TransportFault) throw response;
		const body = response.success === undefined ? { success: true, data: response } : response;
		return { status: 200, headers: {}, text: JSON.stringify(body) };
	};
	// The pauses between the attempts of one reading don't count here.
	const client = new ApiClient(transport, { ...clock, sleep: async () => {} });
	const options = { report: { retry_count: 1 }, finished: new Set(['voicemail']), clock };
	return { call: readCompletedCall(client, 'c', options), waits: clock.slept };
}

test.each<[string, Script, JsonObject | undefined, number[]]>([
	['an ended call once', [CALL], CALL, []],
	['a call with a finished status once', [VOICEMAIL], VOICEMAIL, []],
	[
		'a lagging record again after longer and longer waits',
		[IN_PROGRESS, IN_PROGRESS, IN_PROGRESS, CALL],
		CALL,
		[1_000, 2_000, 4_000],
	],
	[
		'an earlier outcome again, also while the call is in progress again',
		[FORMER, IN_PROGRESS, FORMER, CALL],
		CALL,
		[1_000, 2_000, 4_000],
	],
	['a call that the service knows a moment later', [NOT_FOUND, CALL], CALL, [1_000]],
	['an unknown call for 15 seconds', [NOT_FOUND], undefined, [1_000, 2_000, 4_000, 8_000]],
	['another call for 15 seconds', [OTHER], undefined, [1_000, 2_000, 4_000, 8_000]],
	['through an outage', [...Array<TransportFault>(8).fill(AWAY), CALL], CALL, [1_000, 2_000]],
])('reads %s', async (_name, script, expected, waits) => {
	const read = reading(script);
	expect(await read.call).toEqual(expected);
	expect(read.waits).toEqual(waits);
});

const sum = (all: number[]) => all.reduce((total, one) => total + one, 0);

test('returns the earlier outcome if the reported one does not show in five minutes', async () => {
	const { call, waits } = reading([FORMER]);
	expect(await call).toEqual(FORMER);
	expect(sum(waits)).toBeGreaterThan(260_000);
	expect(sum(waits)).toBeLessThanOrEqual(300_000);
});

test.each<[string, Script, object, number]>([
	[
		'after an outage of five minutes',
		[AWAY],
		{
			message: "Call c was reported as completed, but couldn't be read",
			resolution: expect.stringMatching(/Then retry this execution\.$/),
		},
		260_000,
	],
	[
		'immediately after a rejection',
		[{ success: false, error: 'Not allowed' }],
		{ message: "Call c was reported as completed, but couldn't be read" },
		0,
	],
])('fails %s', async (_name, script, error, waited) => {
	const { call, waits } = reading(script);
	await expect(call).rejects.toMatchObject(error);
	expect(sum(waits)).toBeGreaterThanOrEqual(waited);
});
