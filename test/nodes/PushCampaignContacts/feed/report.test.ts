import { describeRows, summarize } from '../../../../nodes/PushCampaignContacts/feed/report';
import type { JsonObject } from '../../../../nodes/shared/json';

const summaryOf = (...answers: JsonObject[]) =>
	summarize({
		received: answers.length,
		pushed: answers.map((answer, row) => ({ rows: [row], answer, unmatched: [] })),
		unsentRows: [],
	});

test.each<[string, JsonObject[], boolean]>([
	['all requests were', [{ enqueued: true }, { enqueued: true }], true],
	['one was not', [{ enqueued: true }, { enqueued: false }], false],
	['one does not say', [{ enqueued: true }, {}], false],
	['there was none', [], false],
])('the feed counts as released to the queue where %s', (_what, answers, enqueued) => {
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
	expect(describeRows(rows)).toBe(words);
});

test('of more than a hundred ranges the first hundred are told, and how far the others go', () => {
	const every = (count: number) => Array.from({ length: count }, (_, index) => 2 * index);
	expect(describeRows(every(100))).toMatch(/, 196, 198$/);
	expect(describeRows(every(103))).toMatch(/, 196, 198, and further ones up to 204$/);
	expect(describeRows([...every(102), 203])).toMatch(/, 198, and further ones up to 203$/);
});
