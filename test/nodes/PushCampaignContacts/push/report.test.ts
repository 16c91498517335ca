import {
	describeOutcome,
	summarize,
	unmatchedIn,
} from '../../../../nodes/PushCampaignContacts/push/report';
import { namesOfItems } from '../../../../nodes/PushCampaignContacts/push/rows';
import type { JsonObject } from '../../../../nodes/shared/json';
import { accept, contactItems, json, phone, push, reject, scripted } from './scripted';

test('the outcome is told in words, exactly', async () => {
	const { options } = scripted((phones, request) => {
		if (request === 1) return reject('contacts[0] is invalid');
		return request === 2 ? accept(phones, request) : json(503, {});
	});
	const again = [{ json: { phone: phone(1) } }];
	expect(describeOutcome(await push([...contactItems(20_001), ...again], options))).toEqual([
		'20,002 rows: 9,999 pushed, 1 rejected, 1 left out as duplicates, 10,000 unknown, 1 not sent.',
		'Pushed: 9,999 rows (items 1 to 9999, contact list 502). They are in the campaign: leave them out when you push the others again.',
		'Duplicates: 1 row (item 20001). Leave them out too: each has the number of another row.',
		'Unknown: 10,000 rows (items 10000 to 19999). They may or may not be in the campaign: compare its newest contact list with your rows (Campaign Status shows the lists) before you push them again.',
		'Not sent: 1 row (item 20000). They can be pushed again as they are.',
		'Rejected: 1 row. [item 0] The service does not accept this row. It said: contacts[0] is invalid',
		'Retry of this execution, from the list of executions, does so by itself: it sends only what was not sent.',
	]);
});

test('of several requests all lists are named, and of many rejected rows the first five', async () => {
	const { options } = scripted((phones, request) =>
		request === 3 ? reject('Campaign is archived', 409) : accept(phones, request),
	);
	const unreadable = Array.from({ length: 7 }, () => ({ json: { phone: 'x' } }));
	const outcome = await push([...contactItems(5), ...unreadable], {
		...options,
		contactsPerRequest: 2,
	});
	const lines = describeOutcome(outcome);
	expect(lines[1]).toMatch(/^Pushed: 4 rows \(items 0 to 3, contact lists 501, 502\)\. /);
	const rejected = lines.find((line) => line.startsWith('Rejected'));
	expect(rejected).toMatch(/^Rejected: 7 rows\. \[item 5\] "x" is not a phone number\. /);
	expect(rejected?.match(/\[item \d+\]/g)).toHaveLength(5);
	expect(rejected).toMatch(/ … and 2 rows more\.$/);
});

test('a list that the service does not name is left out', async () => {
	const { options } = scripted((_phones, request) =>
		request === 1
			? json(200, { success: true, data: { contacts_accepted: 1 } })
			: reject('Campaign is archived', 409),
	);
	const lines = describeOutcome(await push(2, { ...options, contactsPerRequest: 1 }));
	expect(lines[1]).toMatch(/^Pushed: 1 row \(item 0\)\. /);
});

const summaryOf = (...answers: JsonObject[]) =>
	summarize({
		received: answers.length,
		pushed: answers.map((answer, row) => ({ rows: [row], answer, unmatched: [] })),
		rejectedRows: [],
	});

test.each<[string, JsonObject[], boolean]>([
	['all requests were', [{ enqueued: true }, { enqueued: true }], true],
	['one was not', [{ enqueued: true }, { enqueued: false }], false],
	['one does not say', [{ enqueued: true }, {}], false],
	['there was none', [], false],
])('the push counts as released to the queue where %s', (_what, answers, enqueued) => {
	expect(summaryOf(...answers)).toMatchObject({ enqueued });
});

test('what an answer does not hold, or holds in another form, adds nothing', () => {
	const whole = {
		campaign_upload_id: 7,
		contacts_accepted: 2,
		warnings: ['a'],
		dnd_skipped: ['x'],
	};
	const other = { contacts_accepted: '3', warnings: 'b', dnd_skipped: null };
	const summary = summaryOf(whole, other, {});
	expect(summary).toMatchObject({ contacts_accepted: 2, queued_calls: 0 });
	expect(summary.campaign_upload_ids).toStrictEqual([7]);
	expect(summary.warnings).toEqual(['a']);
	expect(summary.dnd_skipped).toEqual(['x']);
});

test('a warning that every request brings is told once', () => {
	const paused = { warnings: [{ code: 'paused' }, 'late'] };
	expect(summaryOf(paused, paused)).toMatchObject({ warnings: [{ code: 'paused' }, 'late'] });
});

test.each<[number[], string]>([
	[[7], 'item 7'],
	[[3, 4, 5], 'items 3 to 5'],
	[[9, 1, 0, 2], 'items 0 to 2, 9'],
])('the rows %j are told as %s', (rows, words) => {
	expect(namesOfItems.several(rows)).toBe(words);
});

test('of more than a hundred ranges the first hundred are told, and how far the others go', () => {
	const every = (count: number) => Array.from({ length: count }, (_, index) => 2 * index);
	expect(namesOfItems.several(every(100))).toMatch(/, 196, 198$/);
	expect(namesOfItems.several(every(103))).toMatch(/, 196, 198, and further ones up to 204$/);
	expect(namesOfItems.several([...every(102), 203])).toMatch(/, 198, and further ones up to 203$/);
});

test.each([
	[1, '"x0"'],
	[5, '"x0", "x1", "x2", "x3", "x4"'],
	[6, '"x0", "x1", "x2", "x3", "x4", …'],
])('of %i skipped entries that match no row, the first five are shown', (count, shown) => {
	const unmatched = Array.from({ length: count }, (_, index) => `x${index}`);
	const pushed = [{ rows: [0], answer: {}, unmatched }];
	expect(unmatchedIn({ received: 1, pushed, rejectedRows: [] })).toEqual([
		`The service says that it skipped ${count} more, in which no number of these rows can be found: ${shown}. Such rows are still counted as pushed.`,
	]);
});
