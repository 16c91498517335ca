import range from 'lodash/range';
import { DateTime } from 'luxon';
import type { Query } from '../../../../nodes/core/service/http';
import { READS_AT_ONCE } from '../../../../nodes/core/service/limits';
import { readPages } from '../../../../nodes/core/service/paging';
import { ServiceProfile } from '../../../../nodes/core/profile/serviceProfile';
import { callList, callListQuery } from '../../../../nodes/core/calls/callList';
import type { CallFilters } from '../../../../nodes/core/calls/callListQuery';
import type { JsonObject } from '../../../../nodes/core/values/json';
import type { Limiter } from '../../../../nodes/core/values/keyedMutex';
import { listing } from '../service/listing';
import { explainedBy } from '../values/explainedBy';

type Details = {
	query?: object;
	list?: string;
	key?: string;
	entry?: string;
	total?: string;
	dates?: string;
	next?: unknown;
};

const WHOLE: Details = { list: 'data.calls', next: 'none' };
const PAGED: Details = { ...WHOLE, query: { p: '{page}' }, next: { page: 1 } };
const FROM_ZERO: Details = { ...PAGED, next: { page: 0 } };
const OFFSET: Details = { ...PAGED, query: { p: '{offset}' }, next: { offset: 0 } };
const CURSOR: Details = { ...PAGED, query: { p: '{cursor}' }, next: { cursor: 'next' } };
const LINK: Details = { ...WHOLE, next: { link: 'next' } };
const withTotal = (details: Details) => ({ ...details, total: 'total' });
const FILTERS = {
	st: '{status?}',
	ag: '{agent?}',
	ca: '{campaign?}',
	since: '{from?}',
	until: '{to?}',
	ph: '{phone?}',
};

const calls = (from: number, to: number) =>
	range(from, Math.max(from, to)).map((n) => ({ call_id: `call-${n}` }));
/** A page of 3 calls from a start on, or as many as the list has left. */
const pageAt = (start: number, count: number, more: object = {}) => ({
	success: true,
	data: { calls: calls(start, Math.min(count, start + 3)) },
	...more,
});
const numbered = (p: Query[string] = 1) => 3 * (Number(p) - 1);

type ReadOptions = { limit?: number; filters?: CallFilters; limiter?: Limiter };
const read = async (
	{ account: { client } }: ReturnType<typeof listing>,
	details: Details,
	{ limit = Infinity, ...over }: ReadOptions = {},
) => {
	const profile = new ServiceProfile({ calls: details });
	const list = callList({ client, profile }, { limit, ...over });
	return await readPages(list, limit);
};

describe('the pages of a list', () => {
	const shorter = (p: number) => Math.min(9, p + (p < 3 ? 3 : 2));

	/** The position of the page, if any, in the query of each request. */
	test.each<[string, Details, (query: Query) => unknown, number, unknown[]]>([
		[
			'offset with shorter pages',
			withTotal(OFFSET),
			({ p = 0 }) => pageAt(Number(p), shorter(Number(p)), { total: 9 }),
			9,
			[undefined, 3, 6, 5, 7],
		],
		[
			'cursor, with a total that ends the list at its first empty page',
			withTotal(CURSOR),
			({ p = 0 }) => pageAt(Number(p), 9, { next: String(Number(p) + 3), total: 9 }),
			9,
			[undefined, '3', '6', '9'],
		],
		['a total as text', withTotal(PAGED), () => pageAt(0, 3, { total: '3' }), 3, [undefined]],
	])('are read by %s', async (_way, details, respond, count, asked) => {
		const list = listing(respond);
		expect(await read(list, details)).toEqual(calls(0, count));
		expect(list.asked.map(({ p }) => p)).toEqual(asked);
	});

	test.each([
		[PAGED, (at: number) => 3 * (at - 1), [undefined, 2, 3, 4, 5]],
		[FROM_ZERO, (at: number) => 3 * at, [undefined, 1, 2, 3, 4]],
		[OFFSET, (at: number) => at, [undefined, 3, 6, 9, 12]],
	])(
		'after the first one are read in parallel if there is a total: %j',
		async (details, startOf, asked) => {
			let together = 0;
			let most = 0;
			const limiter = async <T>(run: () => Promise<T>) => {
				most = Math.max(most, ++together);
				return await run().finally(() => together--);
			};
			const list = listing(({ p }) =>
				pageAt(p === undefined ? 0 : startOf(Number(p)), 14, { total: 14 }),
			);
			expect(await read(list, withTotal(details), { limiter })).toEqual(calls(0, 14));
			expect(list.asked.map(({ p }) => p)).toEqual(asked);
			expect(most).toBe(4);
		},
	);

	test.each([-1, 0, 2, 4, 'many', null])(
		'are read to the end with a wrong total: %p',
		async (total) => {
			const list = listing(({ p }) => pageAt(numbered(p), 7, { total }));
			expect(await read(list, withTotal(PAGED))).toEqual(calls(0, 7));
			expect(list.asked.length).toBeLessThanOrEqual(4 + READS_AT_ONCE);
		},
	);

	test('are an error with a total that is too high', async () => {
		const list = listing(({ p }) => pageAt(numbered(p), 7, { total: 1e15 }));
		await expect(read(list, withTotal(PAGED))).rejects.toMatchObject({
			message: expect.stringContaining('has fewer calls than its total'),
			resolution: expect.stringContaining('check "total" in "calls"'),
		});
		expect(list.asked.length).toBeLessThanOrEqual(3 * (4 + READS_AT_ONCE));
	});

	test('are an error if the service ignores the page parameter', async () => {
		const list = listing(() => pageAt(0, 3));
		await expect(read(list, PAGED)).rejects.toMatchObject({
			message: 'The service returned the same page of the list again',
			resolution: expect.stringContaining('check "next" in "calls"'),
		});
		expect(list.asked).toHaveLength(2);
	});

	test('are an error with advice if the service rejects the page after the last one', async () => {
		const rejected = { success: false, error: 'Invalid page.' };
		const list = listing(({ p }) => (p === 2 ? rejected : pageAt(0, 3, { total: 3 })));
		await expect(read(list, PAGED)).rejects.toMatchObject({
			message: 'The service rejected a page of the call list after the first one',
			resolution: expect.stringMatching(/check "total" and "next" in "calls".* after the last one/),
			originalMessage: 'Invalid page.',
			isTransient: false,
		});
		expect(await read(list, withTotal(PAGED))).toEqual(calls(0, 3));
	});

	test.each([
		['with a total', withTotal(PAGED), 'Invalid page.', 'The service rejected the request'],
		['by a link', LINK, 'Invalid page.', 'The service rejected the request'],
		[
			'because of the token',
			PAGED,
			'Invalid API token',
			'The service or a proxy rejected the API token',
		],
	])('that are rejected %s have their own error', async (_how, details, error, message) => {
		const first = pageAt(0, 6, { total: 6, next: '?p=2' });
		const list = listing(({ p }) => (p === undefined ? first : { success: false, error }));
		await expect(read(list, details)).rejects.toMatchObject({ message });
	});

	test.each<[string, string, Query]>([
		['a whole URL', 'https://internal.example/other?page=2#top', { page: '2' }],
		['encoded values', '/v1/calls?t=x%2By', { t: 'x+y' }],
		['a query alone', '?page=2&tag=a&tag=b', { page: '2', tag: ['a', 'b'] }],
	])('of a link have only its query: %s', async (_name, link, query) => {
		const list: ReturnType<typeof listing> = listing(() => {
			const page = list.asked.length - 1;
			return pageAt(3 * page, Infinity, { next: page === 0 ? link : null });
		});
		const over = { filters: { status: 'picked' } };
		expect(await read(list, { ...LINK, query: { ...FILTERS, n: '{pageSize?}' } }, over)).toEqual(
			calls(0, 6),
		);
		expect(list.asked).toEqual([{ st: 'picked' }, query]);
	});

	test.each<[Details, unknown]>([
		...[true, { after: 'a' }, ['a']].map((next): [Details, unknown] => [CURSOR, next]),
		...[true, { href: '?p=2' }, 'http://[', '/v1/calls/pages/2'].map((next): [Details, unknown] => [
			LINK,
			next,
		]),
	])('%j: %j is not their end', async (details, next) => {
		await expect(
			read(
				listing(() => pageAt(0, 3, { next })),
				details,
			),
		).rejects.toMatchObject({
			message: 'The value at "next" in the response isn\'t a cursor or link to the next page',
		});
	});

	test.each([undefined, null, '', ' ', false, 0, -1, '0'])('end with %p', async (next) => {
		const list = listing(() => pageAt(0, 3, { next }));
		for (const details of [CURSOR, LINK]) expect(await read(list, details)).toEqual(calls(0, 3));
		expect(list.asked).toHaveLength(2);
	});
});

describe('the calls of a response', () => {
	const TWO = calls(0, 2);
	const IN_CALL: Details = { ...WHOLE, entry: 'call' };
	const BY_KEY: Details = { ...WHOLE, entry: 'call', key: 'call_id' };
	const WITHOUT_PATH: Details = {};
	const byKey = { a: { call: { status: 'picked' } }, b: { call: { status: 'failed' } } };
	const inOthers = TWO.map((call) => ({ ...call, redial: { call_id: 'r' } }));

	test.each<[Details, unknown, JsonObject[]]>([
		[{ ...WHOLE, list: '{response}' }, TWO, TWO],
		[{ ...WHOLE, list: '{response}' }, [], []],
		[{ ...WHOLE, list: 'calls' }, { calls: TWO, error: null }, TWO],
		[withTotal(WHOLE), { total: 0, data: { calls: null } }, []],
		[
			IN_CALL,
			{ data: { calls: [{ call: { call_id: 'a' } }, { call: 'x' }] } },
			[{ call_id: 'a' }, { value: 'x' }],
		],
		[
			BY_KEY,
			{ data: { calls: byKey } },
			[
				{ call_id: 'a', status: 'picked' },
				{ call_id: 'b', status: 'failed' },
			],
		],
		[WITHOUT_PATH, TWO, TWO],
		[WITHOUT_PATH, { success: true, data: TWO }, TWO],
		[WITHOUT_PATH, { data: { list: { items: TWO }, tags: ['x'], warnings: [] } }, TWO],
		[WITHOUT_PATH, { data: inOthers }, inOthers],
		[WITHOUT_PATH, { success: true, data: { calls: [] } }, []],
		[WITHOUT_PATH, { success: true, data: { calls: [], filters: [] } }, []],
	])('with %j, of %j, are found', async (details, body, found) => {
		const list = listing(() => body);
		expect(await read(list, details, { limit: 50 })).toEqual(found);
		expect(await read(list, details, { limit: 1 })).toEqual(found.slice(0, 1));
		expect(list.asked).toEqual([{}, {}]);
	});

	const noneAt = 'The response has no list of calls at "data.calls"';
	const notOne = "The response doesn't have exactly one list of calls";
	const itsPath = /check "list" and "next" in "calls"/;
	test.each<[Details, unknown, string, RegExp]>([
		[
			PAGED,
			{ data: { items: [], tags: { all: [] } } },
			noneAt,
			/data\.items \(a list\).*data\.tags\.all \(a list\)/,
		],
		[
			IN_CALL,
			{ data: { calls: [{ call: {} }, { other: 1 }] } },
			'An entry of the list has no "call"',
			/check "entry" in/,
		],
		[IN_CALL, { data: { calls: byKey } }, noneAt, /check "list" and "key" in/],
		[WITHOUT_PATH, { data: { mine: TWO, theirs: TWO } }, notOne, itsPath],
		[WITHOUT_PATH, { data: { a: { status: 'picked' } } }, notOne, itsPath],
		[WITHOUT_PATH, { data: [{ id: 7 }] }, notOne, itsPath],
		[WITHOUT_PATH, { data: [...TWO, { note: 1 }] }, notOne, itsPath],
		[WITHOUT_PATH, { data: [...TWO, { call_id: null }] }, notOne, itsPath],
		[WITHOUT_PATH, { data: TWO.map((call) => ({ call })) }, notOne, itsPath],
	])(
		'with %j, of %j, are not found, and the message names the setting',
		async (details, body, message, resolution) => {
			await expect(
				read(
					listing(() => body),
					details,
					{ limit: 50 },
				),
			).rejects.toMatchObject({
				message,
				resolution: expect.stringMatching(resolution),
			});
		},
	);

	test.each<[string, unknown]>([
		['{response}', {}],
		['{response}', { message: 'Forbidden' }],
		['{response}', null],
		['calls', { calls: null }],
		['calls', { calls: [], error: 'Forbidden' }],
		['calls', { calls: [], error: { code: 403 } }],
		['calls', { calls: [], success: 'no' }],
	])('with the path %j, of %j, prove nothing', async (list, body) => {
		await expect(
			read(
				listing(() => body),
				{ ...WHOLE, list },
			),
		).rejects.toThrow("The response doesn't contain the requested data");
	});
});

describe('filters', () => {
	const ZONE = 'Asia/Kolkata';
	const query = (filters: CallFilters, details: Details = { query: FILTERS }) =>
		callListQuery(filters, new ServiceProfile({ calls: details }), ZONE);

	test.each<[CallFilters, JsonObject, JsonObject]>([
		[{ agentUuid: 'agent_a1' }, { agent_uuid: 'agent_a1' }, { agent_uuid: 'agent_b2' }],
		[{ campaignId: '42' }, { campaign_id: 42 }, { campaign_id: 43 }],
		[{ campaignUploadId: 7 }, { campaign_upload_id: '7' }, { campaign_upload_id: 8 }],
		[{ phone: '+919876543210' }, { phone_number: '9876543210' }, { phone_number: '+919876543211' }],
		...['9876543210', '09876543210', '0987654', '98'].map(
			(phone): [CallFilters, JsonObject, JsonObject] => [
				{ phone },
				{ phone_number: '+919876543210' },
				{ phone_number: '+911234512345' },
			],
		),
		[
			{ phone: '8 912 345-67-89' },
			{ phone_number: '+79123456789' },
			{ phone_number: '+79123456780' },
		],
		[
			{ phone: '+52 55 1234 5678' },
			{ phone_number: '+5215512345678' },
			{ phone_number: '+525512345679' },
		],
		[
			{ phone: '02966 15 45-6789' },
			{ phone_number: '+5492966456789' },
			{ phone_number: '+5492966456780' },
		],
		[
			{ phone: '+919876543210' },
			{ phone_number: '+912012345678', from_number: '+919876543210' },
			{ phone_number: '+919876543211', from_number: '+912012345678' },
		],
		[{ status: 'not_picked' }, { status: 'no_answer' }, { status: 'picked' }],
	])('%j: %j may match, and %j shows that the service ignores it', async (filters, call, other) => {
		const listOf = (one: JsonObject) => listing(() => ({ data: { calls: [{}, one] } }));
		expect(await read(listOf(call), { ...WHOLE, query: FILTERS }, { filters })).toEqual([{}, call]);
		for (const details of [{ query: FILTERS }, { ...WHOLE, query: FILTERS }]) {
			const list = listing(() => ({ data: { calls: [{ call_id: 'x', ...other }] } }));
			await expect(read(list, details, { filters, limit: 5 })).rejects.toThrow(
				/^The service returned calls that don't match '[A-Z]/,
			);
		}
	});

	test.each(['9876543210, 9123456789', '98***210'])(
		'a phone number of %j, which is not one number, may match each call',
		async (phone) => {
			const call = { phone_number: '+919876543210' };
			const list = listing(() => ({ data: { calls: [call] } }));
			expect(await read(list, { ...WHOLE, query: FILTERS }, { filters: { phone } })).toEqual([
				call,
			]);
		},
	);

	test('a page size that the service needs is sent, and one that it may lack is not', () => {
		expect(query({}, { query: { n: '{pageSize}' } })).toEqual({ n: 50 });
		expect(query({}, { query: { n: '{pageSize?}' } })).toEqual({});
	});

	test('are all sent, also with the same name, and those of the page', async () => {
		const list = listing(() => ({ data: { calls: [] } }));
		const filters = { from: '2027-01-31', to: '2027-02-28', status: 'picked', phone: '९८' };
		const sameNames = {
			at: ['{from?}', '{to?}'],
			q: ['{status?}', '{phone?}', '{pageSize}'],
			...{ p: '{page}', v: 2, all: true },
		};
		await read(list, { ...PAGED, query: sameNames }, { filters });
		expect(list.asked).toEqual([
			{ at: ['2027-01-31', '2027-02-28'], q: ['picked', '98', 50], v: 2, all: true },
		]);
	});

	test('that are empty are not sent, and need no name, nor does the documented one', () => {
		const empty = { status: '', agentUuid: ' ', campaignId: null, to: undefined, phone: '' };
		expect(query({ ...empty, campaignUploadId: '7' }, {})).toEqual({ campaign_upload_id: 7 });
	});

	test.each<[CallFilters, string]>([
		[{ status: 'picked' }, 'status'],
		[{ agentUuid: 'agent_a1' }, 'agent'],
		[{ campaignId: 42 }, 'campaign'],
		[{ from: '2027-01-31' }, 'from'],
		[{ to: '2027-01-31' }, 'to'],
		[{ phone: '98' }, 'phone'],
	])('%j needs its place in the profile', (filters, placeholder) => {
		expect(explainedBy(() => query(filters, {}))).toMatchObject({
			message: `"calls" of 'Service Profile' in the credential has no {${placeholder}}`,
			resolution: expect.stringContaining('with the questionnaire (https://'),
		});
	});

	const DATE = DateTime.fromISO('2027-01-31T18:30:00', { zone: ZONE });
	test.each<[string, unknown, string | undefined, string]>([
		["in the workflow's zone", '2027-01-31T18:30:00', undefined, '2027-01-31T18:30:00+05:30'],
		['with a blank', '2027-01-31 18:30', undefined, '2027-01-31T18:30:00+05:30'],
		['with an offset, kept', '2027-01-31T18:30:00+02:00', undefined, '2027-01-31T18:30:00+02:00'],
		['in UTC', '2027-01-31T18:30:00Z', undefined, '2027-01-31T18:30:00+00:00'],
		['a luxon DateTime', DATE, undefined, '2027-01-31T18:30:00+05:30'],
		['a Date', new Date('2027-01-31T13:00:00Z'), undefined, '2027-01-31T18:30:00+05:30'],
		['a bare date, kept', '2027-01-31', undefined, '2027-01-31'],
		['as a date', '2027-01-31T18:30:00', 'date', '2027-01-31'],
		["as a date in the workflow's zone", '2027-01-30T19:00:00Z', 'date', '2027-01-31'],
	])('From and To: %s', (_name, at, dates, sent) => {
		const details = { query: FILTERS, ...(dates && { dates }) };
		expect(query({ from: at, to: at }, details)).toEqual({ since: sent, until: sent });
	});

	test.each([
		['dateTime', '2027-01-31T00:00:00+05:30', '2027-01-31T23:59:59+05:30'],
		['date', '2027-01-31', '2027-01-31'],
	])('From and To: a bare date includes the day, as %s', (dates, since, until) => {
		const day = { from: '2027-01-31', to: '2027-01-31' };
		expect(query(day, { query: FILTERS, dates })).toEqual({ since, until });
	});

	const notDates = [
		...['yesterday', '31/01/2027', {}, '18:30', '24:00', '2027', 2027, '2027-01', '2027-W05'],
		...['2027-031', '+012027-01-01', '2027-01-311', '2027-02-30', '2027-01-31/2027-02-01', NaN],
		...['2027-01-31T18:30:00+25:00', '2027-01-31T18:30:00-14:01', 1801400400, '1801400400'],
	];
	test.each<[CallFilters, string]>([
		...notDates.map((from): [CallFilters, string] => [{ from }, 'must be a date (got ']),
		[
			{ from: '2027-02-01', to: '2027-01-31' },
			`'From' ("2027-02-01") is later than 'To' ("2027-01-31")`,
		],
		[{ campaignId: 'spring' }, `'Campaign ID' must be a whole number (got "spring")`],
		[{ agentUuid: 'sales' }, `'Agent' must be an agent ID (got "sales")`],
	])('%p is not sent', (filters, message) => {
		expect(() => query(filters)).toThrow(message);
	});
});
