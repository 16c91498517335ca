import type { FeedOutcome, LeftOutRow, RowStatus } from './feed';

const SHOWN_REASONS = 5;
const SHOWN_RANGES = 10;

export type FeedCounts = {
	received: number;
	pushed: number;
	requests: number;
} & Record<RowStatus, number>;

export function countRows({ received, pushed, leftOut }: FeedOutcome): FeedCounts {
	const counts: FeedCounts = {
		received,
		pushed: pushed.reduce((sum, { rows }) => sum + rows.length, 0),
		requests: pushed.length,
		rejected: 0,
		unknown: 0,
		not_sent: 0,
		duplicate: 0,
	};
	for (const { status } of leftOut) counts[status]++;
	return counts;
}

/** What became of every row of a feed that stopped before its end, for a person to act on. */
export function describeOutcome(outcome: FeedOutcome): string {
	const counts = countRows(outcome);
	const of = (status: RowStatus) => outcome.leftOut.filter((row) => row.status === status);
	const lines = [
		`Pushed: ${rowCount(counts.pushed)}${requestsOf(outcome)}.`,
		counts.unknown > 0 &&
			`Unknown: ${rowCount(counts.unknown)} (${ranges(of('unknown'))}). They may or may not be in the campaign: compare its newest contact list with your rows (Campaign Status shows the lists) before you push them again.`,
		counts.not_sent > 0 &&
			`Not sent: ${rowCount(counts.not_sent)} (${ranges(of('not_sent'))}). They can be pushed again as they are.`,
		counts.rejected > 0 && `Rejected: ${rowCount(counts.rejected)}. ${reasons(of('rejected'))}`,
		counts.duplicate > 0 && `Duplicates left out: ${rowCount(counts.duplicate)}.`,
	];
	return lines.filter((line) => line !== false).join('\n');
}

function requestsOf({ pushed }: FeedOutcome): string {
	if (pushed.length === 0) return '';
	const lists = pushed
		.map(({ answer }) => answer.campaign_upload_id)
		.filter((id) => typeof id === 'number' || typeof id === 'string');
	const named = lists.length > 0 ? `, contact lists ${lists.join(', ')}` : '';
	const rows = pushed.flatMap(({ rows: pushedRows }) => pushedRows.map((index) => ({ index })));
	return ` (${ranges(rows)}${named})`;
}

function reasons(rows: readonly LeftOutRow[]): string {
	const shown = rows
		.slice(0, SHOWN_REASONS)
		.map(({ index, reason }) => `[item ${index}] ${reason}`);
	const more = rows.length - shown.length;
	return [...shown, ...(more > 0 ? [`… and ${rowCount(more)} more.`] : [])].join(' ');
}

/** "items 0 to 9999, 10004": n8n numbers items from 0. */
function ranges(rows: ReadonlyArray<{ index: number }>): string {
	const spans: Array<{ from: number; to: number }> = [];
	for (const { index } of rows) {
		const last = spans.at(-1);
		if (last?.to === index - 1) last.to = index;
		else spans.push({ from: index, to: index });
	}
	const shown = spans
		.slice(0, SHOWN_RANGES)
		.map(({ from, to }) => (from === to ? String(from) : `${from} to ${to}`));
	const more = spans.length > SHOWN_RANGES ? ', …' : '';
	return `${rows.length === 1 ? 'item' : 'items'} ${shown.join(', ')}${more}`;
}

export function rowCount(count: number): string {
	return `${count.toLocaleString('en-US')} ${count === 1 ? 'row' : 'rows'}`;
}
