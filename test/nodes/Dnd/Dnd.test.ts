import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { service } from '../../engine';
import { dndHarness, entry, listOf, PATH, PROFILE } from './dndHarness';

const credential = { serviceProfile: PROFILE };
/** A credential whose profile has another form of a part. */
const withPart = (part: IDataObject) => ({ serviceProfile: { ...PROFILE, ...part } });
const add = dndHarness('add', { phone: '+91 98123-45678' });
const remove = dndHarness('remove', { phone: '98123 45678' });
const check = dndHarness('check', { phone: '={{ $json.phone }}' });
const getMany = dndHarness('getMany');
const DONE = { success: true, message: 'Done' };
const CONTINUE = { onError: 'continueRegularOutput' } as const;
const list = (query: object) =>
	service()
		.get(PATH)
		.query({ list_agent: 'agent_a1', ...query });

describe('Add', () => {
	const body = { add_agent: 'agent_a1', add_phone: '+919812345678' };
	const placed = { query: { add_agent: '{agent}' }, body: { add_phone: '{phone}' } };
	const nested = { body: { entry: { agent: '{agent}', phone: '{phone}', by: ['n8n', 7] } } };
	const options = {
		additionalBodyFields: { entry: { source: 'crm', phone: 'x' } },
		additionalQueryParameters: '{ "notify": "no" }',
	};

	test.each<[string, IDataObject, INodeParameters, object, object]>([
		[
			'each value at its own place, and no reason if the profile has none',
			placed,
			{},
			{ add_phone: body.add_phone },
			{ add_agent: body.add_agent },
		],
		['no empty reason', PROFILE['dnd.add'], { reason: ' ' }, body, {}],
		[
			'a text around a value, and nothing of a list without its reason',
			{ body: { to: 'tel:{phone}', by: '{agent}', notes: ['{reason?}'] } },
			{},
			{ to: 'tel:+919812345678', by: 'agent_a1' },
			{},
		],
		[
			'additional fields in nested objects, which do not replace those of the node',
			nested,
			{ options },
			{ entry: { agent: 'agent_a1', phone: '+919812345678', by: ['n8n', 7], source: 'crm' } },
			{ notify: 'no' },
		],
	])('sends %s', async (_what, details, parameters, sent, query) => {
		service()
			.post(PATH, { ...sent })
			.query({ ...query })
			.reply(200, DONE);
		expect(await add.records(parameters, { credential: withPart({ 'dnd.add': details }) })).toEqual(
			[{ message: 'Done' }],
		);
	});

	test('sends items one after another, and a stopped run reports what was added', async () => {
		service().post(PATH).times(2).reply(200, DONE);
		service()
			.post(PATH)
			.reply(422, { success: false, errors: ['already listed'] });
		const items = Array.from({ length: 4 }, (_, i) => ({ phone: `981234567${i}` }));
		const stopped = await add.errorOf({ phone: '={{ $json.phone }}' }, { items, credential });
		expect(stopped.message).toBe('The service rejected the request [row 3]');
		expect(stopped.description).toContain('Completed in this run: rows 1–2.');
	});

	test('for an unknown outcome, says how to see whether the number was added', async () => {
		service().post(PATH).reply(502, '');
		expect(await add.errorOf({}, { credential })).toMatchObject({
			message: expect.stringContaining('the outcome is unknown (+919812345678)'),
			description: expect.stringContaining('check whether +919812345678 is on the list'),
		});
	});
});

describe('Remove', () => {
	test('sends the phone in the body, the agent in the query, and additional fields', async () => {
		service()
			.delete(PATH, { phone: '9812345678', why: 'came back' })
			.query({ remove_agent: 'agent_a1', force: 'true' })
			.reply(200, DONE);
		const placed = { body: { phone: '{phone}' }, query: { remove_agent: '{agent}' } };
		const options = {
			additionalBodyFields: { why: 'came back' },
			additionalQueryParameters: { force: true },
		};
		const setting = { credential: withPart({ 'dnd.remove': placed }) };
		expect(await remove.records({ options }, setting)).toMatchObject([{ deleted: true }]);
	});

	test("'Ignore If Not Listed' ignores no other error", async () => {
		service().delete(PATH).query(true).reply(422, { success: false, error: 'agent_not_found' });
		expect(await remove.errorOf({ treatNotListedAsDone: true }, { credential })).toMatchObject({
			message: expect.stringContaining('no agent with this ID'),
		});
	});
});

describe('Check of one number', () => {
	const items = [{ phone: '9812345678' }];

	test.each<[phone: string, searched: string, kept: string[], listed: string | undefined]>([
		['98123 45678', '78', ['+9198123 456780', '+919812345678'], '+919812345678'],
		['+44 (0)20 7946 0958', '58', ['+4402079460958'], '+4402079460958'],
		// In groups, as people write it.
		['+33612345678', '78', ['06 12 34 56 79', '+33 6 12 34 56 78'], '+33 6 12 34 56 78'],
		// Only ends alike.
		['9812345678', '78', ['+919912345678'], undefined],
	])(
		'%s: the service filters, and the node compares the digits',
		async (phone, searched, kept, listed) => {
			list({ list_phone: searched }).reply(200, listOf(...kept));
			const more = phone.slice(-6);
			const containing = kept.filter((one) => one.includes(more));
			if (listed === undefined) list({ list_phone: more }).reply(200, listOf(...containing));
			expect(await check.records({}, { items: [{ phone }], credential })).toEqual([
				expect.objectContaining({ phone, on_dnd: listed !== undefined, dnd_phone: listed ?? null }),
			]);
		},
	);

	test('searches for more digits if the service finds nothing with two', async () => {
		list({ list_phone: '78' }).reply(200, listOf());
		list({ list_phone: '345678' }).reply(200, listOf('+919812345678'));
		expect(await check.records({}, { items, credential })).toMatchObject([{ on_dnd: true }]);
	});

	test('sends a page size that the service needs', async () => {
		const query = { list_agent: '{agent}', n: '{phone}', p: '{page}', size: '{pageSize}' };
		list({ n: '78', size: 100 }).reply(200, listOf('+919812345678'));
		const setting = { items, credential: withPart({ 'dnd.list': { query } }) };
		expect(await check.records({}, setting)).toMatchObject([{ on_dnd: true }]);
	});

	test('does not use a list that also has numbers of another agent', async () => {
		const data = [entry('+919812345678'), { ...entry('+919912345678'), agent_uuid: 'b2' }];
		list({ list_phone: '78' }).reply(200, { ...listOf(), data });
		expect(await check.errorOf({}, { items, credential })).toMatchObject({
			message: 'The service returned numbers of another agent than the requested one',
			description: expect.stringContaining('check "{agent}" in "dnd.list"'),
		});
	});

	const pageOf = (current_page: number, ...data: object[]) => ({
		...listOf(),
		data,
		meta: { current_page, total_pages: 2 },
	});

	test('reads all pages once, also if the first one is empty', async () => {
		list({ list_phone: '78' }).reply(200, pageOf(1));
		list({ list_phone: '78', list_page: 2 }).reply(200, pageOf(2, entry('+919812345678')));
		expect(await check.records({}, { items, credential })).toMatchObject([{ on_dnd: true }]);
	});
});

describe('Get Many', () => {
	const page = (current: number, pages: number, ...ids: number[]) => ({
		success: true,
		data: ids.map((id) => ({ id, agent_uuid: 'agent_a1', phone: `+9198${id}`, reason: 'x' })),
		meta: {
			...{ current_page: current, total_pages: pages, per_page: 2 },
			total_count: pages === 1 ? ids.length : 3,
		},
	});

	test('requests no more than needed, and a service without a page size parameter keeps its own', async () => {
		list({ list_size: 2 }).reply(200, page(1, 2, 1, 2));
		expect(await getMany.records({ limit: 2 }, { credential })).toHaveLength(2);
		list({ list_size: 100 }).reply(200, page(1, 1, 1, 2, 3));
		expect(await getMany.records({ limit: 250 }, { credential })).toHaveLength(3);
		list({}).reply(200, page(1, 1, 1, 2, 3));
		const own = withPart({ 'dnd.list': { query: { list_agent: '{agent}', p: '{page}' } } });
		expect(await getMany.records({ limit: 2 }, { credential: own })).toHaveLength(2);
	});

	test('stops if numbers are missing in each of three readings', async () => {
		const short = page(1, 1, 1, 2);
		list({ list_size: 100 })
			.times(3)
			.reply(200, { ...short, meta: { ...short.meta, total_count: 3 } });
		expect(await getMany.errorOf({ returnAll: true }, { credential })).toMatchObject({
			message: expect.stringContaining(
				'Numbers may be missing, because the do-not-disturb list changed in each of 3 readings',
			),
		});
	});

	test('reads each list once, in the order of the items, and an invalid item says why', async () => {
		list({ list_size: 50, list_phone: '1' })
			.delay(50)
			.reply(200, page(1, 1, 1, 2));
		list({ list_size: 50, list_phone: '3' }).reply(200, page(1, 1, 3));
		list({ list_size: 1, list_phone: '1' }).reply(200, page(1, 1, 1, 2));
		const limits = [50, 50, 50, 1, 0];
		const items = ['1', '3', '1', '1', '1'].map((part, i) => ({ part, limit: limits[i] ?? 0 }));
		const parameters = { phoneContains: '={{ $json.part }}', limit: '={{ $json.limit }}' };
		const setting = { items, credential, overrides: CONTINUE };
		expect(await getMany.executeItems(parameters, setting)).toMatchObject([
			{ json: { id: 1 }, pairedItem: { item: 0 } },
			{ json: { id: 2 }, pairedItem: { item: 0 } },
			{ json: { id: 3 }, pairedItem: { item: 1 } },
			{ json: { id: 1 }, pairedItem: { item: 3 } },
			{
				json: {
					error: "'Limit' must be at least 1 [row 5]",
					message: "Enter a whole number of at least 1, or turn on 'Return All'.",
				},
				pairedItem: { item: 4 },
			},
		]);
	});

	test.each([
		['zeros that may only be dialed', '0098', '0098', [1, 2, 3]],
		['digits of another script as Latin ones', '९८२', '982', [2]],
	])('Phone Contains: sends %s', async (_what, phoneContains, list_phone, ids) => {
		list({ list_size: 100, list_phone }).reply(200, page(1, 1, ...ids));
		const found = await getMany.records({ returnAll: true, phoneContains }, { credential });
		expect(found.map(({ id }) => id)).toEqual(ids);
	});

	test('Phone Contains: a service that returns other numbers ignores the parameter, which stops the node', async () => {
		list({ list_size: 100, list_phone: '982' }).reply(200, page(1, 1, 1, 2, 3));
		const parameters = { returnAll: true, phoneContains: '982' };
		expect(await getMany.errorOf(parameters, { credential })).toMatchObject({
			message: "The service returned numbers without the digits in 'Phone Contains'",
			description: expect.stringContaining("The service probably doesn't know this parameter."),
		});
	});
});

const ASK =
	/^In n8n, add "dnd\.\w+" to 'Service Profile' under 'More Settings' in the credential\. Ask your service provider for it with the questionnaire \(https:.*provider-questionnaire\.md\)\.$/;

describe('before anything is sent', () => {
	test.each([
		['Add', add, '"dnd.add"'],
		['Remove', remove, '"dnd.remove"'],
		['Check', check, '"dnd.list"'],
		['Get Many', getMany, '"dnd.list"'],
	])('%s names the part that the profile lacks, and whom to ask', async (_name, node, part) => {
		expect(await node.errorOf({ phone: '98123 45678' })).toMatchObject({
			message: expect.stringContaining(`'Service Profile' in the credential lacks ${part}`),
			description: expect.stringMatching(ASK),
		});
	});

	test.each<[string, typeof add, INodeParameters, IDataObject, string, RegExp]>([
		[
			'a reason that the profile has no place for',
			add,
			{ reason: 'asked' },
			{ 'dnd.add': { query: { a: '{agent}', n: '{phone}' } } },
			'"dnd.add" of \'Service Profile\' in the credential has no {reason}',
			/If your service has no such value, leave its field empty, unless the node needs it\.$/,
		],
		[
			'digits that the profile has no place for',
			getMany,
			{ phoneContains: '98' },
			{ 'dnd.list': { query: { a: '{agent}', p: '{page}' } } },
			'"dnd.list" of \'Service Profile\' in the credential has no {phone}',
			/^In n8n, add it there\. Ask your service provider/,
		],
		[
			'a reason that the service needs',
			add,
			{},
			{ 'dnd.add': { body: { a: '{agent}', n: '{phone}', why: '{reason}' } } },
			'The service needs {reason} for "dnd.add"',
			/^Fill in its field\. In n8n, if the node has none, write {reason\?} or a fixed value in "dnd\.add" /,
		],
		[
			'digits that the service needs',
			getMany,
			{},
			{ 'dnd.list': { query: { a: '{agent}', p: '{page}', n: '{phone}' } } },
			'The service needs {phone} for "dnd.list"',
			/^Fill in its field\. In n8n, .*"dnd\.list"/,
		],
	])('%s stops the node', async (_what, node, parameters, part, message, description) => {
		expect(await node.errorOf(parameters, { credential: withPart(part) })).toMatchObject({
			message: expect.stringContaining(message),
			description: expect.stringMatching(description),
		});
	});
});
