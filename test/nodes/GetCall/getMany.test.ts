import type { ICredentialDataDecryptedObject, IDataObject, INodeParameters } from 'n8n-workflow';
import nock from 'nock';
import { clock } from '../../../nodes/host/clock';
import { engineTool, InFlight, output, service } from '../../engine';
import { nodeHarness } from '../nodeHarness';

const { records, errorOf, run, nodeWith } = nodeHarness('getCall', { operation: 'getMany' });
const CALLS = {
	query: { st: '{status?}', p: '{page}' },
	list: 'data',
	next: { page: 1 },
};
const withCalls = (more: IDataObject) => ({ serviceProfile: { calls: { ...CALLS, ...more } } });
const credential = withCalls({});
const counted = withCalls({ total: 'total' });
const list = (...ids: string[]) => ({
	success: true,
	data: ids.map((call_id) => ({ call_id, status: 'picked', channel: 'sip' })),
});
const calls = (query = {}) => service().get('/v1/calls').query(query);

test('additional query parameters are sent, also with repeated names', async () => {
	const additionalQueryParameters = {
		created_at: ['gte.2027-01-31', 'lt.2027-02-28'],
		'or.x': 1,
	};
	calls(additionalQueryParameters).reply(200, list('a'));
	calls({ ...additionalQueryParameters, p: 2 }).reply(200, list());
	const parameters = { options: { additionalQueryParameters } };
	expect(await records(parameters, { credential })).toHaveLength(1);
});

test.each<[string, INodeParameters, IDataObject]>([
	['has no list of calls', {}, { success: true, data: { count: 2 } }],
	['ignores a filter', { filters: { status: 'failed' } }, list('a')],
])('a model whose list %s is not told to repeat the request', async (_what, parameters, body) => {
	service().get('/v1/calls').query(true).reply(200, body);
	const getMany = await nodeWith(credential, 'getCall', {
		parameters: { operation: 'getMany', ...parameters },
	});
	expect(await engineTool(getMany)()).toMatchObject({
		outcome: 'not_read',
		next_step: expect.stringMatching(
			/^In n8n, .* Nothing was done\. Tell the user .* the person who set up this tool must fix this\.$/,
		),
	});
});

describe('Period', () => {
	const NOW = Date.parse('2026-11-29T11:00:00+05:30');
	beforeEach(() => jest.spyOn(clock, 'now').mockReturnValue(NOW));
	afterEach(() => jest.restoreAllMocks());
	const dated = { query: { since: '{from?}', until: '{to?}' }, next: 'none' };

	// The time zone of the workflow is America/New_York.
	test.each<[string, INodeParameters, object]>([
		['anyTime', {}, {}],
		['last7Days', {}, { since: '2026-11-22T00:30:00-05:00' }],
		['yesterday', {}, { since: '2026-11-28T00:00:00-05:00', until: '2026-11-28T23:59:59-05:00' }],
		['between', { from: '2026-11-01' }, { since: '2026-11-01' }],
		['between', { to: '2026-11-02T09:00' }, { until: '2026-11-02T09:00:00-05:00' }],
	])('%s with %j asks for calls with %j', async (period, bounds, query) => {
		calls(query).reply(200, list('a'));
		const found = await records({ period, ...bounds }, { credential: withCalls(dated) });
		expect(found).toHaveLength(1);
	});

	test('yesterday of a service that takes only dates is one day', async () => {
		const dates = withCalls({ ...dated, dates: 'date' });
		calls({ since: '2026-11-28', until: '2026-11-28' }).reply(200, list('a'));
		expect(await records({ period: 'yesterday' }, { credential: dates })).toHaveLength(1);
	});

	test('needs the places for its bounds, and says what it found nothing in', async () => {
		expect(await errorOf({ period: 'yesterday' }, { credential })).toMatchObject({
			message: `"calls" of 'Service Profile' in the credential has no {from} and {to}`,
			description: expect.stringMatching(/^In n8n, add it there\. Ask your service provider/),
		});
		calls({ since: '2026-11-28T00:00:00-05:00', until: /./ }).reply(200, list());
		const { data } = await run({ period: 'yesterday' }, { credential: withCalls(dated) });
		expect(data.resultData.runData.Node?.[0]?.hints).toEqual([
			{
				message: expect.stringMatching(
					/^The service has no call with From "2026-11-28T00:00:00.000-05:00" and To "2026/,
				),
			},
		]);
	});
});

test('a tool returns ten calls with six fields by default, and says how to get others', async () => {
	const data = Array.from({ length: 12 }, (_, index) => ({
		...{ call_id: `call-${index}`, status: 'picked', phone_number: '+919000000000' },
		...{ summary: 'Wants a visit', data_captured: { day: 'Friday' }, channel: 'sip' },
	}));
	calls().times(2).reply(200, { success: true, data });
	const tool = async (parameters: INodeParameters) => {
		const all = { operation: 'getMany', ...parameters };
		return await engineTool(await nodeWith(credential, 'getCall', { parameters: all }))();
	};
	const row = {
		...{ person_name: null, phone_number: '+919000000000', outcome: 'Answered' },
		...{ summary: 'Wants a visit', created_at: null },
	};
	expect(await tool({})).toEqual({
		outcome: 'done',
		what_happened:
			'The data was read. The list ends at the limit of 10 calls, and there may be more.',
		next_step:
			"Continue with the result. Do not treat this list as complete. For the others, use a higher 'Limit', or narrow the list by 'From', 'To', 'Phone Number', or 'Status'.",
		result: data.slice(0, 10).map(({ call_id }) => ({ ...row, call_id })),
	});
	const chosen = await tool({ limit: 11, output: 'simplified' });
	expect(chosen.result).toHaveLength(11);
	expect(chosen.result).toContainEqual(expect.objectContaining({ captured_day: 'Friday' }));
});

describe('a list that may have more pages', () => {
	test.each<[string, INodeParameters, ICredentialDataDecryptedObject, number, string[]?]>([
		['has a hint', {}, {}, 1],
		['has no hint if it is empty', {}, {}, 0, []],
		['has no hint if it has as many calls as were asked for', { limit: 2 }, {}, 0],
		['has no hint if it is known', {}, withCalls({ query: {}, next: 'none' }), 0],
	])('%s', async (_what, parameters, details, count, ids = ['a', 'b']) => {
		calls().reply(200, list(...ids));
		const { data } = await run(parameters, { credential: details });
		const { hints = [] } = data.resultData.runData.Node?.[0] ?? {};
		const message =
			/^The service returned 2 calls in its first response.* In n8n, add "calls" to .* with the questionnaire/;
		expect(hints).toEqual(Array(count).fill({ message: expect.stringMatching(message) }));
	});
});

test('a list that has fewer calls than its total in three readings stops the workflow', async () => {
	calls()
		.times(3)
		.reply(200, { ...list('a', 'b'), total: 3 });
	calls({ p: 2 })
		.times(3)
		.reply(200, { ...list(), total: 3 });
	const { message, description } = await errorOf({ returnAll: true }, { credential: counted });
	expect(nock.isDone()).toBe(true);
	expect(message).toContain(
		'Calls may be missing, because the call list changed in each of 3 readings',
	);
	expect(description).toContain('Run this again while fewer calls are placed.');
	expect(description).toContain('check "total" in "calls"');
});

describe('Opted Out', () => {
	const captured = { a: 'no', b: 'YES', c: 'later', d: 'yes', e: null };
	const data = Object.entries(captured).map(([call_id, dnc]) => ({
		...{ call_id, status: 'picked' },
		data_captured: { dnc },
	}));
	const listed = (body: object[]) => {
		calls().reply(200, { success: true, data: body });
		calls({ p: 2 }).reply(200, list());
	};
	const optingOut = { ...credential, optOutKey: 'dnc' };

	test.each([
		['true', 9, ['b', 'd']],
		['false', 9, ['a']],
		['null', 9, ['c', 'e']],
		['true', 1, ['b']],
	])('%s returns up to %d of such calls of the whole list', async (optedOut, limit, ids) => {
		listed(data);
		const found = await records({ limit, filters: { optedOut } }, { credential: optingOut });
		expect(found.map(({ call_id: id }) => id)).toEqual(ids);
		expect(nock.isDone()).toBe(true);
	});

	test('stops the node if the list shows no captured values, because nobody would have opted out', async () => {
		listed(list('a', 'b').data);
		const filters = { optedOut: 'true' };
		expect(await errorOf({ limit: 9, filters }, { credential })).toMatchObject({
			message:
				"The list of calls has no captured values (data_captured), so 'Opted Out' can't be used",
			description: "Remove the filter, and read each call with 'Get', which returns opted_out.",
		});
	});

	test('needs Opt-Out Key of the credential', async () => {
		listed(data);
		const noKey = { ...credential, optOutKey: ' ' };
		expect(await errorOf({ filters: { optedOut: 'true' } }, { credential: noKey })).toMatchObject({
			message: "'Opt-Out Key' in the credential is empty",
		});
	});

	test('as the filter of a tool: the model gets the same advice', async () => {
		listed(list('a', 'b').data);
		const parameters = { operation: 'getMany', filters: { optedOut: 'true' } };
		expect(await engineTool(await nodeWith(credential, 'getCall', { parameters }))()).toMatchObject(
			{
				outcome: 'not_read',
				next_step: expect.stringMatching(
					/^Remove the filter, .* Tell the user .* about the rest\.$/,
				),
			},
		);
	});

	test('if nobody opted out, says how many calls have no answer to it', async () => {
		listed(data.filter(({ call_id: id }) => !['b', 'd'].includes(id)));
		const parameters = { filters: { optedOut: 'true' } };
		const { data: ran } = await run(parameters, { credential: optingOut });
		expect(ran.resultData.runData.Node?.[0]?.hints).toEqual([
			{
				message:
					"Nobody opted out in 3 calls, and 2 of them have no clear answer to it. To see these, set 'Opted Out' to 'Unknown'.",
			},
		]);
	});

	test('of an empty list is an empty list', async () => {
		calls().reply(200, list());
		expect(await records({ filters: { optedOut: 'true' } }, { credential })).toEqual([]);
	});
});

test.each(['Answered', 'failed', 'FAILED'])(
	'the status %s is sent to the service as it is, which may have one of that name',
	async (status) => {
		const data = [{ call_id: 'a', status }];
		calls({ st: status }).reply(200, { success: true, data });
		expect(await records({ limit: 1, filters: { status } }, { credential })).toEqual([
			expect.objectContaining({ call_id: 'a' }),
		]);
	},
);

test('a time such as $now is the same for all items, so that their list is returned once', async () => {
	const shown = withCalls({ query: { since: '{from?}' }, next: 'none' });
	service().get('/v1/calls').query(true).reply(200, list('a'));
	const items = Array.from({ length: 100 }, (_, row) => ({ row }));
	const parameters = { period: 'between', from: '={{ $now.minus({ days: 1 }) }}' };
	expect(await records(parameters, { items, credential: shown })).toHaveLength(1);
});

test('items with the same list share one reading, and each has its error if the list cannot be read', async () => {
	calls({ st: 'picked' }).reply(422, { success: false, errors: ['st is unknown'] });
	calls({ st: 'other' }).reply(200, list('b'));
	const items = ['picked', 'other', 'picked'].map((status) => ({ status }));
	const perItem = { limit: 1, filters: { status: '={{ $json.status }}' } };
	const overrides = { onError: 'continueErrorOutput' } as const;
	const result = await run(perItem, { items, credential, overrides, sinks: ['Good', 'Bad'] });
	expect(output(result, 'Good')).toMatchObject([{ json: { call_id: 'b' } }]);
	expect(output(result, 'Bad').map(({ json }) => json.error)).toEqual([
		'The service rejected the request [row 1]',
		'The service rejected the request [row 3]',
	]);
});

test('with Concurrency 1, one request is in flight at a time, for all lists', async () => {
	const inFlight = new InFlight(1);
	service()
		.get('/v1/calls')
		.query(true)
		.times(24)
		.reply(async (uri) => {
			const query = new URL(uri, 'http://service.invalid').searchParams;
			await inFlight.enter();
			inFlight.leave();
			return [200, { ...list(`${query.get('st')} ${query.get('p')}`), total: 6 }];
		});
	const filters = { status: '={{ $json.status }}' };
	const parameters = { returnAll: true, filters, options: { concurrency: 1 } };
	const items = [{ status: 'picked' }, { status: 'busy' }];
	expect(await records(parameters, { items, credential: counted })).toHaveLength(12);
	expect(inFlight.max).toBe(1);
	nock.cleanAll();
});

describe('before anything is sent', () => {
	const lacks = '\'Service Profile\' in the credential lacks "calls"';
	const hasNo = (values: string) =>
		`"calls" of 'Service Profile' in the credential has no ${values}`;

	test.each<[INodeParameters, ICredentialDataDecryptedObject, string, RegExp?]>([
		[{ filters: { status: 'x' } }, {}, lacks, /^In n8n, add "calls" to/],
		[
			{
				...{ returnAll: true, period: 'between', from: '2027-01-31' },
				filters: { status: 'x', phone: '98' },
			},
			withCalls({ query: { p: '{page}', st: '{status?}' } }),
			hasNo('{from} and {phone}'),
			/^In n8n, add it there\. Ask your service provider for it/,
		],
		[
			{ returnAll: true },
			{ serviceProfile: { calls: { query: { st: '{status?}' } } } },
			hasNo('"list" and "next"'),
			/^In n8n, add it there\. Ask your service provider for it with the questionnaire \(\S+\)\.$/,
		],
		[
			{ filters: { campaignUploadId: 'x' } },
			credential,
			`'Contact List ID' must be a whole number (got "x")`,
		],
		[
			{ filters: { phone: 'Asha' } },
			credential,
			`'Phone Number' "Asha" isn't a phone number`,
			/^Enter the number as your service writes it\.$/,
		],
		[{ limit: 0 }, credential, "'Limit' must be at least 1"],
		[
			{ options: { additionalQueryParameters: '{ "a": { "b": 1 } }' } },
			credential,
			'"a" in \'Additional Query Fields\' must be text, a number, true, or false, or a list of such values',
		],
	])('%p', async (parameters, details, message, resolution = /./) => {
		expect(await errorOf(parameters, { credential: details })).toMatchObject({
			message,
			description: expect.stringMatching(resolution),
		});
	});
});
