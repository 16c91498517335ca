import { readAccepted } from '../../../../nodes/PushCampaignContacts/push/accepted';
import type { JsonObject, JsonValue } from '../../../../nodes/shared/json';
import { countRows, hintsFor } from '../../../../nodes/PushCampaignContacts/push/report';
import { json, phone, push, scripted, statuses } from './scripted';

const respondWith = (data: JsonObject) => scripted(() => json(200, { success: true, data }));
const pushedRows = ({ pushed }: Awaited<ReturnType<typeof push>>) =>
	pushed.flatMap(({ rows }) => [...rows]);

const list = { campaign_upload_id: 7 };

const rows = [4, 5, 6, 7];
const keyOf = (row: number) => `91${phone(row)}`;
const skipped = (answer: JsonObject) => {
	const found = readAccepted(rows, answer, keyOf);
	return {
		rows: found.skipped.map(({ index, status }) => `${index} ${status}`),
		unmatched: found.request.unmatched,
	};
};

describe('dnd_skipped: finds the number anywhere in an entry', () => {
	const sixth = phone(6);
	test.each<[string, JsonValue]>([
		['in a field', { phone: `+91${sixth}`, reason: 'dnd' }],
		['under any name', { number: sixth, index: 4 }],
		['as a number', { msisdn: Number(`91${sixth}`) }],
		['written with spaces', { phone: `+91 ${sixth.slice(0, 5)} ${sixth.slice(5)}` }],
		['deeper', { contact: { details: { phone: `+91${sixth}` } }, entry: { id: 12 } }],
		[
			'beside an agent and a date',
			{ agent_uuid: 'agent_1', at: '2026-11-20T10:00:00+05:30', p: sixth },
		],
		['as a name', { [`+91${sixth}`]: { reason: 'opt-out' } }],
		['in a sentence', { message: `Skipped +91${sixth}: on the list` }],
		['in a sentence, without a plus', { message: `Skipped 91${sixth}: on the list` }],
		['as the entry itself', `+91${sixth}`],
		['twice, each in an object of its own', { was: { p: sixth }, is: { p: `+91${sixth}` } }],
		['twice in one entry', { phone: sixth, phone_e164: `+91${sixth}` }],
		['six levels down', { a: { b: { c: { d: { e: { f: { g: sixth } } } } } } }],
		['behind many other values', { list: [...Array.from({ length: 150 }, (_, i) => i), sixth] }],
		['in one list of one', { reason: 'dnd', phones: [`+91${sixth}`] }],
	])('%s', (_name, entry) => {
		expect(skipped({ dnd_skipped: [entry] })).toEqual({
			rows: ['6 do_not_disturb'],
			unmatched: [],
		});
	});

	test.each<[string, JsonValue]>([
		['of another request', { phone: `+91${phone(3)}` }],
		['that is masked', { phone: '+9190000XXXX6' }],
		['that is not there', { index: 6 }],
		['beside a masked one', { phone: 'XXXXXX0004', added_by: phone(5) }],
		['beside the phone of another request', { phone: phone(3), added_by: phone(5) }],
		['of two rows, without a clear one', { phone: phone(4), kept: phone(5) }],
		['of two rows, each in an object of its own', { a: { p: phone(4) }, b: { p: phone(5) } }],
		['of two rows, in a list', { reason: 'dnd', phones: [phone(4), phone(7)] }],
		['of two rows, in a sentence', { message: `Skipped ${phone(4)}, kept ${phone(5)}` }],
		['null', null],
	])('returns a number %s as unmatched', (_name, entry) => {
		expect(skipped({ dnd_skipped: [entry] })).toEqual({ rows: [], unmatched: [entry] });
	});

	test('skips the rows of a number once', () => {
		const twice = (row: number) => keyOf(row === 1 ? 5 : 4);
		const answer = { dnd_skipped: [phone(4), phone(4)], engine_skipped_duplicates: [phone(4)] };
		expect(readAccepted([0, 1, 2], answer, twice)).toMatchObject({
			skipped: [
				{ index: 0, status: 'do_not_disturb' },
				{ index: 2, status: 'do_not_disturb' },
			],
			request: { unmatched: [] },
		});
	});
});

test.each([`+91${phone(5)}`, phone(5), `91${phone(5)}`, `0${phone(5)}`])(
	'engine_skipped_duplicates: %p matches the row in any format',
	(number) => {
		expect(skipped({ engine_skipped_duplicates: [number] })).toEqual({
			rows: ['5 skipped_duplicate'],
			unmatched: [],
		});
	},
);

test('ignores malformed lists', () => {
	const lists = { engine_skipped_duplicates: null, dnd_skipped: {} };
	expect(skipped(lists)).toEqual({ rows: [], unmatched: [] });
});

test('moves skipped rows to Rejected with a reason, and the totals add up', async () => {
	const data: JsonObject = {
		campaign_upload_id: 501,
		dnd_skipped: [{ phone: `+91${phone(1)}`, since: '2026-01-05' }, { phone: 'hidden' }],
		engine_skipped_duplicates: [phone(3)],
	};
	const outcome = await push(5, respondWith(data).options);
	expect(outcome.pushed.map((request) => [...request.rows])).toEqual([[0, 2, 4]]);
	expect([...outcome.notPushed]).toEqual([
		{
			index: 1,
			status: 'do_not_disturb',
			reason: `The service skipped this row, because its number is on the do-not-disturb list of the agent. The service returned phone: +91${phone(1)}, since: 2026-01-05.`,
		},
		{
			index: 3,
			status: 'skipped_duplicate',
			reason: 'The service skipped this number as a duplicate.',
		},
	]);
	expect(countRows(outcome)).toMatchObject({ received: 5, pushed: 3, skipped_unmatched: 1 });
});

test.each<JsonObject>([
	{ contacts_accepted: 0 },
	{ contacts_accepted: 1 },
	{ contacts_accepted: 3 },
	{ contacts_accepted: '1' },
	{ ...list, contacts_accepted: 1 },
	{ ...list, contacts_received: 1 },
	{ ...list, contacts_received: 3 },
	{ ...list, contacts_received: 0, contacts_accepted: 0 },
	{ ...list, contacts_received: 1, contacts_accepted: 2, duplicates_removed: 1 },
	{ ...list, contacts_received: '1', contacts_accepted: 2 },
	{ ...list, contacts_received: 2, contacts_accepted: 1, duplicates_removed: 0 },
	{ ...list, contacts_received: 2, contacts_accepted: 2, duplicates_removed: 3 },
	{ ...list, contacts_accepted: 2, duplicates_removed: -1 },
	{ ...list, contacts_accepted: -2, duplicates_removed: 2 },
	{ ...list, contacts_accepted: 1.5, duplicates_removed: 1 },
	{ ...list, contacts_accepted: 'NaN' },
	{ ...list, contacts_accepted: 'Infinity' },
	{ ...list, contacts_accepted: '' },
	{ ...list, contacts_accepted: {} },
	{ ...list, contacts_accepted: false },
	{ ...list, contacts_accepted: 2, queued_calls: -1 },
	{ ...list, contacts_accepted: 2, queued_calls: 'many' },
	{ ...list, contacts_accepted: 0, dnd_skipped: [{ phone: phone(0) }, { phone: phone(0) }] },
	{ ...list, contacts_accepted: 0, dnd_skipped: 2 },
	{ ...list, contacts_accepted: 0, dnd_skipped: [{}, {}] },
	{ ...list, contacts_accepted: 0, dnd_skipped: [{ all: [phone(0), phone(1)] }] },
	{ ...list, contacts_accepted: 0, dnd_skipped: [phone(0), { number: 'hidden' }] },
])('impossible counts leave both rows unknown: %j', async (data) => {
	const { sent, options } = respondWith(data);
	const outcome = await push(2, options);
	expect(statuses(outcome)).toEqual(['0 unknown', '1 unknown']);
	expect(outcome.pushed).toEqual([]);
	expect(outcome.stopped).toMatchObject({
		outcome: 'unknown',
		message: expect.stringMatching(
			/^The response doesn't account for all contacts: the request had 2 contacts, the response has .*\. It's unknown which contacts are in the campaign$/,
		),
	});
	expect(sent).toEqual([[phone(0), phone(1)]]);
});

test.each<[number, JsonObject, string, string]>([
	[
		2,
		{ ...list, contacts_received: 2, contacts_accepted: 0, dnd_skipped: [phone(0)] },
		'2 contacts, the response has contacts_received: 2, contacts_accepted: 0, skipped: 1.',
		'compare contact list 7 of the campaign with your rows.',
	],
	[
		1,
		{ contacts_accepted: 0 },
		'1 contact, the response has contacts_accepted: 0.',
		'compare the newest contact list of the campaign with your rows.',
	],
])('shows the counts of %i rows, and the contact list', async (rows, data, counts, compare) => {
	const { stopped } = await push(rows, respondWith(data).options);
	expect(stopped).toMatchObject({
		message: expect.stringContaining(`the request had ${counts}`),
		resolution: `They weren't sent again. Before you push them again, ${compare}`,
	});
});

test.each<[JsonObject, pushed: number[]]>([
	[{ ...list }, [0, 1]],
	[{ contacts_accepted: 2 }, [0, 1]],
	[{ contacts_accepted: '2' }, [0, 1]],
	[{ ...list, contacts_received: null, contacts_accepted: null, queued_calls: null }, [0, 1]],
	[{ ...list, contacts_received: 2, contacts_accepted: 2, queued_calls: 9 }, [0, 1]],
	// Duplicates for the service: counted as received, or not.
	[{ ...list, contacts_received: 2, contacts_accepted: 1, duplicates_removed: 1 }, [0, 1]],
	[{ ...list, contacts_received: 1, contacts_accepted: 1, duplicates_removed: 1 }, [0, 1]],
	// Skipped: accepted, or not.
	[{ ...list, contacts_accepted: 2, dnd_skipped: [{ phone: phone(0) }] }, [1]],
	[{ ...list, contacts_accepted: 1, dnd_skipped: [{ phone: phone(0) }] }, [1]],
	[{ ...list, contacts_accepted: 2, engine_skipped_duplicates: [phone(1)] }, [0]],
	[{ ...list, contacts_accepted: 1, engine_skipped_duplicates: [phone(1)] }, [0]],
	[{ contacts_received: 1, contacts_accepted: 1, dnd_skipped: [phone(0)], ...list }, [1]],
	[{ contacts_accepted: 0, dnd_skipped: [phone(0)], engine_skipped_duplicates: [phone(1)] }, []],
	// The entry names no row, which a hint says.
	[{ ...list, contacts_accepted: 1, dnd_skipped: [{ id: 9 }] }, [0, 1]],
])('accepts possible counts: %j', async (data, rows) => {
	const outcome = await push(2, respondWith(data).options);
	expect(outcome.stopped).toBeUndefined();
	expect(pushedRows(outcome)).toEqual(rows);
});

test('reads counts and skipped numbers beside data', async () => {
	const body = (beside: JsonObject) => json(200, { success: true, data: list, ...beside });
	const wrong = scripted(() => body({ contacts_accepted: 0 }));
	expect(statuses(await push(2, wrong.options))).toEqual(['0 unknown', '1 unknown']);
	const skipped = scripted(() => body({ contacts_accepted: 1, dnd_skipped: [phone(0)] }));
	expect(statuses(await push(2, skipped.options))).toEqual(['0 do_not_disturb']);
});

describe('the hints about the release to the calling queue', () => {
	const PUSHED = '2 rows: 2 pushed.';
	const released = (calls: string) =>
		`${PUSHED} Pushed rows were released to the calling queue${calls}. Calls go out only on the campaign's calling days and in its call window.`;
	const queued = (calls: string) => released(`, and the service queued ${calls}`);
	const waiting =
		/^2 rows: 2 pushed\. Pushed rows wait in the campaign, and nobody is called until/;
	const NOT_CONFIRMED =
		"'What to Do' is 'Add and Release', but the service didn't confirm the release of 2 rows, so they may not be called. Check the campaign in the service.";
	const CONTRARY =
		"'What to Do' is 'Add and Let Wait', but the service reported the release of 2 rows, so they may be called. Check the campaign in the service.";
	const REMOVED =
		"The service removed 1 duplicate and doesn't say which. The rows of removed contacts count as pushed.";
	const SKIPPED = { dnd_skipped: [phone(0)], engine_skipped_duplicates: [phone(1)] };

	test.each<[enqueue: boolean, JsonObject, Array<string | RegExp>]>([
		[true, {}, [PUSHED, NOT_CONFIRMED]],
		[true, { enqueued: true }, [released('')]],
		[true, { enqueued: true, queued_calls: '1' }, [queued('1 call')]],
		[false, { enqueued: false, queued_calls: 0 }, [waiting]],
		[false, {}, [waiting]],
		[true, { enqueued: false, queued_calls: 0 }, [PUSHED, NOT_CONFIRMED]],
		[true, { enqueued: 'false' }, [PUSHED, NOT_CONFIRMED]],
		[false, { enqueued: true }, [PUSHED, CONTRARY]],
		[
			true,
			{ enqueued: true, queued_calls: 1, contacts_accepted: 1, duplicates_removed: 1 },
			[queued('1 call'), REMOVED],
		],
		[true, { enqueued: false, queued_calls: 0, ...SKIPPED }, [/^2 rows: 0 pushed/]],
	])('switch %j, response %j', async (enqueue, data, expected) => {
		const { options } = respondWith({ ...list, contacts_accepted: 2, ...data });
		const campaign = { ...options.campaign, enqueue };
		const hints = hintsFor(await push(2, { ...options, campaign }));
		expect(hints).toEqual(
			expected.map((hint): unknown =>
				typeof hint === 'string' ? hint : expect.stringMatching(hint),
			),
		);
	});
});
