import { hintsFor } from '../../../../nodes/PushCampaignContacts/push/report';
import type { JsonObject } from '../../../../nodes/shared/json';
import { json, phone, push, scripted, statuses } from './scripted';

const respondWith = (data: JsonObject) => scripted(() => json(200, { success: true, data }));
const pushedRows = ({ pushed }: Awaited<ReturnType<typeof push>>) =>
	pushed.flatMap(({ rows }) => [...rows]);

const list = { campaign_upload_id: 7 };
const two = [phone(0), phone(1)];

describe('impossible counts leave both rows unknown', () => {
	test.each<JsonObject>([
		{ contacts_accepted: 0 },
		{ contacts_accepted: 1 },
		{ contacts_accepted: 3 },
		{ contacts_accepted: '1' },
		{ ...list, contacts_accepted: 0 },
		{ ...list, contacts_accepted: 1 },
		{ ...list, contacts_received: 1 },
		{ ...list, contacts_received: 3 },
		{ ...list, contacts_received: 0, contacts_accepted: 0 },
		{ ...list, contacts_received: 1, contacts_accepted: 1 },
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
		{ ...list, contacts_accepted: 0, dnd_skipped: [phone(0)] },
		{ ...list, contacts_accepted: 0, dnd_skipped: [{ phone: phone(0) }, { phone: phone(0) }] },
		{ ...list, contacts_accepted: 0, dnd_skipped: 2 },
		{ ...list, contacts_accepted: 0, warnings: ['a', 'b'] },
		{ ...list, contacts_accepted: 0, dnd_skipped: [{}, {}] },
		{ ...list, contacts_accepted: 0, dnd_skipped: [phone(0), { number: 'hidden' }] },
	])('%j', async (data) => {
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
		expect(sent).toEqual([two]);
	});

	test('shows the counts and the contact list', async () => {
		const data = {
			...list,
			contacts_received: 2,
			contacts_accepted: 0,
			dnd_skipped: [two[0] ?? ''],
		};
		const { stopped } = await push(2, respondWith(data).options);
		expect(stopped).toMatchObject({
			message: expect.stringContaining(
				'has contacts_received: 2, contacts_accepted: 0, skipped: 1.',
			),
			resolution:
				"They weren't sent again. Before you push them again, compare contact list 7 of the campaign with your rows.",
		});
		const { stopped: one } = await push(1, respondWith({ contacts_accepted: 0 }).options);
		expect(one?.message).toContain(
			'the request had 1 contact, the response has contacts_accepted: 0.',
		);
		expect(one?.resolution).toContain('compare the newest contact list of the campaign');
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
	[{ ...list, contacts_accepted: 0, dnd_skipped: [{ all: two }] }, []],
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
	const released = /^2 rows: 2 pushed\. Pushed rows were released to the calling queue\. Calls go/;
	const queued = (calls: string) =>
		new RegExp(
			`^2 rows: 2 pushed\\. Pushed rows were released, and the service queued ${calls}\\. Calls`,
		);
	const waiting =
		/^2 rows: 2 pushed\. Pushed rows wait in the campaign, and nobody is called until/;
	const contrary = (setting: string, enqueued: boolean, effect: string) =>
		`'Release to Calling Queue' is ${setting}, but the service returned enqueued: ${enqueued} for 2 rows, so they ${effect}. Check the campaign in the service.`;
	const SHORT = (calls: string) =>
		`The service queued only ${calls} for 2 rows. Check the campaign in the service.`;
	const REMOVED =
		"The service removed 1 contact as a duplicate and doesn't say which. The rows of removed contacts count as pushed.";
	const SKIPPED = { dnd_skipped: [phone(0)], engine_skipped_duplicates: [phone(1)] };

	test.each<[enqueue: boolean, JsonObject, Array<string | RegExp>]>([
		[true, {}, [released]],
		[true, { enqueued: true }, [released]],
		[true, { enqueued: true, queued_calls: 2 }, [queued('2 calls')]],
		[false, { enqueued: false, queued_calls: 0 }, [waiting]],
		[false, {}, [waiting]],
		[
			true,
			{ enqueued: false, queued_calls: 0 },
			[PUSHED, contrary('on', false, 'may not be called')],
		],
		[true, { enqueued: 'false' }, [PUSHED, contrary('on', false, 'may not be called')]],
		[false, { enqueued: true }, [PUSHED, contrary('off', true, 'may be called')]],
		[true, { enqueued: true, queued_calls: 1 }, [queued('1 call'), SHORT('1 call')]],
		[true, { queued_calls: '0' }, [queued('0 calls'), SHORT('0 calls')]],
		// No call is expected for a duplicate and for skipped rows.
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
