import range from 'lodash/range';
import { dndList } from '../../../../nodes/shared/dnd/dndList';
import type { Limiter } from '../../../../nodes/shared/keyedMutex';
import type { Query } from '../../../../nodes/shared/api/http';
import { readPages } from '../../../../nodes/shared/api/paging';
import { ApiMapping } from '../../../../nodes/shared/apiMapping';
import { listing } from '../../shared/api/listing';

const MAPPING = new ApiMapping({ dndListAgentName: 'ag', dndListPageName: 'p' });
const entries = (from: number, to: number) =>
	range(from, to).map((id) => ({ id, phone: `+9198${id}` }));
const FOUR = entries(0, 4);

/** Reads a list up to a limit. Counts the requests in flight at the start of each request. */
async function readFrom(respond: (query: Query) => unknown, limit = Infinity) {
	const { client, asked } = listing(respond);
	const inFlight: number[] = [];
	let now = 0;
	const limiter: Limiter = async (run) => {
		inFlight.push(++now);
		return await run().finally(() => now--);
	};
	const list = dndList(client, { agentUuid: 'agent_a1', limiter }, MAPPING);
	const reading = readPages(list, limit);
	return { reading, pages: () => asked.map(({ p }) => p), inFlight };
}

/** Pages of four entries. */
const paged =
	(first: number, pages: number) =>
	({ p = first }: Query) => {
		const index = Number(p) - first;
		const meta = { current_page: first + index, total_pages: pages };
		return { success: true, data: entries(4 * index, 4 * index + 4), meta };
	};

test.each<[string, (query: Query) => unknown, number, unknown[], number[]]>([
	['from 1', paged(1, 2), 8, [undefined, 2], [1, 1]],
	['from 0', paged(0, 2), 8, [undefined, 1], [1, 1]],
	['from 1, in one page', paged(1, 1), 4, [undefined], [1]],
	['from 0, in one page', paged(0, 1), 4, [undefined], [1]],
	[
		'from 1, with the pages after the first one in parallel',
		paged(1, 6),
		24,
		[undefined, 2, 3, 4, 5, 6],
		[1, 1, 2, 3, 4, 5],
	],
	[
		'as text',
		({ p = 1 }) => ({
			data: entries(4 * Number(p) - 4, 4 * Number(p)),
			meta: { current_page: String(p), total_pages: '2' },
		}),
		8,
		[undefined, 2],
		[1, 1],
	],
])('pages counted %s', async (_how, respond, count, pages, inFlight) => {
	const list = await readFrom(respond);
	expect((await list.reading).entries).toEqual(entries(0, count));
	expect(list.pages()).toStrictEqual(pages);
	expect(list.inFlight).toEqual(inFlight);
});

test.each([
	['total_count says so', FOUR, { meta: { total_count: 4 } }],
	['it is empty', [], {}],
	['it is null, and total_count is 0', null, { meta: { total_count: 0 } }],
	['total_pages says so', FOUR, { meta: { total_pages: 1 } }],
])('one page is the whole list if %s', async (_name, data, more) => {
	const { reading, pages } = await readFrom(() => ({ success: true, data, ...more }));
	expect(await reading).toMatchObject({ entries: data ?? [], isComplete: true });
	expect(pages()).toHaveLength(1);
});

test.each([
	['without meta', {}],
	['without the number of pages', { meta: { current_page: 1, total_count: 9 } }],
	['without the current page', { meta: { total_pages: 2 } }],
])('a response %s may have more pages, so it is only enough up to a limit', async (_name, more) => {
	const respond = () => ({ success: true, data: FOUR, ...more });
	await expect((await readFrom(respond)).reading).rejects.toMatchObject({
		message: "The response doesn't show whether the list has more pages",
		resolution: expect.stringContaining('meta with current_page and total_pages'),
	});
	expect((await (await readFrom(respond, 4)).reading).entries).toHaveLength(4);
});

test.each([
	['ignores the page parameter', () => 1],
	['always returns a wrong page', (p: unknown) => (p === undefined ? 1 : 10)],
])('a service that %s is an error', async (_what, shown) => {
	const { reading } = await readFrom(({ p }) => ({
		data: FOUR,
		meta: { current_page: shown(p), total_pages: 9 },
	}));
	await expect(reading).rejects.toMatchObject({
		message: 'The service returned another page than requested',
		resolution: expect.stringContaining('Get List: Page Parameter Name'),
	});
});

test.each([3, 8])('a total_count of %d in 12 does not end the list', async (total_count) => {
	const { reading } = await readFrom(({ p = 1 }) => ({
		data: entries(4 * Number(p) - 4, 4 * Number(p)),
		meta: { current_page: p, total_pages: 3, total_count },
	}));
	expect((await reading).entries).toEqual(entries(0, 12));
});

test('only a page with a count counts the list', async () => {
	const respond = ({ p = 1 }: Query) => ({
		data: [{ id: p }],
		meta: { current_page: p, total_pages: 2, ...(p === 1 && { total_count: 2 }) },
	});
	expect(await (await readFrom(respond)).reading).toMatchObject({ isComplete: true, pages: 2 });
});

test('an entry that is not an object is returned as a value', async () => {
	const { reading } = await readFrom(() => ({ data: ['+919812345678'], meta: { total_count: 1 } }));
	expect((await reading).entries).toEqual([{ value: '+919812345678' }]);
});

test('a response without a list is an error', async () => {
	const { reading } = await readFrom(() => ({ data: {}, meta: { total_count: 0 } }));
	await expect(reading).rejects.toMatchObject({
		message: 'The response has no list',
		resolution: expect.stringMatching(
			/Check 'Base URL' .* returns the list in data\. The response has /,
		),
	});
});
