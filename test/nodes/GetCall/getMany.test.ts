import range from 'lodash/range';
import type { INodeParameters } from 'n8n-workflow';
import nock from 'nock';
import { InFlight, output, service } from '../../engine';
import { nodeHarness } from '../nodeHarness';

const { records, errorOf, run } = nodeHarness('getCall', { operation: 'getMany' });
const credential = {
	describeCallList: true,
	callListPath: 'data',
	callListPaging: 'pageFromOne',
	callListPageName: 'p',
	callListStatusName: 'st',
	callListPageSizeName: 'n',
};
const list = (...ids: string[]) => ({
	success: true,
	data: ids.map((call_id) => ({ call_id, status: 'picked', channel: 'sip' })),
});
const calls = (query = {}) => service().get('/v1/calls').query(query);

test('follows a link to the next page unchanged, with the token', async () => {
	const linked = {
		...credential,
		callListPaging: 'nextLink',
		callListCursorPath: 'links.next',
		callListPageName: '',
	};
	const next = '/v1/calls/after/a%2Fb?token=x%2By';
	calls({ st: 'busy', n: 2, x: 'y' }).reply(200, { ...list('a', 'b'), links: { next } });
	service()
		.get(next)
		.reply(200, { ...list('c'), links: { next: null } });
	const parameters = {
		returnAll: true,
		filters: { status: 'busy' },
		developerSettings: { pageSize: 2, additionalQueryParameters: { x: 'y' } },
	};
	expect(await records(parameters, { credential: linked })).toHaveLength(3);
});

test('additional query parameters are sent, also with repeated names', async () => {
	calls({ created_at: ['gte.2027-01-31', 'lt.2027-02-28'], 'or.x': 1 }).reply(200, list('a'));
	calls({ created_at: ['gte.2027-01-31', 'lt.2027-02-28'], 'or.x': 1, p: 2 }).reply(200, list());
	const additionalQueryParameters = {
		created_at: ['gte.2027-01-31', 'lt.2027-02-28'],
		'or.x': 1,
	};
	const parameters = { developerSettings: { additionalQueryParameters } };
	expect(await records(parameters, { credential })).toHaveLength(1);
});

test.each([{ a: { b: 1 } }, { a: ['x', { b: 1 }] }, { a: null }])(
	'the additional query parameter %j is rejected before anything is sent',
	async (additionalQueryParameters) => {
		const parameters = {
			developerSettings: { additionalQueryParameters: JSON.stringify(additionalQueryParameters) },
		};
		expect(await errorOf(parameters, { credential })).toMatchObject({
			message:
				'"a" in \'Additional Query Fields\' must be text, a number, true, or false, or a list of such values',
		});
	},
);

test('campaign_upload_id does not need the API mapping', async () => {
	calls({ campaign_upload_id: 9 }).reply(200, list('a'));
	const found = await records({ filters: { campaignUploadId: '9' }, simplify: false });
	expect(found).toEqual(list('a').data);
});

describe('a list that may have more pages', () => {
	const hints = async (parameters: INodeParameters, details = {}) => {
		const { data } = await run(parameters, { credential: details });
		return data.resultData.runData.Node?.[0]?.hints?.map(({ message }) => message);
	};

	test('has a hint', async () => {
		calls().reply(200, list('a', 'b'));
		expect(await hints({})).toEqual([
			expect.stringMatching(/^The service returned 2 calls in its first response.*'Pagination'\.$/),
		]);
	});

	test.each([
		['as many as were asked for', { limit: 2 }, {}],
		['the list is known', { limit: 50 }, { ...credential, callListPaging: 'whole' }],
	])('has no hint: %s', async (_why, parameters, details) => {
		calls().reply(200, list('a', 'b'));
		expect(await hints(parameters, details)).toEqual([]);
	});
});

describe('Latest Call of Each Number', () => {
	const call = (call_id: string, phone_number: string | null, created_at: string | null) => ({
		call_id,
		phone_number,
		created_at,
		status: 'not_picked',
	});
	const FIRST = [
		call('a1', '+919876543210', '2026-11-19T09:00:00+05:30'),
		call('b1', '+919876543211', '2026-11-19T09:00:00+05:30'),
		call('nobody', null, '2026-11-19T09:00:00+05:30'),
	];
	const LATER = [
		call('a2', '+91 98765 43210', '2026-11-19T04:00:00Z'),
		call('unclear', '9876543210', '2026-11-19T12:00:00+05:30'),
		call('timeless', '+919876543210', null),
		call('b0', '+919876543211', '2026-11-18T23:00:00+05:30'),
	];
	const latest = { options: { latestOfEachNumber: true } };
	const unsized = { ...credential, callListPageSizeName: '' };
	const ids = async (parameters: INodeParameters) => {
		for (let reading = 1; reading <= 2; reading++) {
			calls().reply(200, { success: true, data: FIRST });
			calls({ p: 2 }).reply(200, { success: true, data: LATER });
			calls({ p: 3 }).reply(200, { success: true, data: [] });
		}
		return (await records(parameters, { credential: unsized })).map(({ call_id: id }) => id);
	};

	test('keeps the newest calls, and all calls that cannot be compared', async () => {
		expect(await ids({ returnAll: true, ...latest })).toEqual([
			'b1',
			'nobody',
			'a2',
			'unclear',
			'timeless',
		]);
	});

	test('reads the whole list at any limit, so that people who were reached later are not returned', async () => {
		expect(await ids({ limit: 2, ...latest })).toEqual(['b1', 'nobody']);
		expect(nock.isDone()).toBe(true);
	});

	test('is rejected with a status filter', async () => {
		const parameters = { ...latest, filters: { status: 'not_picked' } };
		expect(await errorOf(parameters, { credential })).toMatchObject({
			message: "'Latest Call of Each Number' can't be used with the filter 'Status'",
		});
	});

	test('requires the API mapping for the whole list', async () => {
		const { description } = await errorOf({ limit: 2, ...latest });
		expect(description).toContain("'Path to List in Response', 'Pagination'");
	});
});

describe('a list that changes during the reading', () => {
	const counted = { ...credential, callListTotalPath: 'total', callListPageSizeName: '' };
	/** Before each request, a call is added at the start of the list. */
	const growing = () => {
		let newest = 10;
		const interceptor = service().get('/v1/calls').query(true).times(100);
		interceptor.reply((uri) => {
			const page = Number(new URL(uri, 'http://service.invalid').searchParams.get('p') ?? 1);
			newest++;
			const all = range(newest, 0).map((call) => `call-${call}`);
			return [200, { ...list(...all.slice(3 * page - 3, 3 * page)), total: all.length }];
		});
	};
	const changed = async (parameters: INodeParameters) => {
		growing();
		const { data } = await run(parameters, { credential: counted });
		nock.cleanAll();
		return data.resultData;
	};

	test('returns the calls that were seen, with a hint', async () => {
		const { runData, error } = await changed({ returnAll: true });
		expect(error).toBeUndefined();
		const [done] = runData.Node ?? [];
		expect(done?.hints?.map(({ message }) => message)).toEqual([
			"The list changed while it was read, or has fewer calls than the service counts, so calls may be missing or repeated. To stop the workflow instead, turn on 'Require Complete List' in 'Options'.",
		]);
		const ids = done?.data?.main?.[0]?.map(({ json }) => json.call_id) ?? [];
		for (const call of range(1, 11)) expect(ids).toContain(`call-${call}`);
	});

	test.each([{ requireComplete: true }, { latestOfEachNumber: true }])(
		'stops the workflow with %p',
		async (options) => {
			const { error } = await changed({ returnAll: true, options });
			expect(error?.message).toContain(
				'Calls may be missing, because the call list changed in each of 3 readings',
			);
			expect(error?.description).toContain("set 'To' in 'Filters' to a time in the past");
			expect(error?.description).toContain("'Path to Total Count in Response'");
		},
	);

	test('is read completely with Require Complete List, at any limit', async () => {
		for (let reading = 1; reading <= 2; reading++) {
			calls().reply(200, { ...list('a', 'b'), total: 3 });
			calls({ p: 2 }).reply(200, { ...list('c'), total: 3 });
		}
		const parameters = { limit: 1, options: { requireComplete: true } };
		expect(await records(parameters, { credential: counted })).toMatchObject([{ call_id: 'a' }]);
		expect(nock.isDone()).toBe(true);
	});
});

test('items with the same list share one reading, and each has its error if the list cannot be read', async () => {
	calls({ st: 'picked' }).reply(422, { success: false, errors: ['st is unknown'] });
	calls({ st: 'failed' }).reply(200, list('b'));
	const items = ['picked', 'failed', 'picked'].map((status) => ({ status }));
	const perItem = { limit: 1, filters: { status: '={{ $json.status }}' } };
	const overrides = { onError: 'continueErrorOutput' } as const;
	const result = await run(perItem, { items, credential, overrides, sinks: ['Good', 'Bad'] });
	expect(output(result, 'Good')).toMatchObject([{ json: { call_id: 'b' } }]);
	expect(output(result, 'Bad').map(({ json }) => json.error)).toEqual([
		'The service rejected the request: "st is unknown" [item 0]',
		'The service rejected the request: "st is unknown" [item 2]',
	]);
});

test('with Concurrency 1, lists are read one request at a time, and a failure ends only its own list', async () => {
	const asked: string[] = [];
	const inFlight = new InFlight(1);
	service()
		.get('/v1/calls')
		.query(true)
		.times(20)
		.reply(async (uri) => {
			const query = new URL(uri, 'http://service.invalid').searchParams;
			const [status, page] = [query.get('st'), Number(query.get('p') ?? 1)];
			asked.push(`${status} ${page}`);
			await inFlight.enter();
			inFlight.leave();
			return status === 'picked' && page === 3
				? [422, { success: false, errors: ['p is broken'] }]
				: [200, { ...list(`${status} ${page}`), total: 6 }];
		});
	const parameters = {
		returnAll: true,
		filters: { status: '={{ $json.status }}' },
		developerSettings: { concurrency: 1 },
	};
	const result = await run(parameters, {
		items: ['picked', 'busy'].map((status) => ({ status })),
		credential: { ...credential, callListTotalPath: 'total' },
		overrides: { onError: 'continueErrorOutput' },
		sinks: ['Good', 'Bad'],
	});
	nock.cleanAll();
	expect(output(result, 'Good').map(({ json }) => json.call_id)).toEqual(
		range(1, 7).map((page) => `busy ${page}`),
	);
	expect(output(result, 'Bad').map(({ json }) => json.status)).toEqual(['picked']);
	expect(asked).toEqual([
		...range(1, 4).map((page) => `picked ${page}`),
		...range(1, 7).map((page) => `busy ${page}`),
	]);
	expect(inFlight.max).toBe(1);
});

describe('before anything is sent', () => {
	test.each([
		[
			{ filters: { status: 'x' } },
			{},
			'The credential lacks settings for the call list',
			/ fill in 'Status Filter Name'\.$/,
		],
		[
			{
				returnAll: true,
				filters: { status: 'x', phone: '98' },
				developerSettings: { pageSize: 5 },
			},
			{ describeCallList: true, callListPhoneName: 'q' },
			'The credential lacks settings for the call list',
			/ fill in 'Status Filter Name', 'Path to List in Response', 'Pagination', 'Page, Offset, or Cursor Parameter Name', and 'Page Size Parameter Name'\.$/,
		],
		[
			{ filters: { campaignUploadId: 'x' } },
			credential,
			`'Contact List ID' must be a whole number (got "x")`,
		],
		[{ limit: 0 }, credential, "'Limit' must be at least 1"],
		[{ developerSettings: { pageSize: 0 } }, credential, "'Page Size' must be at least 1"],
		[
			{ filters: { from: 'soon' } },
			{ ...credential, callListFromName: 'f' },
			`'From' must be a date (got "soon")`,
		],
	])('%p', async (parameters, details, message, resolution = /./) => {
		expect(await errorOf(parameters, { credential: details })).toMatchObject({
			message,
			description: expect.stringMatching(resolution),
		});
	});
});
