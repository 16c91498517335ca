import range from 'lodash/range';
import type { Query } from '../../../../nodes/core/service/http';
import { readPages } from '../../../../nodes/core/service/paging';
import { dndList } from '../../../../nodes/core/dnd/dndList';
import type { Limiter } from '../../../../nodes/core/values/keyedMutex';
import { listing } from '../service/listing';

const PROFILE = { 'dnd.list': { query: { ag: '{agent}', p: '{page}' } } };
const entries = (from: number, to: number) =>
	range(from, to).map((id) => ({ id, phone: `+9198${id}` }));
const FOUR = entries(0, 4);
/** A page of four entries, counted from 0. */
const pageOf = (index: number, meta: object) => ({
	success: true,
	data: entries(4 * index, 4 * index + 4),
	meta,
});

/** Reads a list up to a limit. Counts the requests in flight at the start of each request. */
function readFrom(respond: (query: Query) => unknown, limit = Infinity) {
	const { account, asked } = listing(respond, PROFILE);
	const inFlight: number[] = [];
	let now = 0;
	const limiter: Limiter = async (run) => {
		inFlight.push(++now);
		return await run().finally(() => now--);
	};
	const list = dndList(account, { agentUuid: 'agent_a1', limiter });
	const reading = readPages(list, limit);
	return { reading, pages: () => asked.map(({ p }) => p), inFlight };
}

describe('pages counted', () => {
	const paged =
		(first: number, total_pages: number) =>
		({ p = first }: Query) =>
			pageOf(Number(p) - first, { current_page: Number(p), total_pages });
	const asText = ({ p = 1 }: Query) =>
		pageOf(Number(p) - 1, { current_page: String(p), total_pages: '2' });
	const namedOnce = ({ p = 1 }: Query) =>
		pageOf(Number(p) - 1, { ...(p === 1 && { current_page: 1 }), total_pages: 2 });
	const inOnePage = ({ p = 1 }: Query) =>
		pageOf(Number(p) - 1, { current_page: p, total_pages: 3, total_count: 3 });

	test.each<[string, (query: Query) => unknown, unknown[], number[]]>([
		['from 1', paged(1, 2), [undefined, 2], [1, 1]],
		['from 0', paged(0, 2), [undefined, 1], [1, 1]],
		['from 1, in one page', paged(1, 1), [undefined], [1]],
		['from 0, in one page', paged(0, 1), [undefined], [1]],
		[
			'from 1, those after the first in parallel',
			paged(1, 6),
			[undefined, 2, 3, 4, 5, 6],
			[1, 1, 2, 3, 4, 5],
		],
		['as text', asText, [undefined, 2], [1, 1]],
		['in the first response only', namedOnce, [undefined, 2], [1, 1]],
		['with a total_count of fewer entries', inOnePage, [undefined, 2, 3], [1, 1, 2]],
	])('%s', async (_how, respond, pages, inFlight) => {
		const list = readFrom(respond);
		expect(await list.reading).toEqual(entries(0, 4 * pages.length));
		expect(list.pages()).toStrictEqual(pages);
		expect(list.inFlight).toEqual(inFlight);
	});
});

test.each<[string, unknown, object, unknown[]]>([
	['total_count says so', FOUR, { meta: { total_count: 4 } }, FOUR],
	['total_pages says so', FOUR, { meta: { total_pages: 1 } }, FOUR],
	['it is empty', [], {}, []],
	['it is null, and total_count is 0', null, { meta: { total_count: 0 } }, []],
	[
		'its entries are not objects',
		['+919812345678'],
		{ meta: { total_count: 1 } },
		[{ value: '+919812345678' }],
	],
])('one page is the whole list if %s', async (_name, data, more, found) => {
	const { reading, pages } = readFrom(() => ({ success: true, data, ...more }));
	expect(await reading).toEqual(found);
	expect(pages()).toHaveLength(1);
});

test('only a page with a count counts the list', async () => {
	const { reading } = readFrom(({ p = 1 }) => ({
		data: [{ id: p }],
		meta: { current_page: p, total_pages: 2, ...(p === 1 && { total_count: 2 }) },
	}));
	expect(await reading).toEqual([{ id: 1 }, { id: 2 }]);
});

const OPEN = "The response doesn't show whether the list has more pages";
const OTHER = 'The service returned another page than requested';
const metaNames = /meta with current_page and total_pages/;
const pageName = /check "\{page\}" in "dnd\.list"/;
const noList = /^In n8n, check 'Base URL' .* returns the list in data, and the response has /;

test.each<[string, (query: Query) => object, string, RegExp]>([
	['without meta', () => ({ data: FOUR }), OPEN, metaNames],
	[
		'without the number of pages',
		() => ({ data: FOUR, meta: { current_page: 1, total_count: 9 } }),
		OPEN,
		metaNames,
	],
	['without the current page', () => ({ data: FOUR, meta: { total_pages: 2 } }), OPEN, metaNames],
	[
		'that is always the first page',
		() => ({ data: FOUR, meta: { current_page: 1, total_pages: 9 } }),
		OTHER,
		pageName,
	],
	[
		'that is always a wrong page',
		({ p }) => ({ data: FOUR, meta: { current_page: p === undefined ? 1 : 10, total_pages: 9 } }),
		OTHER,
		pageName,
	],
	[
		'without a list',
		() => ({ data: {}, meta: { total_count: 0 } }),
		'The response has no list',
		noList,
	],
])('a response %s is only enough up to a limit', async (_what, respond, message, resolution) => {
	await expect(readFrom(respond).reading).rejects.toMatchObject({
		message,
		resolution: expect.stringMatching(resolution),
	});
	if (resolution !== noList) expect(await readFrom(respond, 4).reading).toEqual(FOUR);
});
