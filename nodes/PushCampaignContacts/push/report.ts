import sumBy from 'lodash/sumBy';
import uniqBy from 'lodash/uniqBy';
import { numberIn, type JsonObject, type JsonValue } from '../../shared/json';
import {
	ROW_STATUSES,
	type PushOutcome,
	type PushedRequest,
	type RejectedRow,
	type RowStatus,
} from './pushTypes';
import { namesOfItems, type RowNames } from './rows';

const SHOWN_REASONS = 5;

/** `received` is the sum of `pushed` and of all that was left out. */
export type PushCounts = {
	received: number;
	/** Rows that are in the campaign and can be called. */
	pushed: number;
	requests: number;
	/** What the service says it skipped, and no row could be told to be: among the pushed ones. */
	skipped_unmatched: number;
	/** Of a dry run alone: rows that would be sent. */
	ready?: number;
} & Record<RowStatus, number>;

const WORDS: Record<RowStatus, string> = {
	rejected: 'rejected',
	do_not_disturb: 'on the do-not-disturb list',
	skipped_duplicate: 'skipped as duplicates',
	duplicate: 'left out as duplicates',
	pushed_before: 'pushed before',
	unknown: 'unknown',
	not_sent: 'not sent',
};

/** Of a dry run, in which the service has said nothing yet. */
const WORDS_OF_DRY_RUN: Partial<Record<RowStatus, [one: string, several: string]>> = {
	rejected: ['unusable', 'unusable'],
	duplicate: ['duplicate', 'duplicates'],
};

export function countRows({
	received,
	pushed,
	rejectedRows: rejectedRows,
	ready,
}: PushOutcome): PushCounts {
	const counts: PushCounts = {
		received,
		pushed: pushed.reduce((sum, { rows }) => sum + rows.length, 0),
		rejected: 0,
		do_not_disturb: 0,
		skipped_duplicate: 0,
		duplicate: 0,
		pushed_before: 0,
		unknown: 0,
		not_sent: 0,
		requests: pushed.length,
		skipped_unmatched: pushed.reduce((sum, { unmatched }) => sum + unmatched.length, 0),
		...(ready !== undefined && { ready: ready.length }),
	};
	for (const { status } of rejectedRows) counts[status]++;
	return counts;
}

/** "10 rows: 7 pushed, 2 rejected, 1 on the do-not-disturb list." The numbers add up. */
export function summaryLine(outcome: PushOutcome): string {
	const counts = countRows(outcome);
	const isDryRun = counts.ready !== undefined;
	const wordsOf = (status: RowStatus) => {
		const words = isDryRun ? WORDS_OF_DRY_RUN[status] : undefined;
		return words?.[counts[status] === 1 ? 0 : 1] ?? WORDS[status];
	};
	const parts = ROW_STATUSES.filter((status) => counts[status] > 0).map(
		(status) => `${number(counts[status])} ${wordsOf(status)}`,
	);
	const first = isDryRun ? `${number(counts.ready ?? 0)} ready` : `${number(counts.pushed)} pushed`;
	return `${rowCount(counts.received)}: ${[first, ...parts].join(', ')}.`;
}

/** What became of every row of a push that stopped before its end: the summary, and what to do with which rows. */
export function describeOutcome(outcome: PushOutcome, names: RowNames = namesOfItems): string[] {
	const places = (rows: readonly RejectedRow[]) => names.several(rows.map(({ index }) => index));
	const of = (status: RowStatus) => outcome.rejectedRows.filter((row) => row.status === status);
	const [unknown, notSent, rejected] = [of('unknown'), of('not_sent'), of('rejected')];
	const skipped = [...of('do_not_disturb'), ...of('skipped_duplicate')];
	const [duplicates, pushedBefore] = [of('duplicate'), of('pushed_before')];
	const pushed = outcome.pushed.flatMap(({ rows }) => rows);
	const lines = [
		summaryLine(outcome),
		...earlierNotes(outcome),
		pushed.length > 0 &&
			`Pushed: ${rowCount(pushed.length)} (${names.several(pushed)}${listsOf(outcome)}). They are in the campaign: leave them out when you push the others again.`,
		skipped.length > 0 &&
			`Skipped by the service: ${rowCount(skipped.length)} (${places(skipped)}). Leave them out too.`,
		duplicates.length > 0 &&
			`Duplicates: ${rowCount(duplicates.length)} (${places(duplicates)}). Leave them out too: each has the number of another row.`,
		pushedBefore.length > 0 &&
			`Pushed before: ${rowCount(pushedBefore.length)} (${places(pushedBefore)}). An earlier run of this workflow sent their numbers to the campaign.`,
		unknown.length > 0 &&
			`Unknown: ${rowCount(unknown.length)} (${places(unknown)}). They may or may not be in the campaign: compare its newest contact list with your rows (Campaign Status shows the lists) before you push them again.`,
		notSent.length > 0 &&
			`Not sent: ${rowCount(notSent.length)} (${places(notSent)}). They can be pushed again as they are.`,
		rejected.length > 0 && `Rejected: ${rowCount(rejected.length)}. ${reasons(rejected, names)}`,
		...unmatchedIn(outcome),
		...duplicateNotes(outcome),
		...releaseNotes(outcome),
		pushed.length > 0 &&
			notSent.length > 0 &&
			'Retry of this execution, from the list of executions, does so by itself: it sends only what was not sent.',
		names.legend,
	];
	return lines.filter((line) => typeof line === 'string');
}

/** What a person should see at a glance beside the output, first of all what became of the rows. */
export function hintsFor(outcome: PushOutcome): string[] {
	const { received, duplicate } = countRows(outcome);
	const { rejectedRows: rejectedRows, stopped, ready, forgotten } = outcome;
	const says = rejectedRows.length > duplicate ? ' Rejected says why.' : '';
	if (forgotten !== undefined) {
		const what =
			forgotten === 'all'
				? 'All numbers pushed before are forgotten'
				: `Of the numbers in these rows ${number(forgotten)} ${forgotten === 1 ? 'was' : 'were'} remembered and forgotten`;
		return [
			`${what}; nothing was sent.${says} To push again, take Forget Pushed Numbers out of Options.`,
		];
	}
	if (ready !== undefined) {
		const most = outcome.readyIsUpperBound
			? ' Numbers pushed before are still among the ready ones: only a real push leaves them out.'
			: '';
		return [`Dry Run is on: nothing was sent. ${summaryLine(outcome)}${says}${most}`];
	}
	return [
		received === 0 && stopped === undefined && 'The push is empty, so nothing was sent.',
		rejectedRows.length > 0 && summaryLine(outcome) + says,
		...earlierNotes(outcome),
		stopped && `${stopped.message}. ${stopped.resolution}`,
		...lookedUpIn(outcome),
		...unmatchedIn(outcome),
		...duplicateNotes(outcome),
		...releaseNotes(outcome),
		...warningsIn(outcome).map(
			(warning) =>
				`The service warns: ${typeof warning === 'string' ? warning : JSON.stringify(warning)}`,
		),
	].filter((hint) => typeof hint === 'string');
}

/** What an attempt that sent nothing found of earlier ones. */
function earlierNotes({ isEarlier, pushed, rejectedRows: rejectedRows }: PushOutcome): string[] {
	const isBegun = pushed.length > 0 || rejectedRows.some(({ status }) => status === 'unknown');
	return isEarlier === true && isBegun
		? [
				'This attempt sent nothing. The rows that are pushed or unknown are those of earlier attempts of this execution.',
			]
		: [];
}

/** Requests that were taken by what the campaign shows, and not by an answer. */
function lookedUpIn({ pushed }: PushOutcome): string[] {
	return pushed
		.filter(({ answer }) => answer.looked_up === true)
		.map(({ answer, rows }) => {
			const list = JSON.stringify(answer.campaign_upload_id);
			return `The answer to a request did not come. It was looked up: the new contact list ${list} of the campaign has ${rowCount(rows.length)} like the request, so its rows are pushed.`;
		});
}

/** What the service says about the calling queue, if it isn't what was requested. */
function releaseNotes({ pushed, enqueue }: PushOutcome): string[] {
	const otherwise = pushed.filter(
		({ answer: { enqueued } }) => enqueued === !enqueue || enqueued === `${!enqueue}`,
	);
	const short = enqueue
		? pushed.filter((request) => !otherwise.includes(request) && isQueuedShort(request))
		: [];
	const [setting, effect] = enqueue ? ['on', 'may not be called'] : ['off', 'may be called'];
	const queued = sumBy(short, ({ answer }) => numberIn(answer.queued_calls) ?? 0);
	return [
		rowsOf(otherwise) > 0 &&
			`'Release to Calling Queue' is ${setting}, but the service returned enqueued: ${!enqueue} for ${rowCount(rowsOf(otherwise))}, so they ${effect}. Check the campaign in the service.`,
		short.length > 0 &&
			`The service queued only ${number(queued)} ${queued === 1 ? 'call' : 'calls'} for ${rowCount(rowsOf(short))}. Check the campaign in the service.`,
	].filter((note) => typeof note === 'string');
}

function rowsOf(requests: readonly PushedRequest[]): number {
	return sumBy(requests, ({ rows }) => rows.length);
}

/** Whether fewer calls are queued than there are pushed rows that the service didn't leave out. */
function isQueuedShort({ answer, rows, unmatched }: PushedRequest): boolean {
	const queued = numberIn(answer.queued_calls);
	const duplicates = numberIn(answer.duplicates_removed) ?? 0;
	return queued !== undefined && queued + duplicates + unmatched.length < rows.length;
}

/** Which rows the service took for duplicates isn't in the response. */
function duplicateNotes({ pushed }: PushOutcome): string[] {
	const removed = sumBy(pushed, ({ answer }) => numberIn(answer.duplicates_removed) ?? 0);
	if (removed === 0) return [];
	return [
		`Duplicates that the service removed: ${number(removed)}. Such rows are still counted as pushed.`,
	];
}

/** Nothing that the service skipped goes without a word, even where it is not clear whom it means. */
export function unmatchedIn({ pushed }: PushOutcome): string[] {
	const unmatched = pushed.flatMap((request) => request.unmatched);
	if (unmatched.length === 0) return [];
	const shown = unmatched.slice(0, SHOWN_REASONS).map((entry) => JSON.stringify(entry));
	const more = unmatched.length > shown.length ? ', …' : '';
	return [
		`The service says that it skipped ${number(unmatched.length)} more, in which no number of these rows can be found: ${shown.join(', ')}${more}. Such rows are still counted as pushed.`,
	];
}

const ADDED_UP = [
	'contacts_received',
	'contacts_accepted',
	'duplicates_removed',
	'queued_calls',
] as const;
const JOINED = ['engine_skipped_duplicates', 'dnd_skipped'] as const;

/** What became of the rows, and the answers to all requests as one: counts added up, lists joined. */
export function summarize(outcome: PushOutcome): JsonObject {
	const summary: JsonObject = {
		totals: countRows(outcome),
		campaign_upload_ids: valuesOf(outcome, 'campaign_upload_id'),
		enqueued:
			outcome.pushed.length > 0 && outcome.pushed.every(({ answer }) => answer.enqueued === true),
	};
	for (const field of ADDED_UP) summary[field] = sum(valuesOf(outcome, field));
	for (const field of JOINED) summary[field] = joined(outcome, field);
	return { ...summary, warnings: warningsIn(outcome) };
}

/** What a dry run found. */
export function dryRunSummary(outcome: PushOutcome): JsonObject {
	return {
		dry_run: true,
		summary: summaryLine(outcome),
		totals: countRows(outcome),
		campaign_status: outcome.campaignStatus ?? null,
	};
}

/** Each request of a push to a paused campaign gives the same warning. */
function warningsIn(outcome: PushOutcome): JsonValue[] {
	return uniqBy(joined(outcome, 'warnings'), (warning) => JSON.stringify(warning));
}

/** The members of a list in all answers. */
function joined(outcome: PushOutcome, field: string): JsonValue[] {
	return valuesOf(outcome, field).flatMap((list) => (Array.isArray(list) ? list : []));
}

function valuesOf({ pushed }: PushOutcome, field: string): JsonValue[] {
	return pushed.map(({ answer }) => answer[field]).filter((value) => value !== undefined);
}

function sum(values: readonly JsonValue[]): number {
	return values.reduce<number>(
		(total, value) => total + (typeof value === 'number' ? value : 0),
		0,
	);
}

function listsOf({ pushed }: PushOutcome): string {
	const lists = pushed
		.map(({ answer }) => answer.campaign_upload_id)
		.filter((id) => typeof id === 'number' || typeof id === 'string');
	if (lists.length === 0) return '';
	return `, contact ${lists.length === 1 ? 'list' : 'lists'} ${lists.join(', ')}`;
}

function reasons(rows: readonly RejectedRow[], names: RowNames): string {
	const shown = rows
		.slice(0, SHOWN_REASONS)
		.map(({ index, reason }) => `[${names.one(index)}] ${reason}`);
	const more = rows.length - shown.length;
	return [...shown, ...(more > 0 ? [`… and ${rowCount(more)} more.`] : [])].join(' ');
}

function rowCount(count: number): string {
	return `${number(count)} ${count === 1 ? 'row' : 'rows'}`;
}

function number(count: number): string {
	return count.toLocaleString('en-US');
}
