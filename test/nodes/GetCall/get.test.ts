import { InFlight, service } from '../../engine';
import { eventLoopTurns } from '../../n8n/until';
import { nodeHarness } from '../nodeHarness';

const { records, errorOf, executeItems } = nodeHarness('getCall', {
	operation: 'get',
	callId: 'call-1',
});
const RECORD = { call_id: 'call-1', status: 'picked', brand_new_field: [1] };
const data = (value: object) => ({ success: true, data: value });
const perItem = { callId: '={{ $json.id }}' };

test('the raw record has unknown fields and fields beside data, also with additional query parameters', async () => {
	service()
		.get('/v1/call/call-1')
		.query({ verbose: 'yes' })
		.reply(200, { ...data(RECORD), message: 'archived soon' });
	const options = { additionalQueryParameters: '{ "verbose": "yes" }' };
	expect(await records({ output: 'raw', options })).toEqual([
		{ ...RECORD, message: 'archived soon' },
	]);
});

test.each([
	[{}, false],
	[{ optOutKey: 'dnc' }, true],
	[{ optOutKey: '' }, null],
])('opted_out of a call with %j in the credential is %p', async (credential, opted_out) => {
	const record = { ...RECORD, data_captured: { opt_out: 'no', dnc: 'yes' } };
	service().get('/v1/call/call-1').times(2).reply(200, data(record));
	expect(await records({ output: 'simplified' }, { credential })).toMatchObject([{ opted_out }]);
	const selected = { output: 'selected', selectedFields: 'opted_out' };
	expect(await records(selected, { credential })).toEqual([{ opted_out }]);
});

describe('what is included', () => {
	test('as text from a model', async () => {
		service().get('/v1/call/call-1').reply(200, data(RECORD));
		service()
			.get('/v1/call/call-1/transcript')
			.reply(200, data({ transcript: [] }));
		const include = "={{ 'transcript, ' }}";
		expect(await records({ include })).toMatchObject([{ transcript: [] }]);
		expect(await errorOf({ include: "={{ 'the transcript' }}" })).toMatchObject({
			message:
				'\'Recording and Transcript\' must be one of "recording", "transcript" (got "the transcript")',
		});
	});

	test.each([
		['transcript', 404, "Transcript: The service doesn't know this call"],
		[
			'recording',
			403,
			"Recording: The service didn't find this, or doesn't allow it with your API token",
		],
	])('a %s that cannot be read stops the node, and is named', async (part, status, message) => {
		service().get('/v1/call/call-1').reply(200, data(RECORD));
		const error = status === 404 ? 'call_not_found' : 'no access to recordings';
		service().get(`/v1/call/call-1/${part}`).reply(status, { success: false, error });
		expect(await errorOf({ include: [part] })).toMatchObject({
			message,
			description: expect.stringContaining(error),
		});
	});
});

test('a response without a transcript is one of which nothing was captured', async () => {
	service()
		.get('/v1/call/call-1/transcript')
		.reply(200, data({ call_id: 'call-1' }));
	expect(await records({ operation: 'getTranscript' })).toEqual([
		{ call_id: 'call-1', transcript: [], transcript_text: '' },
	]);
});

test('several items are read as many as Concurrency allows at a time, in order, and paired', async () => {
	const inFlight = new InFlight(3);
	service()
		.get(/^\/v1\/call\/call-\d+$/)
		.times(25)
		.reply(async (uri) => {
			await inFlight.enter();
			const id = uri.split('/').at(-1) ?? '';
			// The first of each ten responds last, so that the order isn't accidental.
			await eventLoopTurns(20 - 2 * (Number(id.slice(5)) % 10));
			inFlight.leave();
			return [200, data({ call_id: id })];
		});
	const items = Array.from({ length: 25 }, (_, i) => ({ id: `call-${i}` }));
	const parameters = { ...perItem, options: { concurrency: 3 } };
	const found = await executeItems(parameters, { items });
	expect(inFlight.max).toBe(3);
	expect(found.map(({ json }) => json.call_id)).toEqual(items.map(({ id }) => id));
	expect(found.map(({ pairedItem }) => pairedItem)).toEqual(items.map((_, item) => ({ item })));
});
