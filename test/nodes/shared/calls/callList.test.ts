import range from 'lodash/range';
import { testCallList } from '../../../../nodes/shared/apiMapping/testCallList';
import { callList } from '../../../../nodes/shared/calls/callList';
import { readPages } from '../../../../nodes/shared/api/paging';
import type { CallFilters } from '../../../../nodes/shared/calls/callListQuery';
import type { JsonObject } from '../../../../nodes/shared/json';
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
const WHOLE: Details = { ...PAGED, callListPaging: 'whole' };
const OFFSET: Details = { ...PAGED, callListPaging: 'offset' };
const CURSOR: Details = { ...PAGED, callListPaging: 'cursor', callListCursorPath: 'next' };
const LINK: Details = {
	callListPath: 'data.calls',
	callListPaging: 'nextLink',
	callListCursorPath: 'next',
};
const withTotal = (details: Details) => ({ ...details, callListTotalPath: 'total' });

const calls = (from: number, to: number) =>
	range(from, Math.max(from, to)).map((n) => ({ call_id: `call-${n}` }));

/** A page of 3 calls from a start on, or as many as the list has left. */
const pageAt = (start: number, count: number, more: object = {}) => ({
	success: true,
	data: { calls: calls(start, Math.min(count, start + 3)) },
	...more,
});
const numbered = (p: Query[string] = 1) => 3 * (Number(p) - 1);

const read = async (
	{ client }: { client: ApiClient },
	details: Details,
	over: { limit?: number; pageSize?: number; filters?: CallFilters; limiter?: Limiter } = {},
) => {
	const request = { limit: Infinity, ...over };
	const list = callList(client, request, new ApiMapping(details));
	return (await readPages(list, request.limit)).entries;
};

/** The position of the page, if any, in the query of each request. */
test.each<[string, Details, (query: Query) => unknown, number, unknown[]]>([
	[
		'page number from 1, up to an empty page',
		PAGED,
		({ p }) => pageAt(numbered(p), 7),
		7,
		[undefined, 2, 3, 4],
	],
	[
		'page number from 0',
		{ ...PAGED, callListPaging: 'pageFromZero' },
		({ p = 0 }) => pageAt(3 * Number(p), 7),
		7,
		[undefined, 1, 2, 3],
	],
	['offset', OFFSET, ({ p = 0 }) => pageAt(Number(p), 7), 7, [undefined, 3, 6, 7]],
	[
		'offset with shorter pages',
		withTotal(OFFSET),
		({ p = 0 }) =>
			pageAt(Number(p), Math.min(9, Number(p) + (Number(p) < 3 ? 3 : 2)), { total: 9 }),
		9,
		[undefined, 3, 6, 5, 7],
	],
	[
		'page number, each call once if one moved to the next page in between',
		PAGED,
		({ p }) => pageAt(p === undefined ? 0 : numbered(p) - 1, 5),
		5,
		[undefined, 2, 3],
	],
	[
		'cursor',
		CURSOR,
		({ p = 0 }) => pageAt(Number(p), 5, { next: p === 0 ? 3 : null }),
		5,
		[undefined, 3],
	],
	[
		'cursor, with a total that ends the list at its first empty page',
		withTotal(CURSOR),
		({ p = 0 }) => pageAt(Number(p), 9, { next: String(Number(p) + 3), total: 9 }),
		9,
		[undefined, '3', '6', '9'],
	],
	[
		'the last call of the page',
		{ ...CURSOR, callListCursorPath: 'data.calls.-1.call_id' },
		({ p = 'call--1' }) => pageAt(Number(String(p).slice('call-'.length)) + 1, 5),
		5,
		[undefined, 'call-2', 'call-4'],
	],
	[
		'link',
		withTotal(LINK),
		({ p = 0 }) => pageAt(Number(p), 9, { next: `?p=${Number(p) + 3}`, total: 9 }),
		9,
		[undefined, '3', '6', '9'],
	],
	['one response', { ...WHOLE, callListPath: '.' }, () => calls(0, 7), 7, [undefined]],
	['one response without calls', { ...WHOLE, callListPath: '.' }, () => [], 0, [undefined]],
	[
		'one response with null and a total of 0',
		withTotal(WHOLE),
		() => ({ total: 0, data: { calls: null } }),
		0,
		[undefined],
	],
	[
		'page number, if the response has no envelope',
		{ ...PAGED, callListPath: 'calls' },
		({ p }) => ({ calls: calls(numbered(p), Math.min(7, numbered(p) + 3)), error: null }),
		7,
		[undefined, 2, 3, 4],
	],
	['a total as text', withTotal(PAGED), () => pageAt(0, 3, { total: '3' }), 3, [undefined]],
])('pages by %s', async (_way, details, respond, count, asked) => {
	const list = listing(respond);
	expect(await read(list, details)).toEqual(calls(0, count));
	expect(list.asked.map(({ p }) => p)).toEqual(asked);
});

test.each([
	['pageFromOne', (at: number) => 3 * (at - 1), [undefined, 2, 3, 4, 5]],
	['pageFromZero', (at: number) => 3 * at, [undefined, 1, 2, 3, 4]],
	['offset', (at: number) => at, [undefined, 3, 6, 9, 12]],
])('%s with a total: further pages in parallel', async (callListPaging, startOf, asked) => {
	let together = 0;
	let most = 0;
	const list = listing(({ p }) =>
		pageAt(p === undefined ? 0 : startOf(Number(p)), 14, { total: 14 }),
	);
	const limiter = async <T>(run: () => Promise<T>) => {
		most = Math.max(most, ++together);
		return await run().finally(() => together--);
	};
	expect(await read(list, withTotal({ ...PAGED, callListPaging }), { limiter })).toEqual(
		calls(0, 14),
	);
	expect(list.asked.map(({ p }) => p)).toEqual(asked);
	expect(most).toBe(4);
});

test.each([-1, 0, 2, 4, 1e15, 'many', null])(
	'a wrong total of %p: the list is read to its end',
	async (total) => {
		const list = listing(({ p }) => pageAt(numbered(p), 7, { total }));
		expect(await read(list, withTotal(PAGED))).toEqual(calls(0, 7));
		expect(list.asked.length).toBeLessThanOrEqual(4 + READS_AT_ONCE);
	},
);

test.each<[string, string, Query]>([
	['a whole URL', 'https://internal.example/other?page=2#top', { page: '2' }],
	['encoded values', '/v1/calls?t=x%2By', { t: 'x+y' }],
	['a query alone', '?page=2&tag=a&tag=b', { page: '2', tag: ['a', 'b'] }],
])('of a link to the next page, only the query is used: %s', async (_name, link, query) => {
	const list: ReturnType<typeof listing> = listing(() => {
		const page = list.asked.length - 1;
		return pageAt(3 * page, Infinity, { next: page === 0 ? link : null });
	});
	const over = { filters: { status: 'picked' }, pageSize: 3 };
	const names = { callListPageSizeName: 'n', callListStatusName: 'status' };
	expect(await read(list, { ...LINK, ...names }, over)).toEqual(calls(0, 6));
	expect(list.asked).toEqual([{ status: 'picked', n: 3 }, query]);
});

const NO_CURSOR = 'The value at "next" in the response isn\'t a cursor or link to the next page';

test.each<[Details, unknown]>([
	[CURSOR, true],
	[CURSOR, { after: 'a' }],
	[CURSOR, ['a']],
	[LINK, true],
	[LINK, { href: '?p=2' }],
	[LINK, 'http://['],
	[LINK, '/v1/calls/pages/2'],
])('%j: %j is not the end of the list', async (details, next) => {
	const list = listing(() => pageAt(0, 3, { next }));
	await expect(read(list, details)).rejects.toMatchObject({ message: NO_CURSOR });
});

test.each([undefined, null, '', ' ', false, 0, -1, '0'])('%p ends the list', async (next) => {
	const list = listing(() => pageAt(0, 3, { next }));
	for (const details of [CURSOR, LINK]) expect(await read(list, details)).toEqual(calls(0, 3));
	expect(list.asked).toHaveLength(2);
});

test.each<[CallFilters, JsonObject, JsonObject]>([
	[{ agentUuid: 'agent_a1' }, { agent_uuid: 'agent_a1' }, { agent_uuid: 'agent_b2' }],
	[{ campaignId: '42' }, { campaign_id: 42 }, { campaign_id: 43 }],
	[{ campaignUploadId: 7 }, { campaign_upload_id: '7' }, { campaign_upload_id: 8 }],
	[{ phone: '+919876543210' }, { phone_number: '9876543210' }, { phone_number: '+919876543211' }],
	[
		{ phone: '+919876543210' },
		{ phone_number: '+919876543210', from_number: '+912012345678' },
		{ phone_number: '+919876543211', from_number: '+912012345678' },
	],
	[{ status: 'not_picked' }, { status: 'no_answer' }, { status: 'picked' }],
])(
	'the filter %j: %j may match, and %j shows that the service ignores it',
	async (filters, call, other) => {
		const names = {
			callListAgentName: 'a',
			callListCampaignName: 'b',
			callListPhoneName: 'c',
			callListStatusName: 'd',
		};
		const listOf = (one: JsonObject) => listing(() => ({ data: { calls: [{}, one] } }));
		expect(await read(listOf(call), { ...WHOLE, ...names }, { filters })).toEqual([{}, call]);
		for (const details of [names, { ...WHOLE, ...names }]) {
			const id = { call_id: 'x' };
			const list = listing(() => ({ data: { calls: [{ ...id, ...other }] } }));
			await expect(read(list, details, { filters, limit: 5 })).rejects.toThrow(
				/^The service returned calls that don't match '[A-Z]/,
			);
		}
	},
);

test('a page size with the name of a filter is sent in addition', async () => {
	const list = listing(() => ({ data: { calls: [] } }));
	const details = { ...PAGED, callListPageSizeName: 'q', callListStatusName: 'q' };
	await read(list, details, { filters: { status: 'picked' }, pageSize: 5 });
	expect(list.asked).toEqual([{ q: ['picked', 5] }]);
});

test('a service that ignores the page parameter is an error', async () => {
	const list = listing(() => pageAt(0, 3));
	await expect(read(list, PAGED)).rejects.toMatchObject({
		message: 'The service returned the same page of the list again',
		resolution: expect.stringContaining('Pagination'),
	});
	expect(list.asked).toHaveLength(2);
});

test('a call in each entry, and entries that are not objects', async () => {
	const list = listing(() => ({
		data: { calls: [{ call: { call_id: 'a' } }, { call: 'x' }] },
	}));
	const inCall = { ...WHOLE, callListItemPath: 'call' };
	expect(await read(list, inCall)).toEqual([{ call_id: 'a' }, { value: 'x' }]);
	const other = listing(() => ({ data: { calls: [{ call: {} }, { other: 1 }] } }));
	await expect(read(other, inCall)).rejects.toMatchObject({
		message: 'An entry of the list has no "call"',
		resolution: expect.stringContaining("check 'Path to Call in Each Entry'"),
	});
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
		resolution: expect.stringContaining(
			"check 'Path to List in Response' and 'Field Name for Keys'",
		),
	});
});

test('a wrong path is named, with the paths of lists', async () => {
	const list = listing(() => ({ data: { items: [], tags: { all: [] } } }));
	await expect(read(list, PAGED)).rejects.toMatchObject({
		message: 'The response has no list of calls at "data.calls"',
		resolution: expect.stringMatching(/data\.items \(a list\).*data\.tags\.all \(a list\)/),
	});
});

test.each<[string, unknown]>([
	['.', {}],
	['.', { message: 'Forbidden' }],
	['.', null],
	['calls', { calls: null }],
	['calls', { calls: [], error: 'Forbidden' }],
	['calls', { calls: [], error: { code: 403 } }],
	['calls', { calls: [], success: 'no' }],
])('with the path %j, the response %j proves nothing', async (callListPath, body) => {
	await expect(
		read(
			listing(() => body),
			{ ...WHOLE, callListPath },
		),
	).rejects.toThrow("The response doesn't contain the requested data");
});

test.each<[string, Details, unknown]>([
	[
		'a call in one of the entries',
		{ ...WHOLE, callListItemPath: 'call' },
		{ calls: [{ call: { call_id: 'a' } }] },
	],
	[
		'an empty list, whose entries show nothing',
		{ ...WHOLE, callListItemPath: 'call' },
		{ calls: [] },
	],
	['entries that are calls', WHOLE, { calls: calls(0, 2) }],
	['a total', { ...WHOLE, callListTotalPath: 'data.total' }, { calls: [], total: 0 }],
	['calls by ID', { ...WHOLE, callListKeyName: 'call_id' }, { calls: { a: {}, b: {} } }],
])('the test of the API mapping accepts %s', async (_what, details, data) => {
	const { client } = listing(() => ({ data }));
	expect(await testCallList(client, new ApiMapping(details))).toBeUndefined();
});

describe('without the path to the list, the calls of the first response', () => {
	const TWO = calls(0, 2);
	test.each<[string, unknown]>([
		['the response itself', TWO],
		['data', { success: true, data: TWO }],
		['deeper, beside other lists', { data: { list: { items: TWO }, tags: ['x'], warnings: [] } }],
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

	test.each([{ calls: [] }, { calls: [], filters: [] }])('are empty for %j', async (data) => {
		const list = listing(() => ({ success: true, data }));
		expect(await read(list, {}, { limit: 50 })).toEqual([]);
	});

	test.each<[string, unknown]>([
		['two lists', { data: { mine: TWO, theirs: TWO } }],
		['calls under keys', { data: { a: { status: 'picked' } } }],
		['entries that may be anything', { data: [{ id: 7 }] }],
		["an entry that isn't a call", { data: [...TWO, { note: 1 }] }],
		['a call without an ID', { data: [...TWO, { call_id: null }] }],
		['a call in an entry', { data: TWO.map((call) => ({ call })) }],
	])('%s: the message names the setting', async (_name, response) => {
		const list = listing(() => response);
		await expect(read(list, {}, { limit: 50 })).rejects.toMatchObject({
			message: "The response doesn't have exactly one list of calls",
			resolution: expect.stringContaining("'Path to List in Response'"),
		});
	});
});

// Other missing details: test/nodes/GetCall/getMany.
test('without the path to the cursor, nothing is sent', async () => {
	const list = listing(({ p }) => pageAt(numbered(p), 7));
	const details = { callListPath: 'data', callListPaging: 'cursor', callListPageName: 'c' };
	await expect(read(list, details)).rejects.toMatchObject({
		resolution: expect.stringContaining('Path to Next Cursor'),
	});
	expect(list.asked).toEqual([]);
});
