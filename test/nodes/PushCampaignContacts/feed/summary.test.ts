import { summarize } from '../../../../nodes/PushCampaignContacts/feed/summary';
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
