import { ROW_STATUSES, type FeedOutcome, type LeftOutRow, type RowStatus } from './feed';
import { describeRows } from './rowRanges';

const SHOWN_REASONS = 5;

/** `received` is the sum of `pushed` and of all that was left out. */
export type FeedCounts = {
	received: number;
	/** Rows that are in the campaign and can be called. */
	pushed: number;
	requests: number;
	/** What the service says it skipped, and no row could be told to be: among the pushed ones. */
	skipped_unmatched: number;
} & Record<RowStatus, number>;

const WORDS: Record<RowStatus, string> = {
	rejected: 'rejected',
	do_not_disturb: 'on the do-not-disturb list',
	already_queued: 'queued already',
	duplicate: 'left out as duplicates',
	unknown: 'unknown',
	not_sent: 'not sent',
};

export function countRows({ received, pushed, unsentRows }: FeedOutcome): FeedCounts {
	const counts: FeedCounts = {
		received,
		pushed: pushed.reduce((sum, { rows }) => sum + rows.length, 0),
		rejected: 0,
		do_not_disturb: 0,
		already_queued: 0,
		duplicate: 0,
		unknown: 0,
		not_sent: 0,
		requests: pushed.length,
		skipped_unmatched: pushed.reduce((sum, { unmatched }) => sum + unmatched.length, 0),
	};
	for (const { status } of unsentRows) counts[status]++;
	return counts;
}

/** "10 rows: 7 pushed, 2 rejected, 1 on the do-not-disturb list." The numbers add up. */
export function sumUp(outcome: FeedOutcome): string {
	const counts = countRows(outcome);
	const parts = ROW_STATUSES.filter((status) => counts[status] > 0).map(
		(status) => `${number(counts[status])} ${WORDS[status]}`,
	);
	return `${rowCount(counts.received)}: ${[`${number(counts.pushed)} pushed`, ...parts].join(', ')}.`;
}

/** What became of every row of a feed that stopped before its end: the summary, and what to do with which rows. */
export function describeOutcome(outcome: FeedOutcome): string[] {
	const of = (status: RowStatus) => outcome.unsentRows.filter((row) => row.status === status);
	const [unknown, notSent, rejected] = [of('unknown'), of('not_sent'), of('rejected')];
	const skipped = [...of('do_not_disturb'), ...of('already_queued')];
	const duplicates = of('duplicate');
	const pushed = outcome.pushed.flatMap(({ rows }) => rows);
	const lines = [
		sumUp(outcome),
		pushed.length > 0 &&
			`Pushed: ${rowCount(pushed.length)} (${describeRows(pushed)}${listsOf(outcome)}). They are in the campaign: leave them out when you push the others again.`,
		skipped.length > 0 &&
			`Skipped by the service: ${rowCount(skipped.length)} (${places(skipped)}). Leave them out too.`,
		duplicates.length > 0 &&
			`Duplicates: ${rowCount(duplicates.length)} (${places(duplicates)}). Leave them out too: each has the number of another row.`,
		unknown.length > 0 &&
			`Unknown: ${rowCount(unknown.length)} (${places(unknown)}). They may or may not be in the campaign: compare its newest contact list with your rows (Campaign Status shows the lists) before you push them again.`,
		notSent.length > 0 &&
			`Not sent: ${rowCount(notSent.length)} (${places(notSent)}). They can be pushed again as they are.`,
		rejected.length > 0 && `Rejected: ${rowCount(rejected.length)}. ${reasons(rejected)}`,
		...unmatchedIn(outcome),
		pushed.length > 0 &&
			notSent.length > 0 &&
			'Retry of this execution, from the list of executions, does so by itself: it sends only what was not sent.',
	];
	return lines.filter((line) => line !== false);
}

/** Nothing that the service skipped goes without a word, even where it is not clear whom it means. */
export function unmatchedIn({ pushed }: FeedOutcome): string[] {
	const unmatched = pushed.flatMap((request) => request.unmatched);
	if (unmatched.length === 0) return [];
	const shown = unmatched.slice(0, SHOWN_REASONS).map((entry) => JSON.stringify(entry));
	const more = unmatched.length > shown.length ? ', …' : '';
	return [
		`The service says that it skipped ${number(unmatched.length)} more, in which no number of these rows can be found: ${shown.join(', ')}${more}. Such rows are still counted as pushed.`,
	];
}

function listsOf({ pushed }: FeedOutcome): string {
	const lists = pushed
		.map(({ answer }) => answer.campaign_upload_id)
		.filter((id) => typeof id === 'number' || typeof id === 'string');
	if (lists.length === 0) return '';
	return `, contact ${lists.length === 1 ? 'list' : 'lists'} ${lists.join(', ')}`;
}

function places(rows: readonly LeftOutRow[]): string {
	return describeRows(rows.map(({ index }) => index));
}

function reasons(rows: readonly LeftOutRow[]): string {
	const shown = rows
		.slice(0, SHOWN_REASONS)
		.map(({ index, reason }) => `[item ${index}] ${reason}`);
	const more = rows.length - shown.length;
	return [...shown, ...(more > 0 ? [`… and ${rowCount(more)} more.`] : [])].join(' ');
}

export function rowCount(count: number): string {
	return `${number(count)} ${count === 1 ? 'row' : 'rows'}`;
}

function number(count: number): string {
	return count.toLocaleString('en-US');
}
