import range from 'lodash/range';
import { readAllCalls, readCalls, testCallList } from '../../../../nodes/shared/calls/callList';
import type { Limiter } from '../../../../nodes/shared/keyedMutex';
import type { Query } from '../../../../nodes/shared/api/http';
import { READS_AT_ONCE } from '../../../../nodes/shared/api/limits';
import { ApiMapping, type MappingName } from '../../../../nodes/shared/apiMapping';
import type { ApiClient } from '../../../../nodes/shared/api/client';
import { listing } from '../api/listing';

type Details = { [name in MappingName]?: string };

const PAGED: Details = {
	callListPath: 'data.calls',
	callListPaging: 'pageFromOne',
	callListPageName: 'p',
};
const calls = (from: number, to: number) =>
	range(from, Math.max(from, to)).map((n) => ({ call_id: `call-${n}` }));

/** Pages of 3 out of 7 calls. */
const paged = (first: number) =>
	listing(({ p = first }) => {
		const start = 3 * (Number(p) - first);
		return { success: true, data: { calls: calls(start, Math.min(7, start + 3)) } };
	});

const read = async (
	{ client }: { client: ApiClient },
	details: Details,
	over: { limit?: number; pageSize?: number; query?: Query; limiter?: Limiter } = {},
) => {
	const request = { query: {}, limit: Infinity, ...over };
	return (await readCalls(client, request, new ApiMapping(details))).calls;
};

describe('pagination', () => {
	test.each([
		['pageFromOne', 1, [{}, { p: 2 }, { p: 3 }, { p: 4 }]],
		['pageFromZero', 0, [{}, { p: 1 }, { p: 2 }, { p: 3 }]],
	])('by %s, up to an empty page', async (callListPaging, first, asked) => {
		const list = paged(first);
		expect(await read(list, { ...PAGED, callListPaging })).toEqual(calls(0, 7));
		expect(list.asked).toEqual(asked);
	});

	test('by offset', async () => {
		const list = listing(({ o = 0 }) => ({
			data: { calls: calls(Number(o), Math.min(7, Number(o) + 3)) },
		}));
		const details = { ...PAGED, callListPaging: 'offset', callListPageName: 'o' };
		expect(await read(list, details)).toEqual(calls(0, 7));
		expect(list.asked).toEqual([{}, { o: 3 }, { o: 6 }, { o: 7 }]);
	});

	test.each([
		['pageFromOne', (at: number) => 3 * (at - 1), [{}, { p: 2 }, { p: 3 }, { p: 4 }, { p: 5 }]],
		['pageFromZero', (at: number) => 3 * at, [{}, { p: 1 }, { p: 2 }, { p: 3 }, { p: 4 }]],
		['offset', (at: number) => at, [{}, { p: 3 }, { p: 6 }, { p: 9 }, { p: 12 }]],
	])('by %s with a total: further pages in parallel', async (callListPaging, startOf, asked) => {
		let together = 0;
		let most = 0;
		const list = listing(({ p }) => {
			const start = p === undefined ? 0 : startOf(Number(p));
			return { data: { calls: calls(start, Math.min(14, start + 3)), total: 14 } };
		});
		const limiter = async <T>(run: () => Promise<T>) => {
			most = Math.max(most, ++together);
			return await run().finally(() => together--);
		};
		const details = { ...PAGED, callListPaging, callListTotalPath: 'data.total' };
		expect(await read(list, details, { limiter })).toEqual(calls(0, 14));
		expect(list.asked).toEqual(asked);
		expect(most).toBe(4);
	});

	test.each([
		['cursor', 'c', (at: number) => String(at), [{}, { c: '3' }, { c: '6' }]],
		['nextLink', undefined, (at: number) => `?c=${at}`, [{}, { c: '3' }, { c: '6' }]],
	])(
		'by %s with a total: each page after the one before',
		async (callListPaging, callListPageName, next, asked) => {
			const list = listing(({ c = 0 }) => {
				const end = Math.min(9, Number(c) + 3);
				return { data: { calls: calls(Number(c), end), total: 9 }, next: next(end) };
			});
			const details = {
				callListPath: 'data.calls',
				callListPaging,
				...(callListPageName !== undefined && { callListPageName }),
				callListCursorPath: 'next',
				callListTotalPath: 'data.total',
			};
			expect(await read(list, details)).toEqual(calls(0, 9));
			expect(list.asked).toEqual(asked);
		},
	);

	test('by offset with shorter pages: each call once', async () => {
		const list = listing(({ o = 0 }) => {
			const start = Number(o);
			return { data: { calls: calls(start, Math.min(9, start + (start < 3 ? 3 : 2))), total: 9 } };
		});
		const details = { ...PAGED, callListPaging: 'offset', callListPageName: 'o' };
		expect(await read(list, { ...details, callListTotalPath: 'data.total' })).toEqual(calls(0, 9));
	});

	test.each([null, '', undefined])('by cursor, which ends in %p', async (end) => {
		const list = listing(({ c }) =>
			c === undefined
				? { data: { calls: calls(0, 3) }, next: { cursor: 'abc' } }
				: { data: { calls: calls(3, 5) }, next: { cursor: end } },
		);
		const details = {
			...PAGED,
			callListPaging: 'cursor',
			callListPageName: 'c',
			callListCursorPath: 'next.cursor',
		};
		expect(await read(list, details)).toEqual(calls(0, 5));
		expect(list.asked).toEqual([{}, { c: 'abc' }]);
	});

	test('by the last call of the page', async () => {
		const list = listing(({ after = 'call--1' }) => {
			const from = Number(String(after).slice('call-'.length)) + 1;
			return { data: { calls: calls(from, Math.min(5, from + 3)) } };
		});
		const details = {
			...PAGED,
			callListPaging: 'cursor',
			callListPageName: 'after',
			callListCursorPath: 'data.calls.-1.call_id',
		};
		expect(await read(list, details)).toEqual(calls(0, 5));
		expect(list.asked).toEqual([{}, { after: 'call-2' }, { after: 'call-4' }]);
	});

	describe('by a link to the next page, used unchanged:', () => {
		const details = {
			callListPath: 'data.calls',
			callListPaging: 'nextLink',
			callListCursorPath: 'links.next',
			callListPageSizeName: 'n',
		};
		/** Each page but the last one has its link. */
		const linked = (...next: string[]) => {
			const list: ReturnType<typeof listing> = listing(() => {
				const page = list.asked.length - 1;
				return {
					data: { calls: calls(3 * page, 3 * page + 3) },
					links: { next: next[page] ?? null },
				};
			});
			return list;
		};

		test.each([
			[
				'a whole URL',
				'https://voice.example/v1/calls?page=2',
				'https://voice.example/v1/calls?page=2',
			],
			['another path', '/v1/calls/pages/2', 'https://voice.example/v1/calls/pages/2'],
			['a path beside this one', 'pages/2', 'https://voice.example/v1/pages/2'],
			['a query alone', '?page=2&tag=a&tag=b', 'https://voice.example/v1/calls?page=2&tag=a&tag=b'],
		])('%s', async (_name, next, followed) => {
			const list = linked(next);
			const over = { query: { status: 'picked' }, pageSize: 3 };
			expect(await read(list, details, over)).toEqual(calls(0, 6));
			expect(list.asked[0]).toEqual({ status: 'picked', n: 3 });
			expect(list.links).toEqual([followed]);
		});

		test('relative to the current page', async () => {
			const list = linked('/v1/calls/pages/2', '3', '?at=4');
			expect(await read(list, details)).toEqual(calls(0, 12));
			expect(list.links.map((link) => link.slice('https://voice.example'.length))).toEqual([
				'/v1/calls/pages/2',
				'/v1/calls/pages/3',
				'/v1/calls/pages/3?at=4',
			]);
		});

		test('without the filters of the first request', async () => {
			const list = linked('?token=abc');
			const request = {
				query: { status: 'picked' },
				limit: Infinity,
				additions: { query: { locale: 'en' } },
			};
			await readCalls(list.client, request, new ApiMapping(details));
			expect(list.asked).toEqual([{ locale: 'en', status: 'picked' }, { token: 'abc' }]);
		});
	});

	test('an invalid link is an error', async () => {
		const list = listing(() => ({ data: { calls: calls(0, 3) }, next: 'http://[' }));
		const details = {
			callListPath: 'data.calls',
			callListPaging: 'nextLink',
			callListCursorPath: 'next',
		};
		await expect(read(list, details)).rejects.toThrow(
			'The response has no link to the next page at "next"',
		);
	});

	test.each([
		['cursor', true],
		['cursor', { after: 'a' }],
		['cursor', ['a']],
		['nextLink', true],
		['nextLink', { href: '?p=2' }],
	])('%s: %j is not the end of the list', async (callListPaging, next) => {
		const list = listing(() => ({ data: { calls: calls(0, 3) }, next }));
		const details = { ...PAGED, callListPaging, callListCursorPath: 'next' };
		await expect(read(list, details)).rejects.toThrow(/^The (response has no|value at)/);
	});

	test.each([undefined, null, '', ' ', false])('%p ends the list', async (next) => {
		const list = listing(() => ({ data: { calls: calls(0, 3) }, next }));
		for (const callListPaging of ['cursor', 'nextLink']) {
			const details = { ...PAGED, callListPaging, callListCursorPath: 'next' };
			expect(await read(list, details)).toEqual(calls(0, 3));
		}
		expect(list.asked).toHaveLength(2);
	});

	test('by cursor, across empty pages, also for a complete list', async () => {
		const pages = [[], calls(0, 2), [], [], calls(2, 5), calls(5, 6), []];
		const list = listing(({ p = 0 }) => ({
			data: { calls: pages[Number(p)] },
			next: Number(p) < pages.length - 1 ? Number(p) + 1 : null,
			total: 6,
		}));
		const details = {
			...PAGED,
			callListPaging: 'cursor',
			callListCursorPath: 'next',
		};
		expect(await read(list, details)).toEqual(calls(0, 6));
		const counted = new ApiMapping({ ...details, callListTotalPath: 'total' });
		expect(await readAllCalls(list.client, { query: {} }, counted, '')).toEqual(calls(0, 6));
	});

	test('repeated cursors are an error', async () => {
		const list = listing(({ c = 'x' }) => ({
			data: { calls: [{ call_id: c }] },
			next: c === 'a' ? 'b' : 'a',
		}));
		const details = {
			...PAGED,
			callListPaging: 'cursor',
			callListPageName: 'c',
			callListCursorPath: 'next',
		};
		await expect(read(list, details)).rejects.toThrow('the same page of the list again');
		expect(list.asked).toHaveLength(3);
	});

	test('in one response', async () => {
		const list = listing(() => calls(0, 7));
		expect(await read(list, { callListPath: '.', callListPaging: 'whole' })).toEqual(calls(0, 7));
		expect(list.asked).toHaveLength(1);
	});

	test('the total saves the last request', async () => {
		const list = listing(({ p = 1 }) => ({
			data: { calls: calls(3 * (Number(p) - 1), 3 * Number(p)), total: 6 },
		}));
		expect(await read(list, { ...PAGED, callListTotalPath: 'data.total' })).toEqual(calls(0, 6));
		expect(list.asked).toHaveLength(2);
	});

	test('a page size with the name of a filter is sent in addition', async () => {
		const list = listing(() => ({ data: { calls: [] } }));
		const details = { ...PAGED, callListPageSizeName: 'q' };
		await read(list, details, { query: { q: 'picked' }, pageSize: 5 });
		expect(list.asked).toEqual([{ q: ['picked', 5] }]);
	});

	test.each([-1, 0, 2, 1e15, 'many', null])(
		'a wrong total of %p: the list is read to its end',
		async (total) => {
			const list = listing(({ p = 1 }) => {
				const start = 3 * (Number(p) - 1);
				return { data: { calls: calls(start, Math.min(7, start + 3)), total } };
			});
			expect(await read(list, { ...PAGED, callListTotalPath: 'data.total' })).toEqual(calls(0, 7));
			expect(list.asked.length).toBeLessThanOrEqual(4 + READS_AT_ONCE);
		},
	);

	test('a changing total does not end the list early or repeat a call', async () => {
		const totals = [14, 30, 0, 'x', 14];
		const list = listing(({ p = 1 }) => {
			const start = 3 * (Number(p) - 1);
			return {
				data: { calls: calls(start, Math.min(14, start + 3)), total: totals[Number(p) - 1] },
			};
		});
		expect(await read(list, { ...PAGED, callListTotalPath: 'data.total' })).toEqual(calls(0, 14));
	});

	test('a total as text', async () => {
		const list = listing(() => ({ data: { calls: calls(0, 3), total: '3' } }));
		expect(await read(list, { ...PAGED, callListTotalPath: 'data.total' })).toEqual(calls(0, 3));
		expect(list.asked).toHaveLength(1);
	});

	test('filters and page size are sent with each request', async () => {
		const list = paged(1);
		const query = { campaign_upload_id: 9 };
		await read(list, { ...PAGED, callListPageSizeName: 'n' }, { query, pageSize: 3, limit: 4 });
		expect(list.asked).toEqual([
			{ campaign_upload_id: 9, n: 3 },
			{ campaign_upload_id: 9, n: 3, p: 2 },
		]);
	});
});

test('the reading ends at the limit', async () => {
	const list = paged(1);
	expect(await read(list, PAGED, { limit: 3 })).toEqual(calls(0, 3));
	expect(list.asked).toHaveLength(1);
});

test('a service that ignores the page parameter is an error', async () => {
	const list = listing(() => ({ data: { calls: calls(0, 3) } }));
	await expect(read(list, PAGED)).rejects.toMatchObject({
		message: 'The service returned the same page of the list again',
		resolution: expect.stringContaining('Pagination'),
	});
	expect(list.asked).toHaveLength(2);
});

test('a call in each entry, and entries that are not objects', async () => {
	const list = listing(() => ({
		data: { calls: [{ call: { call_id: 'a' } }, { other: 1 }, 'x'] },
	}));
	const details = { ...PAGED, callListPaging: 'whole', callListItemPath: 'call' };
	expect(await read(list, details)).toEqual([{ call_id: 'a' }, { other: 1 }, { value: 'x' }]);
});

test('calls by ID in an object', async () => {
	const list = () =>
		listing(() => ({
			data: { a: { call: { status: 'picked' } }, b: { call: { status: 'failed' } } },
		}));
	const details = { callListPath: 'data', callListPaging: 'whole', callListItemPath: 'call' };
	expect(await read(list(), { ...details, callListKeyName: 'call_id' })).toEqual([
		{ call_id: 'a', status: 'picked' },
		{ call_id: 'b', status: 'failed' },
	]);
	await expect(read(list(), details)).rejects.toMatchObject({
		message: 'The response has no list of calls at "data"',
		resolution: expect.stringContaining("fill in 'Field Name for Keys'"),
	});
});

describe('the test of the API mapping', () => {
	const whole = { ...PAGED, callListPaging: 'whole' };
	const entries = [{ note: 1 }, { call: { call_id: 'a' } }];
	const tested = async (details: Details, data: unknown) =>
		await testCallList(listing(() => ({ data })).client, undefined, new ApiMapping(details));

	test.each<[string, Details, unknown]>([
		['a call in one of the entries', { ...whole, callListItemPath: 'call' }, { calls: entries }],
		[
			'an empty list, whose entries show nothing',
			{ ...whole, callListItemPath: 'call' },
			{ calls: [] },
		],
		['entries that are calls', whole, { calls: calls(0, 2) }],
		['a total', { ...whole, callListTotalPath: 'data.total' }, { calls: [], total: 0 }],
		['calls by ID', { ...whole, callListKeyName: 'call_id' }, { calls: { a: {}, b: {} } }],
	])('accepts %s', async (_what, details, data) => {
		expect(await tested(details, data)).toBeUndefined();
	});

	test.each<[string, Details, unknown, string]>([
		[
			'entries without a call',
			{ ...whole, callListItemPath: 'item' },
			{ calls: entries },
			'No entry has a call at "item"',
		],
		[
			'a response without a total',
			{ ...whole, callListTotalPath: 'data.total' },
			{ calls: [] },
			'The response has no number at "data.total"',
		],
		[
			'a list, whose calls have no keys',
			{ ...whole, callListKeyName: 'call_id' },
			{ calls: entries },
			'The calls are in a list at "data.calls", so they have no keys',
		],
	])('rejects %s', async (_what, details, data, message) => {
		await expect(tested(details, data)).rejects.toThrow(message);
	});
});

describe('without the path to the list, the calls of the first response', () => {
	const TWO = calls(0, 2);
	test.each<[string, unknown]>([
		['the response itself', TWO],
		['data', { success: true, data: TWO }],
		['deeper, beside other lists', { data: { list: { items: TWO }, tags: ['x'], warnings: [] } }],
		['each in an entry', { data: TWO.map((call) => ({ call, position: { at: 1 } })) }],
		[
			'with calls in the calls',
			{ data: TWO.map((call) => ({ ...call, redial: { call_id: 'r' } })) },
		],
	])('%s', async (_where, response) => {
		const list = listing(() => response);
		const found = await read(list, {}, { limit: 50 });
		expect(found.map((call) => call.call_id)).toEqual(['call-0', 'call-1']);
		expect(await read(list, {}, { limit: 1 })).toHaveLength(1);
		expect(list.asked).toEqual([{}, {}]);
	});

	test('are empty if its only list is empty', async () => {
		const list = listing(() => ({ success: true, data: { calls: [] } }));
		expect(await read(list, {}, { limit: 50 })).toEqual([]);
	});

	test.each<[string, unknown, string]>([
		['two lists', { data: { mine: TWO, theirs: TWO } }, 'has more than one list of calls'],
		['calls under keys', { data: { a: { status: 'picked' } } }, 'has no list of calls'],
		['entries that may be anything', { data: [{ id: 7 }] }, 'has no list of calls'],
		["an entry that isn't a call", { data: [...TWO, { note: 1 }] }, 'has no list of calls'],
		['two calls in an entry', { data: [{ a: TWO[0], b: TWO[1] }] }, 'has no list of calls'],
		['two empty lists', { data: { calls: [], more: [] } }, 'has no list of calls'],
	])('%s: the message names the setting', async (_name, response, message) => {
		const reading = read(
			listing(() => response),
			{},
			{ limit: 50 },
		);
		await expect(reading).rejects.toMatchObject({
			message: `The response ${message}`,
			resolution: expect.stringContaining("'Path to List in Response'"),
		});
	});
});

test('a wrong path is named, with the paths of lists', async () => {
	const list = listing(() => ({ data: { items: [], tags: { all: [] } } }));
	await expect(read(list, PAGED)).rejects.toMatchObject({
		message: 'The response has no list of calls at "data.calls"',
		resolution: expect.stringMatching(/data\.items \(a list\).*data\.tags\.all \(a list\)/),
	});
});

describe('for a decision that needs all calls', () => {
	const OFFSET: Details = { ...PAGED, callListPaging: 'offset', callListTotalPath: 'data.total' };
	/** Calls from an offset on, in pages of 3. */
	const byOffset = (count: number) =>
		listing(({ p = 0 }) => {
			const [start, end] = [Number(p), Math.min(count, Number(p) + 3)];
			return { data: { calls: calls(start, end), total: count } };
		});

	test('a list of several pages is read twice, and no page is requested in vain', async () => {
		const list = byOffset(12);
		expect(await readAllCalls(list.client, { query: {} }, new ApiMapping(OFFSET), '')).toEqual(
			calls(0, 12),
		);
		const offsets = list.asked.map(({ p }) => p);
		expect(offsets).toEqual([...[undefined, 3, 6, 9], ...[undefined, 3, 6, 9]]);
	});

	test('a list of one page is read once', async () => {
		const list = byOffset(3);
		await readAllCalls(list.client, { query: {} }, new ApiMapping(OFFSET), '');
		expect(list.asked).toHaveLength(1);
	});

	test('a list that keeps changing stops the node, with what to do', async () => {
		let at = 0;
		const list = listing(({ p = 0 }) => ({
			data: { calls: calls(Number(p) + at++, Number(p) + at + 3), total: 9 },
		}));
		const mapping = new ApiMapping(OFFSET);
		await expect(
			readAllCalls(list.client, { query: {} }, mapping, 'Run it later.'),
		).rejects.toMatchObject({
			message: expect.stringContaining('the call list changed in each of 3 readings'),
			resolution: expect.stringMatching(/^Run it later\. .*'Path to Total Count in Response'/),
		});
	});
});

describe('an open detail that is missing stops before anything is sent', () => {
	test.each<[Details, string, { pageSize?: number }?]>([
		[{}, 'Path to List in Response'],
		[{ callListPath: 'data' }, 'Pagination'],
		[{ callListPath: 'data', callListPaging: 'offset' }, 'Page, Offset, or Cursor Parameter Name'],
		[
			{ callListPath: 'data', callListPaging: 'cursor', callListPageName: 'c' },
			'Path to Next Cursor',
		],
		[PAGED, 'Page Size Parameter Name', { pageSize: 5 }],
	])('%p', async (details, label, over = {}) => {
		const list = paged(1);
		await expect(read(list, details, over)).rejects.toMatchObject({
			resolution: expect.stringContaining(label),
		});
		expect(list.asked).toEqual([]);
	});

	test('all missing settings are reported together', async () => {
		const list = paged(1);
		await expect(read(list, {}, { pageSize: 5 })).rejects.toMatchObject({
			resolution: expect.stringMatching(
				/Path to List in Response.*Pagination.*Page, Offset, or Cursor Parameter Name.*Page Size Parameter Name/,
			),
		});
		expect(list.asked).toEqual([]);
	});
});
