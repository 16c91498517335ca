import range from 'lodash/range';
import type { INodeParameters } from 'n8n-workflow';
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

test.each<[string, INodeParameters]>([
	['is returned as it was read, with a hint', {}],
	['stops the workflow with Require Complete List', { options: { requireComplete: true } }],
])('a list that changes while it is read %s', async (_what, parameters) => {
	let newest = 10;
	/** Before each request, a number is added at the start of the list. */
	const respond = (uri: string) => {
		const query = new URL(uri, 'http://service.invalid').searchParams;
		const at = Number(query.get('list_page') ?? 1);
		const all = range(++newest, 0);
		const response = page(at, Math.ceil(all.length / 3), ...all.slice(3 * at - 3, 3 * at));
		return [200, { ...response, meta: { ...response.meta, total_count: all.length } }] as const;
	};
	service().get(PATH).query(true).times(100).reply(respond);
	const own = { ...credential, dndListPerPageName: '' };
	const { data } = await run({ returnAll: true, ...parameters }, { credential: own });
	nock.cleanAll();
	const { error, runData } = data.resultData;
	const [done] = runData.Node ?? [];
	const ids = done?.data?.main?.[0]?.map(({ json }) => json.id) ?? [];
	if (parameters.options === undefined) {
		expect(done?.hints).toMatchObject([
			{ message: expect.stringContaining('so numbers may be missing') },
		]);
		expect(ids).toEqual(expect.arrayContaining(range(1, 11)));
	} else {
		expect(error?.message).toContain('Numbers may be missing');
		expect(error?.description).toContain(
			'Execute the node again when fewer numbers are added and removed',
		);
	}
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
		{ json: { id: 1 }, pairedItem: [{ item: 0 }, { item: 2 }] },
		{ json: { id: 2 }, pairedItem: [{ item: 0 }, { item: 2 }] },
		{ json: { id: 3 }, pairedItem: [{ item: 1 }] },
		{ json: { id: 1 }, pairedItem: [{ item: 3 }] },
		{
			json: {
				error: "'Limit' must be at least 1 [item 4]",
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
			'dndListPerPageName',
			{ developerSettings: { pageSize: 9 } },
			'Get List: Page Size Parameter Name',
		],
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

	test.each([
		[{ developerSettings: { pageSize: 101 } }, "'Page Size' must be at most 100 (got 101)"],
		[{ limit: -1 }, `'Limit' must be a whole number (got "-1")`],
	])('%p', async (parameters, message) => {
		expect(await errorOf(parameters, { credential })).toMatchObject({ message });
	});
});
