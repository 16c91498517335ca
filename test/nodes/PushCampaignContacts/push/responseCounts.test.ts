import fc from 'fast-check';
import { hintsFor } from '../../../../nodes/PushCampaignContacts/push/report';
import type { JsonObject, JsonValue } from '../../../../nodes/shared/json';
import { contactItems, json, phone, push, scripted, statuses } from './scripted';

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

/** A count as a service may write it, usually a possible one. */
const count = (sent: number): fc.Arbitrary<JsonValue | undefined> =>
	fc.oneof(
		{ weight: 4, arbitrary: fc.nat(sent + 1) },
		{ weight: 2, arbitrary: fc.constant(undefined) },
		fc.constant(sent),
		fc.nat(sent).map(String),
		fc.constantFrom<JsonValue[]>(null, -1, 1.5, 'NaN', '', 'two', true, {}, [], 1e21),
	);
const skips = (sent: number) =>
	fc.uniqueArray(fc.nat(sent - 1).map(phone), { maxLength: sent }).map((phones) => [...phones]);
const cases = fc.integer({ min: 1, max: 6 }).chain((sent) =>
	fc.record({
		sent: fc.constant(sent),
		received: count(sent),
		accepted: count(sent),
		duplicates: count(sent),
		queued: count(sent),
		dnd: skips(sent),
		engine: skips(sent),
		id: fc.constantFrom<JsonValue[]>(7, '7', null, 0),
	}),
);

/** Reads a count independently of the node. */
function numeric(value: JsonValue | undefined): number | 'missing' | 'unusable' {
	if (value === undefined || value === null) return 'missing';
	const read = typeof value === 'string' && value !== '' ? Number(value) : value;
	if (typeof read !== 'number' || !Number.isInteger(read) || read < 0) return 'unusable';
	return read;
}

test('pushes rows only if the counts account for each of them', async () => {
	let pushedPushes = 0;
	let unknownPushes = 0;
	await fc.assert(
		fc.asyncProperty(
			cases,
			async ({ sent: size, received, accepted, duplicates, queued, dnd, engine, id }) => {
				const data: JsonObject = JSON.parse(
					JSON.stringify({
						campaign_upload_id: id,
						contacts_received: received,
						contacts_accepted: accepted,
						duplicates_removed: duplicates,
						queued_calls: queued,
						dnd_skipped: dnd.map((number) => ({ phone: number })),
						engine_skipped_duplicates: engine,
					}),
				);
				const { sent, options } = respondWith(data);
				const outcome = await push(size, options);
				expect(sent).toHaveLength(1);
				const all = [
					...pushedRows(outcome),
					...Array.from(outcome.rejectedRows, ({ index }) => index),
				];
				expect([...all].sort((a, b) => a - b)).toEqual(contactItems(size).map((_, index) => index));

				const [r, a, d, q] = [received, accepted, duplicates, queued].map(numeric);
				const skipped = new Set([...dnd, ...engine]).size;
				const removed = typeof d === 'number' ? d : 0;
				const contradicts =
					[r, a, d, q].includes('unusable') ||
					removed > size ||
					(typeof r === 'number' && (r > size || r + removed + skipped < size)) ||
					(typeof a === 'number' && (a > size || a + removed + skipped < size)) ||
					(typeof a === 'number' && typeof r === 'number' && a > r);
				const isNamed = id === 7 || id === '7' || typeof a === 'number';
				if (contradicts || !isNamed) {
					unknownPushes++;
					expect(outcome.rejectedRows.count('unknown') === size).toBe(true);
					expect(outcome.pushed).toEqual([]);
					return;
				}
				pushedPushes++;
				expect(outcome.stopped).toBeUndefined();
				expect(pushedRows(outcome)).toHaveLength(size - skipped);
			},
		),
		{ numRuns: 2_000 },
	);
	expect(Math.min(pushedPushes, unknownPushes)).toBeGreaterThan(100);
});

describe('release to the calling queue', () => {
	const hints = async (enqueue: boolean, data: JsonObject) => {
		const { options } = respondWith({ ...list, contacts_accepted: 2, ...data });
		const campaign = { ...options.campaign, enqueue };
		return hintsFor(await push(2, { ...options, campaign }));
	};

	const released = /^2 rows: 2 pushed\. Pushed rows were released to the calling queue\. Calls go/;
	const queued =
		/^2 rows: 2 pushed\. Pushed rows were released, and the service queued 2 calls\. Calls/;
	const waiting =
		/^2 rows: 2 pushed\. Pushed rows wait in the campaign, and nobody is called until/;

	test.each<[boolean, JsonObject, RegExp]>([
		[true, {}, released],
		[true, { enqueued: true }, released],
		[true, { enqueued: true, queued_calls: 2 }, queued],
		[false, { enqueued: false, queued_calls: 0 }, waiting],
		[false, {}, waiting],
	])('the only hint says whether anybody is called: %j %j', async (enqueue, data, words) => {
		expect(await hints(enqueue, data)).toEqual([expect.stringMatching(words)]);
	});

	test('shows a hint if contacts were not released', async () => {
		expect(await hints(true, { enqueued: false, queued_calls: 0 })).toEqual([
			'2 rows: 2 pushed.',
			"'Release to Calling Queue' is on, but the service returned enqueued: false for 2 rows, so they may not be called. Check the campaign in the service.",
		]);
	});

	test('shows a hint if contacts were released unexpectedly', async () => {
		expect(await hints(false, { enqueued: true })).toEqual([
			'2 rows: 2 pushed.',
			"'Release to Calling Queue' is off, but the service returned enqueued: true for 2 rows, so they may be called. Check the campaign in the service.",
		]);
	});

	test('shows a hint if fewer calls are queued than rows were pushed', async () => {
		expect(await hints(true, { enqueued: true, queued_calls: 1 })).toEqual([
			expect.stringMatching(
				/^2 rows: 2 pushed\. Pushed rows were released, and the service queued/,
			),
			'The service queued only 1 call for 2 rows. Check the campaign in the service.',
		]);
		expect(await hints(true, { queued_calls: '0' })).toEqual([
			expect.stringMatching(
				/^2 rows: 2 pushed\. Pushed rows were released, and the service queued/,
			),
			'The service queued only 0 calls for 2 rows. Check the campaign in the service.',
		]);
	});

	test('reads enqueued as text', async () => {
		expect(await hints(true, { enqueued: 'false' })).toEqual([
			'2 rows: 2 pushed.',
			expect.stringContaining('the service returned enqueued: false for 2 rows'),
		]);
	});

	test('expects no call for a duplicate, and reports it', async () => {
		const data = { enqueued: true, queued_calls: 1, contacts_accepted: 1, duplicates_removed: 1 };
		expect(await hints(true, data)).toEqual([
			expect.stringMatching(
				/^2 rows: 2 pushed\. Pushed rows were released, and the service queued/,
			),
			"The service removed 1 contact as a duplicate and doesn't say which. The rows of removed contacts count as pushed.",
		]);
	});

	test('expects no call for skipped rows', async () => {
		const skipped = { dnd_skipped: [phone(0)], engine_skipped_duplicates: [phone(1)] };
		const [summary, ...others] = await hints(true, {
			enqueued: false,
			queued_calls: 0,
			...skipped,
		});
		expect(summary).toMatch(/^2 rows: 0 pushed/);
		expect(others).toEqual([]);
	});
});
