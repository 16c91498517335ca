import range from 'lodash/range';
import { readDndList } from '../../../../nodes/Dnd/list/dndList';
import { ApiMapping } from '../../../../nodes/shared/apiMapping';
import { comparedDigits } from '../../../../nodes/Dnd/list/phoneMatch';
import { listing } from '../../shared/api/listing';

const NAMES = {
	dndListAgentName: 'ag',
	dndListPhoneName: 'ph',
	dndListPageName: 'p',
	dndListPerPageName: 'n',
};
const entriesOf = async (...[client, request, details]: Parameters<typeof readDndList>) =>
	(await readDndList(client, request, details)).entries;
const REQUEST = { agentUuid: 'agent_a1', limit: Infinity };
const entries = (from: number, to: number) =>
	range(from, to).map((id) => ({ id, phone: `+9198${id}` }));

const paged = (first: number) =>
	listing(({ p = first }) => {
		const start = 4 * (Number(p) - first);
		const meta = { current_page: Number(p), total_pages: 2, per_page: 4 };
		return { success: true, data: entries(start, start + 4), meta };
	});

describe('the pages', () => {
	test.each([
		['1', 1, [{ ag: 'agent_a1' }, { ag: 'agent_a1', p: 2 }]],
		['0', 0, [{ ag: 'agent_a1' }, { ag: 'agent_a1', p: 1 }]],
	])('counted from %s: reads until the last page', async (_from, first, asked) => {
		const list = paged(first);
		expect(await entriesOf(list.client, REQUEST, new ApiMapping(NAMES))).toEqual(entries(0, 8));
		expect(list.asked).toStrictEqual(asked);
	});

	test.each([0, 1])('a list of one page, counted from %p, is one request', async (current_page) => {
		const meta = { current_page, total_pages: 1 };
		const { client, asked } = listing(() => ({ success: true, data: entries(0, 4), meta }));
		expect(await entriesOf(client, REQUEST, new ApiMapping(NAMES))).toHaveLength(4);
		expect(asked).toHaveLength(1);
	});

	test('shown from 1 and requested from 0: reads every page', async () => {
		const { client, asked } = listing(({ p = 0 }) => ({
			success: true,
			data: entries(4 * Number(p), 4 * Number(p) + 4),
			meta: { current_page: Number(p) + 1, total_pages: 3 },
		}));
		expect(await entriesOf(client, REQUEST, new ApiMapping(NAMES))).toEqual(entries(0, 12));
		expect(asked.map(({ p }) => p)).toEqual([undefined, 2, 1, 2]);
	});

	test('after the second one are requested together', async () => {
		let together = 0;
		const most: number[] = [];
		const { client, asked } = listing(({ p = 0 }) => ({
			success: true,
			data: entries(4 * Number(p), 4 * Number(p) + 4),
			meta: { current_page: Number(p) + 1, total_pages: 6 },
		}));
		const limiter = async <T>(run: () => Promise<T>) => {
			most.push(++together);
			return await run().finally(() => together--);
		};
		const all = await entriesOf(client, { ...REQUEST, limiter }, new ApiMapping(NAMES));
		expect(all).toEqual(entries(0, 24));
		expect(asked.map(({ p }) => p)).toEqual([undefined, 2, 1, 2, 3, 4, 5]);
		expect(most).toEqual([1, 1, 1, 2, 3, 4]);
	});

	test('numbers in meta may be text', async () => {
		const { client } = listing(({ p = '1' }) => {
			const start = 4 * (Number(p) - 1);
			const meta = { current_page: String(p), total_pages: '2' };
			return { success: true, data: entries(start, start + 4), meta };
		});
		expect(await entriesOf(client, REQUEST, new ApiMapping(NAMES))).toHaveLength(8);
	});

	test('a limit ends the read', async () => {
		const { client, asked } = paged(1);
		const request = { ...REQUEST, limit: 3, pageSize: 3, phone: '98' };
		expect(await entriesOf(client, request, new ApiMapping(NAMES))).toEqual(entries(0, 3));
		expect(asked).toEqual([{ ag: 'agent_a1', n: 3, ph: '98' }]);
	});

	test.each([
		['no meta', {}],
		['no number of pages', { meta: { current_page: 1, total_count: 9 } }],
		['no current page', { meta: { total_pages: 2 } }],
	])('%s: a list that may have more pages is not complete', async (_name, more) => {
		const { client } = listing(() => ({ success: true, data: entries(0, 4), ...more }));
		const read = async (limit: number) =>
			await entriesOf(client, { ...REQUEST, limit }, new ApiMapping(NAMES));
		await expect(read(Infinity)).rejects.toMatchObject({
			message: "The response doesn't show whether the list has more pages",
			resolution: expect.stringContaining('meta with current_page and total_pages'),
		});
		expect(await read(4)).toHaveLength(4);
	});

	test.each([
		['total_count says so', entries(0, 4), { meta: { total_count: 4 } }],
		['it is empty', [], {}],
		['total_pages says so', entries(0, 4), { meta: { total_pages: 1 } }],
	])('a list is complete if %s', async (_name, data, more) => {
		const { client, asked } = listing(() => ({ success: true, data, ...more }));
		expect(await entriesOf(client, REQUEST, new ApiMapping(NAMES))).toEqual(data);
		expect(asked).toHaveLength(1);
	});

	test('reports a service that ignores the page parameter', async () => {
		const meta = { current_page: 1, total_pages: 9 };
		const { client, asked } = listing(() => ({ data: entries(0, 4), meta }));
		await expect(entriesOf(client, REQUEST, new ApiMapping(NAMES))).rejects.toMatchObject({
			message: 'The service returned another page than requested',
			resolution: expect.stringContaining('Get List: Page Parameter Name'),
		});
		expect(asked).toHaveLength(2);
	});

	test('reports a repeatedly wrong page', async () => {
		const { client, asked } = listing(({ p }) => {
			if (asked.length > 5) throw new Error('Asked without end');
			return {
				data: entries(0, 4),
				meta: { current_page: p === undefined ? 1 : 9, total_pages: 9 },
			};
		});
		await expect(entriesOf(client, REQUEST, new ApiMapping(NAMES))).rejects.toThrow(
			'The service returned another page than requested',
		);
		expect(asked).toHaveLength(3);
	});

	test('a response without a list', async () => {
		const { client } = listing(() => ({ success: true, data: {} }));
		await expect(entriesOf(client, REQUEST, new ApiMapping(NAMES))).rejects.toMatchObject({
			message: 'The response has no list of numbers',
			resolution: expect.stringMatching(
				/Check 'Base URL' .* returns the list in data\. The response has /,
			),
		});
	});

	test('an entry that is not an object is returned as a value', async () => {
		const data = ['+919812345678'];
		const { client } = listing(() => ({ data, meta: { total_count: 1 } }));
		expect(await entriesOf(client, REQUEST, new ApiMapping(NAMES))).toEqual([
			{ value: '+919812345678' },
		]);
	});

	test('reports everything that is missing together', async () => {
		const { client } = paged(1);
		const request = { ...REQUEST, phone: '98', pageSize: 9 };
		await expect(entriesOf(client, request, new ApiMapping({}))).rejects.toMatchObject({
			resolution: expect.stringContaining(
				"'Get List: Agent Parameter Name', 'Get List: Phone Filter Name', and 'Get List: Page Size Parameter Name'",
			),
		});
	});

	test.each([
		[{}, REQUEST, 'Get List: Agent Parameter Name'],
		[{ dndListAgentName: 'a' }, { ...REQUEST, phone: '98' }, 'Get List: Phone Filter Name'],
		[{ dndListAgentName: 'a' }, { ...REQUEST, pageSize: 9 }, 'Get List: Page Size Parameter Name'],
	])('a missing mapping stops before anything is sent: %p', async (details, request, label) => {
		const { client, asked } = paged(1);
		await expect(entriesOf(client, request, new ApiMapping(details))).rejects.toMatchObject({
			resolution: expect.stringContaining(label),
		});
		expect(asked).toEqual([]);
	});
});

describe('the comparison', () => {
	test.each([
		['+919812345678', '9812345678'],
		['919812345678', '9812345678'],
		['09812345678', '9812345678'],
		['9812345678', '9812345678'],
		['+12025550143', '12025550143'],
		['12025550143', '12025550143'],
		['+911123456789', '1123456789'],
	])('%s has the key %s', (phone, key) => expect(comparedDigits(phone)).toBe(key));
});
