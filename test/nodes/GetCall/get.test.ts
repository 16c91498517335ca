import { output, service } from '../../engine';
import { nodeHarness } from '../nodeHarness';

const { records, errorOf, run, executeItems } = nodeHarness('getCall', {
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
	test('simplified', async () => {
		service().get('/v1/call/call-1').reply(200, data(RECORD));
		expect(await records()).toEqual([
			{ call_id: 'call-1', status: 'picked', summary: 'Wants a visit', phone_key: null },
		]);
	});

	test('whole, unknown fields included, with what stands beside data', async () => {
		service()
			.get('/v1/call/call-1')
			.reply(200, { ...data(RECORD), message: 'archived soon' });
		expect(await records({ simplify: false })).toEqual([{ ...RECORD, message: 'archived soon' }]);
	});

	test('with what the user adds to the address', async () => {
		service().get('/v1/call/call-1').query({ verbose: 'yes' }).reply(200, data(RECORD));
		const options = { additionalQueryParameters: '{ "verbose": "yes" }' };
		expect(await records({ options })).toHaveLength(1);
	});
});

describe('what is included', () => {
	const TURNS = [{ role: 'assistant', content: 'Hello', timestamp: '2027-01-31T10:00:00+05:30' }];
	const include = ['transcript', 'recording'];

	test('transcript and recording', async () => {
		service().get('/v1/call/call-1').reply(200, data(RECORD));
		service()
			.get('/v1/call/call-1/transcript')
			.reply(200, data({ call_id: 'call-1', transcript: TURNS }));
		service()
			.get('/v1/call/call-1/recording')
			.reply(200, data({ call_id: 'call-1', recording_url: 'u', expires_in_seconds: 900 }));
		const [record] = await records({ include });
		expect(record).toMatchObject({
			call_id: 'call-1',
			transcript: TURNS,
			recording: { recording_url: 'u', expires_at: expect.stringMatching(/Z$/) },
		});
	});

	test.each([200, 404, 409, 422, 500])('no recording, told at %i', async (status) => {
		service().get('/v1/call/call-1').reply(200, data(RECORD));
		service()
			.get('/v1/call/call-1/transcript')
			.reply(200, data({ call_id: 'call-1', transcript: [] }));
		service()
			.get('/v1/call/call-1/recording')
			.times(status === 500 ? 4 : 1)
			.reply(status, { success: false, error: 'recording_not_available' });
		expect(await records({ include })).toMatchObject([{ transcript: [], recording: null }]);
	});

	test('as text, which a model gives', async () => {
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

	test('a rejection of another kind is one', async () => {
		service().get('/v1/call/call-1').reply(200, data(RECORD));
		service()
			.get('/v1/call/call-1/recording')
			.reply(403, { success: false, error: 'no access to recordings' });
		expect(await errorOf({ include: ['recording'] })).toMatchObject({
			message: 'The service does not allow this with your API token',
			description: expect.stringContaining('no access to recordings'),
		});
	});
});

describe('a call that cannot be read', () => {
	test.each([200, 400, 404, 422])('unknown, told at %i', async (status) => {
		service().get('/v1/call/call-1').reply(status, { success: false, error: 'call_not_found' });
		expect(await errorOf()).toMatchObject({
			message: 'The service does not know this call',
			description: expect.stringMatching(/Check the Call ID.*call_not_found/),
		});
	});

	test.each([
		['', 'Call ID is empty'],
		['  ', 'Call ID is empty'],
		['../agents', 'Call ID holds "../agents", which is not the ID of a call'],
		['a b', 'Call ID holds "a b", which is not the ID of a call'],
	])('an ID that cannot be: %p', async (id, message) => {
		const items = [{ id }];
		expect(await errorOf(perItem, { items })).toMatchObject({ message });
	});

	test('a token that is not valid', async () => {
		service().get('/v1/call/call-1').reply(401, { success: false, error: 'Invalid API token' });
		expect(await errorOf()).toMatchObject({ message: 'The service does not accept the API token' });
	});

	test('a service that stumbles is asked again, and a read is said to be harmless', async () => {
		service().get('/v1/call/call-1').times(4).reply(503, 'busy');
		expect(await errorOf()).toMatchObject({
			message: 'The service, or a proxy before it, stumbled (HTTP status 503)',
			description: expect.stringContaining('Nothing was changed by this read'),
		});
	});
});

describe('several items', () => {
	function answerSlowly(count: number) {
		const seen = { underWay: 0, most: 0 };
		service()
			.get(/^\/v1\/call\/call-\d+$/)
			.times(count)
			.reply(async (uri) => {
				seen.most = Math.max(seen.most, ++seen.underWay);
				const id = uri.split('/').at(-1) ?? '';
				// The first of each ten answers last, so that order is not given by chance.
				await new Promise((done) => setTimeout(done, 20 - 2 * (Number(id.slice(5)) % 10)));
				seen.underWay--;
				return [200, data({ call_id: id })];
			});
		return seen;
	}

	test('ten at a time, in order, each paired', async () => {
		const seen = answerSlowly(25);
		const items = many(25);
		const found = await executeItems(perItem, { items });
		expect(seen.most).toBe(10);
		expect(found.map(({ json }) => json.call_id)).toEqual(items.map(({ id }) => id));
		expect(found.map(({ pairedItem }) => pairedItem)).toEqual(items.map((_, item) => ({ item })));
	});

	test('as many at a time as Concurrency says', async () => {
		const seen = answerSlowly(9);
		await records({ ...perItem, options: { concurrency: 3 } }, { items: many(9) });
		expect(seen.most).toBe(3);
	});

	test('under Continue On Fail each bad one says why, the others go on', async () => {
		service()
			.get('/v1/call/call-0')
			.reply(200, data({ call_id: 'call-0' }));
		service().get('/v1/call/call-1').reply(404, { success: false, error: 'call_not_found' });
		const items = [...many(2), { id: '' }];
		const overrides = { onError: 'continueRegularOutput' } as const;
		expect(await records(perItem, { items, overrides })).toMatchObject([
			{ call_id: 'call-0' },
			{ error: 'The service does not know this call [item 1]' },
			{ error: 'Call ID is empty [item 2]' },
		]);
	});

	test('the error output gets them with their input', async () => {
		service()
			.get('/v1/call/call-0')
			.reply(200, data({ call_id: 'call-0' }));
		const overrides = { onError: 'continueErrorOutput' } as const;
		const result = await run(perItem, {
			items: [{ id: 'call-0' }, { id: '/' }],
			overrides,
			sinks: ['Good', 'Bad'],
		});
		expect(output(result, 'Good')).toMatchObject([{ json: { call_id: 'call-0' } }]);
		expect(output(result, 'Bad')).toMatchObject([
			{ json: { id: '/', error: expect.stringContaining('not the ID of a call') } },
		]);
	});

	test('a run that stops names its item', async () => {
		service()
			.get('/v1/call/call-0')
			.reply(200, data({ call_id: 'call-0' }));
		const stopped = await errorOf(perItem, { items: [{ id: 'call-0' }, { id: '' }] });
		expect(stopped).toMatchObject({
			message: 'Call ID is empty [item 1]',
			context: { itemIndex: 1 },
		});
	});
});
