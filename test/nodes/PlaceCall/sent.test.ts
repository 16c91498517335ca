import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { output, records, service, skipSleeps } from '../../engine';
import { acceptCalls, BODY, callsEndpoint, placeCallHarness, waitBy } from './placeCallHarness';

const { place } = placeCallHarness();

async function sent(parameters: INodeParameters, item = {}, settings = {}) {
	const bodies = acceptCalls(1);
	const run = await place(parameters, { items: [item], settings });
	expect(run.data.resultData.error).toBeUndefined();
	return bodies[0];
}

it.each([
	['a time of the date picker', '2099-11-20T10:00:00'],
	["n8n's own DateTime", '={{ $json.naive.toDateTime() }}'],
])('sends %s in the zone of the workflow', async (_what, scheduledAt) => {
	const india = { timezone: 'Asia/Kolkata' };
	const item = { naive: '2099-11-20T10:00:00' };
	expect(await sent({ when: 'dateTime', scheduledAt }, item, india)).toEqual({
		...BODY,
		scheduled_at: '2099-11-20T10:00:00+05:30',
	});
});

describe('the output', () => {
	it.each<[what: string, parameters: INodeParameters, data: IDataObject, json: IDataObject]>([
		['the key of the number', {}, { call_id: 'a' }, { phone_key: '919876543210' }],
		['the key of the service', {}, { call_id: 'a', phone_key: 'theirs' }, { phone_key: 'theirs' }],
		[
			'no key of a number that may start with the country code or not',
			{ countryCode: 'SG', phoneNumber: '65123456' },
			{ call_id: 'a' },
			{ phone_key: null },
		],
	])('has the data of the response, and %s', async (_what, parameters, data, json) => {
		callsEndpoint().reply(200, { success: true, data });
		expect(output(await place(parameters), 'Node')).toEqual([
			{ json: { call_id: 'a', placed: true, ...json }, pairedItem: { item: 0 } },
		]);
	});
});

it('waits for a call whose call_id is a number, and adds its record to the first response', async () => {
	skipSleeps();
	callsEndpoint().reply(200, { success: true, data: { call_id: 12345, scheduled_at: '10:00' } });
	const record = { call_id: 12345, status: 'failed' };
	service().get('/v1/call/12345').reply(200, { success: true, data: record });
	const run = await place(waitBy('reading'));
	expect(records(run)).toMatchObject([{ ...record, timed_out: false, scheduled_at: '10:00' }]);
	jest.restoreAllMocks();
});

it('Include Input Fields: has the row without the fields, the record, the error, and the answer of an earlier call', async () => {
	const data = {
		call_id: 'a',
		scheduled_at: '2099-01-01T10:00:00Z',
		scheduled_at_epoch: 4070944800,
	};
	callsEndpoint().reply(200, { success: true, data });
	const earlier = {
		...{ scheduled_at: 'a column', scheduled_at_epoch: 1, timed_out: true, not_read: 'y' },
		...{ waits_until: 'z', next_call_possible_at: 'x' },
	};
	const record = {
		call_id: 'old',
		phone_key: '91',
		status: 'picked',
		summary: 'Yes',
		tag_name: 'Hot',
		...{ answered: true, transcript: [], transcript_text: 'Hello', recording: {} },
	};
	const answer = { answer: 'yes', explanation: 'Yes', data: { approved: true } };
	const failed = { error: 'No', message: 'Correct it', details: { outcome: 'unknown' } };
	const row = { row: 7, caller_name: 'Asha Rao' };
	const items = [{ ...row, ...earlier, ...record, ...answer, ...failed }];
	const run = await place({ options: { includeInputFields: true } }, { items });
	const called = {
		...{ ...data, scheduled_for: '2099-01-01T05:00:00-05:00' },
		...{ placed: true, phone_key: '919876543210' },
	};
	expect(records(run)).toEqual([{ ...row, ...called }]);
});

it('returns only the record, not what the service sends beside it', async () => {
	const beside = { id: 7, took: 12, meta: { trace: 'x' } };
	callsEndpoint().reply(200, { success: true, ...beside, data: { call_id: 'c-1', eta: 5 } });
	expect(records(await place())).toEqual([
		{ call_id: 'c-1', eta: 5, placed: true, phone_key: '919876543210' },
	]);
});

it("Include Input Fields: keeps the user's own columns with such names", async () => {
	acceptCalls(1);
	const own = {
		...{ status: 'to call', message: 'Hello', error: 'was here', answer: 'B' },
		data: { approved_by: 'us' },
	};
	const run = await place({ options: { includeInputFields: true } }, { items: [own] });
	expect(output(run, 'Node')).toMatchObject([{ json: own }]);
});
