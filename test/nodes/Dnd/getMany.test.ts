import range from 'lodash/range';
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

describe('a list that changes while it is read', () => {
	const own = { ...credential, dndListPerPageName: '' };
	/** Before each request, a number is added at the start of the list. */
	const growing = () => {
		let newest = 10;
		service()
			.get(PATH)
			.query(true)
			.times(100)
			.reply((uri) => {
				const at = Number(
					new URL(uri, 'http://service.invalid').searchParams.get('list_page') ?? 1,
				);
				const all = range(++newest, 0);
				const response = page(at, Math.ceil(all.length / 3), ...all.slice(3 * at - 3, 3 * at));
				return [200, { ...response, meta: { ...response.meta, total_count: all.length } }];
			});
	};

	test('returns what was read, with a hint', async () => {
		growing();
		const { data } = await run({ returnAll: true }, { credential: own });
		nock.cleanAll();
		const [done] = data.resultData.runData.Node ?? [];
		expect(done?.hints?.map(({ message }) => message)).toEqual([
			expect.stringContaining('so numbers may be missing'),
		]);
		const ids = done?.data?.main?.[0]?.map(({ json }) => json.id) ?? [];
		for (const id of range(1, 11)) expect(ids).toContain(id);
	});

	test('stops the workflow with Require Complete List', async () => {
		growing();
		const parameters = { returnAll: true, options: { requireComplete: true } };
		const { message, description } = await errorOf(parameters, { credential: own });
		nock.cleanAll();
		expect(message).toContain('Numbers may be missing');
		expect(description).toContain(
			'Execute the node again when fewer numbers are added and removed',
		);
	});
});

test('a service without a page size parameter keeps its own', async () => {
	list({}).reply(200, page(1, 1, 1, 2, 3));
	const own = { ...credential, dndListPerPageName: '' };
	expect(await records({ limit: 2 }, { credential: own })).toHaveLength(2);
});

test('items with the same agent share one read', async () => {
	list({ list_size: 50 }).reply(200, page(1, 1, 1));
	const found = await executeItems({}, { items: [{}, {}], credential });
	expect(found).toMatchObject([{ json: { id: 1 }, pairedItem: [{ item: 0 }, { item: 1 }] }]);
	expect(found).toHaveLength(1);
});

describe('items for different lists', () => {
	const perItem = { phoneContains: '={{ $json.part }}', limit: '={{ $json.limit }}' };

	test('each get their own list, in order', async () => {
		list({ list_size: 50, list_phone: '1' })
			.delay(50)
			.reply(200, page(1, 1, 1, 2));
		list({ list_size: 50, list_phone: '3' }).reply(200, page(1, 1, 3));
		list({ list_size: 1, list_phone: '1' }).reply(200, page(1, 1, 1, 2));
		const items = [
			{ part: '1', limit: 50 },
			{ part: '3', limit: 50 },
			{ part: '1', limit: 50 },
			{ part: '1', limit: 1 },
		];
		const found = await executeItems(perItem, { items, credential });
		expect(found.map(({ json, pairedItem }) => [json.id, pairedItem])).toEqual([
			[1, [{ item: 0 }, { item: 2 }]],
			[2, [{ item: 0 }, { item: 2 }]],
			[3, [{ item: 1 }]],
			[1, [{ item: 3 }]],
		]);
	});

	test('an invalid one says why, and the others continue', async () => {
		list({ list_size: 50, list_phone: '1' }).reply(200, page(1, 1, 1));
		const items = [
			{ part: '1', limit: 50 },
			{ part: '1', limit: 0 },
			{ part: '1', limit: 50 },
		];
		const overrides = { onError: 'continueRegularOutput' } as const;
		const found = await executeItems(perItem, { items, credential, overrides });
		expect(found).toMatchObject([
			{ json: { id: 1 }, pairedItem: [{ item: 0 }, { item: 2 }] },
			{
				json: {
					error: "'Limit' must be at least 1 [item 1]",
					message:
						"Enter a whole number of at least 1. To return all results, turn on 'Return All'.",
				},
				pairedItem: { item: 1 },
			},
		]);
	});
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
	])('%s is missing', async (name, parameters, label) => {
		expect(await errorOf(parameters, { credential: { ...credential, [name]: '' } })).toMatchObject({
			message: 'The credential lacks settings for do-not-disturb lists',
			description: expect.stringContaining(` fill in '${label}'.`),
		});
	});

	test.each([
		[{ developerSettings: { pageSize: 101 } }, "'Page Size' must be at most 100 (got 101)"],
		[{ developerSettings: { pageSize: 0 } }, "'Page Size' must be at least 1"],
		[{ limit: -1 }, `'Limit' must be a whole number (got "-1")`],
	])('%p', async (parameters, message) => {
		expect(await errorOf(parameters, { credential })).toMatchObject({ message });
	});
});
