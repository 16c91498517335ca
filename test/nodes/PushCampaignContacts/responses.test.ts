/** What the response to an accepted request says about its rows. */
import range from 'lodash/range';
import type { JsonObject, JsonValue } from '../../../nodes/core/values/json';
import {
	inTwos,
	jsonOf,
	phone,
	push,
	respondWith,
	rowsOfItems,
	scripted,
	totals,
	type Reply,
	WAITING,
	pushHarness,
} from './pushHarness';

pushHarness();

/** A service that accepts each request with this data. */
const answer = (data: JsonObject) => scripted(() => [200, { success: true, data }]);
const list = { campaign_upload_id: 7 };
const RELEASE = { whatToDo: 'release' };

describe('a skipped contact', () => {
	const UNNAMED = 'The service skipped 1 more contact without naming the row: ';
	const third = phone(2);

	test.each<[string, JsonValue]>([
		['in a field', { phone: `+91${third}`, reason: 'dnd' }],
		['as a number', { msisdn: Number(`91${third}`) }],
		['written with spaces', { phone: `+91 ${third.slice(0, 5)} ${third.slice(5)}` }],
		['beside an agent and a date', { agent_uuid: 'agent_1', at: '2026-11-20T10:00:00', p: third }],
		['as a name', { [`+91${third}`]: { reason: 'opt-out' } }],
		['in a sentence', { message: `Skipped +91${third}: on the list` }],
		['in a sentence, without a plus', { message: `Skipped 91${third}: on the list` }],
		['as the entry itself', `0${third}`],
		['twice, in different formats', { was: { p: third }, is: { p: `+91${third}` } }],
		['six levels down', { a: { b: { c: { d: { e: { f: { g: third } } } } } } }],
		['behind many other values', { list: [...range(150), third] }],
	])('is found %s', async (_where, entry) => {
		answer({ ...list, dnd_skipped: [entry] });
		const { statuses, hints } = await push(4);
		expect(statuses).toEqual(['2 do_not_disturb']);
		expect(hints.join()).not.toContain(UNNAMED);
	});

	test.each<[string, JsonValue]>([
		['of another request', { phone: `+91${phone(8)}` }],
		['that is masked', { phone: '+9190000XXXX2' }],
		['that is not there', { index: 2 }],
		['beside a masked one', { phone: 'XXXXXX0002', added_by: phone(1) }],
		['beside the phone of another request', { phone: phone(8), added_by: phone(1) }],
		['of two rows, without a clear one', { phone: phone(0), kept: phone(1) }],
		['of two rows, in a sentence', { message: `Skipped ${phone(0)}, kept ${phone(1)}` }],
		['of nothing', null],
	])('is not guessed from a number %s, and a hint shows it', async (_which, entry) => {
		answer({ ...list, dnd_skipped: [entry] });
		const { statuses, pushed, hints } = await push(4);
		expect(statuses).toEqual([]);
		expect(pushed[0]?.json.totals).toMatchObject({ pushed: 4, skipped_unmatched: 1 });
		expect(hints).toContain(
			`${UNNAMED}${JSON.stringify(entry)}. The rows of skipped contacts count as pushed.`,
		);
	});

	test('of which there are more than five is counted', async () => {
		answer({ ...list, dnd_skipped: range(6).map((nth) => `x${nth}`) });
		expect((await push(1)).hints).toContain(
			'The service skipped 6 more contacts without naming the row: "x0", "x1", "x2", "x3", "x4", and 1 more. The rows of skipped contacts count as pushed.',
		);
	});

	test('is in Skipped once, with the reason of the first entry about it', async () => {
		answer({
			...list,
			dnd_skipped: [{ phone: `+91${phone(1)}`, since: '2026-01-05', by: {} }, phone(1)],
			engine_skipped_duplicates: [`+91${phone(3)}`, phone(1)],
		});
		const { pushed, skipped, statuses } = await push(5);
		expect(rowsOfItems(pushed)).toEqual([0, 2, 4]);
		expect(statuses).toEqual(['1 do_not_disturb', '3 duplicate']);
		expect(jsonOf(skipped).map((row) => row.rejection_reason)).toEqual([
			'The service skipped this row, because its number is on the do-not-disturb list of the agent.',
			'The service skipped this number as a duplicate.',
		]);
	});
});

describe('counts', () => {
	const SKIPPED = { dnd_skipped: [phone(0)] };

	test.each<JsonObject>([
		{ contacts_accepted: 1 },
		{ contacts_accepted: 3 },
		{ contacts_received: 1 },
		{ contacts_received: 3 },
		{ contacts_received: 1, contacts_accepted: 2, duplicates_removed: 1 },
		{ contacts_received: 2, contacts_accepted: 2, duplicates_removed: 3 },
		{ contacts_accepted: 2, duplicates_removed: -1 },
		{ contacts_accepted: 'NaN' },
		{ contacts_accepted: 0, dnd_skipped: [{ phone: phone(0) }, { phone: phone(0) }] },
		{ contacts_accepted: 0, dnd_skipped: 2 },
		{ contacts_accepted: 0, dnd_skipped: [{ all: [phone(0), phone(1)] }] },
		{ contacts_accepted: 0, dnd_skipped: [phone(0), { number: 'hidden' }] },
	])('that are impossible leave both rows unknown, and are not sent again: %j', async (data) => {
		const sent = answer({ ...list, ...data });
		const { statuses, hints } = await push(2);
		expect(sent).toHaveLength(1);
		expect(statuses).toEqual(['0 unknown', '1 unknown']);
		expect(hints[1]).toMatch(
			/^The response doesn't account for all contacts: the request had 2 contacts, the response has .*\. It's unknown which contacts are in the campaign/,
		);
	});

	test.each<[number, JsonObject, string]>([
		[
			2,
			{ ...list, contacts_received: 2, contacts_accepted: 0, ...SKIPPED },
			'2 contacts, the response has contacts_received: 2, contacts_accepted: 0, skipped: 1.',
		],
		[1, { contacts_accepted: 0 }, '1 contact, the response has contacts_accepted: 0, skipped: 0.'],
	])('that are impossible are shown, of %i rows', async (rows, data, counts) => {
		answer(data);
		const { hints } = await push(rows);
		expect(hints[1]).toContain(`the request had ${counts}`);
	});

	test.each<[JsonObject, pushed: number[]]>([
		[{}, [0, 1]],
		[{ contacts_accepted: '2' }, [0, 1]],
		[{ contacts_received: null, contacts_accepted: null, queued_calls: null }, [0, 1]],
		[{ contacts_received: 2, contacts_accepted: 2, queued_calls: 9 }, [0, 1]],
		// Duplicates for the service: counted as received, or not.
		[{ contacts_received: 2, contacts_accepted: 1, duplicates_removed: 1 }, [0, 1]],
		[{ contacts_received: 1, contacts_accepted: 1, duplicates_removed: 1 }, [0, 1]],
		[{ contacts_received: 1, duplicates_removed: 1 }, [0, 1]],
		// Skipped: accepted, or not.
		[{ contacts_accepted: 2, ...SKIPPED }, [1]],
		[{ contacts_received: 1, contacts_accepted: 1, ...SKIPPED }, [1]],
		[{ contacts_accepted: 0, ...SKIPPED, engine_skipped_duplicates: [phone(1)] }, []],
		// The entry names no row, which a hint says.
		[{ contacts_accepted: 1, dnd_skipped: [{ id: 9 }] }, [0, 1]],
		[{ dnd_skipped: {}, engine_skipped_duplicates: null }, [0, 1]],
	])('that are possible are accepted: %j', async (data, rows) => {
		answer({ ...list, ...data });
		const { pushed, statuses } = await push(2);
		expect(pushed).toMatchObject([{ json: { totals: { pushed: rows.length } } }]);
		expect(rowsOfItems(pushed)).toEqual(rows.length > 0 ? rows : [0, 1]);
		expect(statuses.join()).not.toContain('unknown');
	});

	test.each<[JsonObject, string[]]>([
		[{ contacts_accepted: 0 }, ['0 unknown', '1 unknown']],
		[{ contacts_accepted: 1, ...SKIPPED }, ['0 do_not_disturb']],
	])('and skipped numbers are also read beside data: %j', async (beside, expected) => {
		scripted(() => [200, { success: true, data: list, ...beside }]);
		expect((await push(2)).statuses).toEqual(expected);
	});
});

describe('the hints about the release to the calling queue', () => {
	const PUSHED = '2 rows: 2 pushed.';
	const released = (calls = '') =>
		`${PUSHED} Pushed rows were released to the calling queue${calls}. Calls go out only on the campaign's calling days and in its call window.`;
	const NOT_CONFIRMED =
		"'What to Do' is 'Add and Release', but the service didn't confirm the release of 2 rows, so they may not be called. Check the campaign in the service.";
	const CONTRARY =
		"'What to Do' is 'Add and Let Wait', but the service reported the release of 2 rows, so they may be called. Check the campaign in the service.";
	const REMOVED =
		"The service removed 1 duplicate and doesn't say which. The rows of removed contacts count as pushed.";

	test.each<[whatToDo: string, JsonObject, string[]]>([
		['release', {}, [PUSHED, NOT_CONFIRMED]],
		['release', { enqueued: true }, [released()]],
		[
			'release',
			{ enqueued: true, queued_calls: '1' },
			[released(', and the service queued 1 call')],
		],
		['release', { enqueued: 'false' }, [PUSHED, NOT_CONFIRMED]],
		[
			'release',
			{ enqueued: true, contacts_accepted: 1, duplicates_removed: 1 },
			[released(), REMOVED],
		],
		['wait', { enqueued: false }, [`${PUSHED} ${WAITING}`]],
		['wait', {}, [`${PUSHED} ${WAITING}`]],
		['wait', { enqueued: true }, [PUSHED, CONTRARY]],
	])('with %s, and response %j', async (whatToDo, data, hints) => {
		answer({ ...list, contacts_accepted: 2, ...data });
		expect((await push(2, { whatToDo })).hints).toEqual(hints);
	});

	test('say nothing of rows that the service skipped', async () => {
		answer({ ...list, dnd_skipped: [phone(0)], engine_skipped_duplicates: [phone(1)] });
		expect((await push(2, RELEASE)).hints[0]).toBe(
			'2 rows: 0 pushed, 1 on the do-not-disturb list, 1 duplicate.',
		);
	});
});

describe('One Summary Item', () => {
	const summaryOf = async (...responses: JsonObject[]) => {
		respondWith(...responses.map((data): Reply => [200, { success: true, data }]));
		return await push(3, { ...RELEASE, ...inTwos });
	};

	test('adds up the responses', async () => {
		const both = { enqueued: true, warnings: ['w'], dnd_skipped: [{ number: 'x' }] };
		const { pushed } = await summaryOf(
			{
				campaign_upload_id: 1,
				contacts_received: 2,
				contacts_accepted: 2,
				queued_calls: 2,
				...both,
			},
			{ campaign_upload_id: 2, engine_skipped_duplicates: [phone(2)], queued_calls: 1, ...both },
		);
		expect(jsonOf(pushed)).toEqual([
			{
				summary: expect.stringMatching(/^3 rows: 2 pushed, 1 duplicate/),
				campaign_upload_ids: [1, 2],
				enqueued: true,
				contacts_received: 2,
				contacts_accepted: 2,
				duplicates_removed: 0,
				queued_calls: 3,
				engine_skipped_duplicates: [phone(2)],
				dnd_skipped: [{ number: 'x' }, { number: 'x' }],
				warnings: ['w'],
				totals: {
					...totals,
					...{ received: 3, pushed: 2, duplicate: 1, requests: 2, skipped_unmatched: 2 },
				},
			},
		]);
		expect(rowsOfItems(pushed)).toEqual([0, 1]);
	});

	test.each<[JsonObject, JsonObject]>([
		[
			{ ...list, enqueued: true, contacts_accepted: '1', warnings: 'b', dnd_skipped: null },
			{ campaign_upload_ids: [7, 7], contacts_accepted: 2, dnd_skipped: [], enqueued: true },
		],
		[
			{ contacts_accepted: 1, queued_calls: null, dnd_skipped: ['x'] },
			{ campaign_upload_ids: [7], contacts_accepted: 3, dnd_skipped: ['x'], enqueued: false },
		],
	])('adds up no missing and malformed fields: %j', async (second, sums) => {
		const first = { ...list, contacts_accepted: 2, enqueued: true, warnings: ['a', 'a'] };
		const [item] = (await summaryOf(first, second)).pushed;
		expect(item?.json).toMatchObject({ queued_calls: 0, warnings: ['a'], ...sums });
	});
});
