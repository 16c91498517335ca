import { InFlight, service } from '../../engine';
import { eventLoopTurns } from '../../n8n/until';
import { nodeHarness } from '../nodeHarness';

const { records, errorOf, executeItems } = nodeHarness('getCall', {
	operation: 'get',
	callId: 'call-1',
});
const RECORD = {
	call_id: 'call-1',
	agent_uuid: 'agent_a1',
	status: 'picked',
	summary: 'Wants a visit',
	tag: { id: 1, name: 'Hot', color_code: '#f00' },
	brand_new_field: [1],
};
const data = (value: object) => ({ success: true, data: value });
const many = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `call-${i}` }));
const perItem = { callId: '={{ $json.id }}' };

describe('the record', () => {
	test('raw, with unknown fields and fields beside data', async () => {
		service()
			.get('/v1/call/call-1')
			.reply(200, { ...data(RECORD), message: 'archived soon' });
		expect(await records({ simplify: false })).toEqual([{ ...RECORD, message: 'archived soon' }]);
	});

	test('with additional query parameters', async () => {
		service().get('/v1/call/call-1').query({ verbose: 'yes' }).reply(200, data(RECORD));
		const developerSettings = { additionalQueryParameters: '{ "verbose": "yes" }' };
		expect(await records({ developerSettings })).toHaveLength(1);
	});
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
				'\'Include\' must be one of "recording", "transcript", but its expression returned "the transcript"',
		});
	});

	test('another rejection is an error', async () => {
		service().get('/v1/call/call-1').reply(200, data(RECORD));
		service()
			.get('/v1/call/call-1/recording')
			.reply(403, { success: false, error: 'no access to recordings' });
		expect(await errorOf({ include: ['recording'] })).toMatchObject({
			message: "The service doesn't allow this with your API token",
			description: expect.stringContaining('no access to recordings'),
		});
	});
});

describe('a call that cannot be read', () => {
	test.each([
		['', "'Call ID' is empty"],
		['  ', "'Call ID' is empty"],
		['../agents', `'Call ID' must be the ID of a call (got "../agents")`],
		['a b', `'Call ID' must be the ID of a call (got "a b")`],
	])('an invalid ID: %p', async (id, message) => {
		const items = [{ id }];
		expect(await errorOf(perItem, { items })).toMatchObject({ message });
	});

	test('a failing service is retried, and the message says that nothing was changed', async () => {
		service().get('/v1/call/call-1').times(4).reply(503, 'busy');
		expect(await errorOf()).toMatchObject({
			message: 'The service or a proxy returned HTTP status 503',
			description: expect.stringContaining('Nothing was changed'),
		});
	});
});

describe('several items', () => {
	test.each([
		['ten', {}, 10],
		['as many as Concurrency allows', { developerSettings: { concurrency: 3 } }, 3],
	])('are read %s at a time, in order, and paired', async (_many, parameters, together) => {
		const inFlight = new InFlight(together);
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
		const items = many(25);
		const found = await executeItems({ ...perItem, ...parameters }, { items });
		expect(inFlight.max).toBe(together);
		expect(found.map(({ json }) => json.call_id)).toEqual(items.map(({ id }) => id));
		expect(found.map(({ pairedItem }) => pairedItem)).toEqual(items.map((_, item) => ({ item })));
	});

	test('with Continue On Fail, each failed item has its message', async () => {
		service()
			.get('/v1/call/call-0')
			.reply(200, data({ call_id: 'call-0' }));
		service().get('/v1/call/call-1').reply(404, { success: false, error: 'call_not_found' });
		const items = [...many(2), { id: '' }];
		const overrides = { onError: 'continueRegularOutput' } as const;
		expect(await records(perItem, { items, overrides })).toMatchObject([
			{ call_id: 'call-0' },
			{ error: "The service doesn't know this call [item 1]" },
			{ error: "'Call ID' is empty [item 2]" },
		]);
	});
});
