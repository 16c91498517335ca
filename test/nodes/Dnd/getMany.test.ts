import nock from 'nock';
import { service } from '../../engine';
import { DETAILS, dndHarness, PATH } from './dndHarness';

const { records, errorOf, executeItems, run } = dndHarness('getMany');
const credential = DETAILS;
const page = (current: number, pages: number, ...ids: number[]) => ({
	success: true,
	data: ids.map((id) => ({ id, agent_uuid: 'agent_a1', phone: `+9198${id}`, reason: 'x' })),
	meta: { current_page: current, total_pages: pages, total_count: 3, per_page: 2 },
});
const list = (query: object) =>
	service()
		.get(PATH)
		.query({ list_agent: 'agent_a1', ...query });

test('a limit requests no more than needed', async () => {
	list({ list_size: 2 }).reply(200, page(1, 2, 1, 2));
	expect(await records({ limit: 2 }, { credential })).toHaveLength(2);
	list({ list_size: 100 }).reply(200, page(1, 1, 1, 2, 3));
	expect(await records({ limit: 250 }, { credential })).toHaveLength(3);
});

test('Require Complete List reads a list of several pages twice, at any limit', async () => {
	for (let reading = 1; reading <= 2; reading++) {
		list({ list_size: 100 }).reply(200, page(1, 2, 1, 2));
		list({ list_size: 100, list_page: 2 }).reply(200, page(2, 2, 3));
	}
	const parameters = { limit: 2, options: { requireComplete: true } };
	expect(await records(parameters, { credential })).toHaveLength(2);
	expect(nock.isDone()).toBe(true);
});

test('a list that has fewer numbers than the service counts has a hint', async () => {
	list({ list_size: 100 }).reply(200, page(1, 1, 1, 2));
	const { data } = await run({ returnAll: true }, { credential });
	expect(data.resultData.runData.Node?.[0]?.hints).toMatchObject([
		{ message: expect.stringContaining('so numbers may be missing') },
	]);
});

test('a service without a page size parameter keeps its own', async () => {
	list({}).reply(200, page(1, 1, 1, 2, 3));
	const own = { ...credential, dndListPerPageName: '' };
	expect(await records({ limit: 2 }, { credential: own })).toHaveLength(2);
});

test('items for different lists each get their own list, in order, and an invalid one says why', async () => {
	list({ list_size: 50, list_phone: '1' })
		.delay(50)
		.reply(200, page(1, 1, 1, 2));
	list({ list_size: 50, list_phone: '3' }).reply(200, page(1, 1, 3));
	list({ list_size: 1, list_phone: '1' }).reply(200, page(1, 1, 1, 2));
	const limits = [50, 50, 50, 1, 0];
	const items = ['1', '3', '1', '1', '1'].map((part, i) => ({ part, limit: limits[i] ?? 0 }));
	const parameters = { phoneContains: '={{ $json.part }}', limit: '={{ $json.limit }}' };
	const overrides = { onError: 'continueRegularOutput' } as const;
	const found = await executeItems(parameters, { items, credential, overrides });
	expect(found).toMatchObject([
		{ json: { id: 1 }, pairedItem: { item: 0 } },
		{ json: { id: 2 }, pairedItem: { item: 0 } },
		{ json: { id: 3 }, pairedItem: { item: 1 } },
		{ json: { id: 1 }, pairedItem: { item: 3 } },
		{
			json: {
				error: "'Limit' must be at least 1 [row 5]",
				message: "Enter a whole number of at least 1. To return all results, turn on 'Return All'.",
			},
			pairedItem: { item: 4 },
		},
	]);
});

describe('before anything is sent', () => {
	test.each([
		['dndListAgentName', {}, 'Get List: Agent Parameter Name'],
		['dndListPageName', {}, 'Get List: Page Parameter Name'],
		['dndListPhoneName', { phoneContains: '98' }, 'Get List: Phone Filter Name'],
		[
			'dndListPageName dndListPhoneName',
			{ phoneContains: '98' },
			"Get List: Page Parameter Name' and 'Get List: Phone Filter Name",
		],
	])('%s is missing', async (names, parameters, label) => {
		const missing = Object.fromEntries(names.split(' ').map((name) => [name, '']));
		expect(await errorOf(parameters, { credential: { ...credential, ...missing } })).toMatchObject({
			message: 'The credential lacks settings for do-not-disturb lists',
			description: expect.stringContaining(` fill in '${label}'.`),
		});
	});

	test('an invalid limit', async () => {
		expect(await errorOf({ limit: -1 }, { credential })).toMatchObject({
			message: `'Limit' must be a whole number (got "-1")`,
		});
	});
});

test('Phone Contains: a service that returns other numbers ignores the parameter, which stops the node', async () => {
	list({ list_size: 100, list_phone: '982' }).reply(200, page(1, 1, 1, 2, 3));
	expect(await errorOf({ returnAll: true, phoneContains: '982' }, { credential })).toMatchObject({
		message: "The service returned numbers without the digits in 'Phone Contains'",
		description: expect.stringContaining("The service probably doesn't know this parameter."),
	});
});

test('Phone Contains: zeros at the beginning may be those that are only dialed', async () => {
	list({ list_size: 100, list_phone: '0098' }).reply(200, page(1, 1, 1, 2, 3));
	const parameters = { returnAll: true, phoneContains: '0098' };
	expect(await records(parameters, { credential })).toHaveLength(3);
});

test('Phone Contains in digits of another script is sent in Latin digits', async () => {
	list({ list_size: 100, list_phone: '982' }).reply(200, page(1, 1, 1));
	const parameters = { returnAll: true, phoneContains: '९८२' };
	await expect(records(parameters, { credential })).resolves.toBeDefined();
});

test('Require Complete List stops the node if numbers are missing in each of three readings', async () => {
	for (let reading = 1; reading <= 3; reading++) {
		list({ list_size: 100 }).reply(200, page(1, 1, 1, 2));
	}
	const parameters = { returnAll: true, options: { requireComplete: true } };
	expect(await errorOf(parameters, { credential })).toMatchObject({
		message: expect.stringContaining(
			'Numbers may be missing, because the do-not-disturb list changed in each of 3 readings',
		),
	});
});
