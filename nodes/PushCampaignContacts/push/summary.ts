import sumBy from 'lodash/sumBy';
import uniqBy from 'lodash/uniqBy';
import { numberIn, type JsonObject, type JsonValue } from '../../shared/json';
import { ROW_STATUSES, type PushOutcome, type PushedRequest, type RowStatus } from './outcome';

/** `received` is the sum of `pushed`, `ready`, and the row statuses. */
export type PushCounts = {
	received: number;
	/** Rows that are in the campaign and can be called. */
	pushed: number;
	requests: number;
	/** Contacts that the service skipped and that match no row. Their rows count as pushed. */
	skipped_unmatched: number;
	/** Only in a dry run: rows that a push would send. */
	ready?: number;
} & Record<RowStatus, number>;

const STATUS_WORDS: Record<RowStatus, [one: string, several: string]> = {
	rejected: ['rejected', 'rejected'],
	do_not_disturb: ['on the do-not-disturb list', 'on the do-not-disturb list'],
	skipped_duplicate: [
		'skipped by the service as a duplicate',
		'skipped by the service as duplicates',
	],
	duplicate: ['duplicate', 'duplicates'],
	pushed_before: ['pushed before', 'pushed before'],
	unknown: ['unknown', 'unknown'],
	not_sent: ['not sent', 'not sent'],
};

export function countRows({ received, pushed, notPushed, ready }: PushOutcome): PushCounts {
	const counts: PushCounts = {
		received,
		pushed: rowsIn(pushed),
		rejected: 0,
		do_not_disturb: 0,
		skipped_duplicate: 0,
		duplicate: 0,
		pushed_before: 0,
		unknown: 0,
		not_sent: 0,
		requests: pushed.length,
		skipped_unmatched: sumBy(pushed, ({ unmatched }) => unmatched.length),
		...(ready !== undefined && { ready: ready.size }),
	};
	for (const status of ROW_STATUSES) counts[status] = notPushed.count(status);
	return counts;
}

/** "10 rows: 7 pushed, 2 rejected, 1 on the do-not-disturb list." The numbers add up. */
export function summaryLine(outcome: PushOutcome): string {
	const counts = countRows(outcome);
	const wordsOf = (status: RowStatus) => STATUS_WORDS[status][counts[status] === 1 ? 0 : 1];
	const parts = ROW_STATUSES.filter((status) => counts[status] > 0).map(
		(status) => `${number(counts[status])} ${wordsOf(status)}`,
	);
	const first =
		counts.ready === undefined
			? `${number(counts.pushed)} pushed`
			: `${number(counts.ready)} ready`;
	return `${rowCount(counts.received)}: ${[first, ...parts].join(', ')}.`;
}

/** What a dry run can't know. */
export const ONLY_A_PUSH_CHECKS =
	"Only a push checks the agent's do-not-disturb list, its outbound number, and what the service rejects.";

/** The totals, and whether anybody will be called. Says nothing about calls if a response contradicts the request. */
export function pushSummary(outcome: PushOutcome): string {
	const { pushed, enqueue } = outcome;
	const isContrary = pushed.some((request) => contradictsRelease(request, enqueue));
	const isKnown = enqueue !== undefined && rowsIn(pushed) > 0 && !isContrary;
	return isKnown
		? `${summaryLine(outcome)} ${releaseSentence(pushed, enqueue)}`
		: summaryLine(outcome);
}

/** Whether the service says that it did the opposite of what was requested. */
export function contradictsRelease({ response }: PushedRequest, enqueue = false): boolean {
	return response.enqueued === !enqueue || response.enqueued === `${!enqueue}`;
}

function releaseSentence(pushed: readonly PushedRequest[], enqueue: boolean): string {
	if (!enqueue) {
		return "Pushed rows wait in the campaign, and nobody is called until they're released to the calling queue. The service's documentation doesn't show how to release them later. Pushing them again may add everyone a second time.";
	}
	const counts = pushed.map(({ response }) => numberIn(response.queued_calls) ?? NaN);
	const queued = sum(counts);
	const released = Number.isNaN(queued)
		? 'Pushed rows were released to the calling queue.'
		: `Pushed rows were released, and the service queued ${number(queued)} ${queued === 1 ? 'call' : 'calls'}.`;
	return `${released} Calls go out only on the campaign's calling days and in its call window.`;
}

const SUMMED = [
	'contacts_received',
	'contacts_accepted',
	'duplicates_removed',
	'queued_calls',
] as const;
const JOINED = ['engine_skipped_duplicates', 'dnd_skipped'] as const;

/** All responses as one: counts are added, lists are joined. */
export function summarize(outcome: PushOutcome): JsonObject {
	const summary: JsonObject = {
		summary: pushSummary(outcome),
		totals: countRows(outcome),
		campaign_upload_ids: valuesOf(outcome, 'campaign_upload_id'),
		enqueued:
			outcome.pushed.length > 0 &&
			outcome.pushed.every(({ response }) => response.enqueued === true),
	};
	for (const field of SUMMED) summary[field] = sum(valuesOf(outcome, field));
	for (const field of JOINED) summary[field] = joined(outcome, field);
	return { ...summary, warnings: warningsIn(outcome) };
}

export function dryRunSummary(outcome: PushOutcome): JsonObject {
	return {
		dry_run: true,
		summary: `${summaryLine(outcome)} ${ONLY_A_PUSH_CHECKS}`,
		totals: countRows(outcome),
		campaign_status: outcome.campaignStatus ?? null,
	};
}

/** Each warning once: a paused campaign returns the same one for every request. */
export function warningsIn(outcome: PushOutcome): JsonValue[] {
	return uniqBy(joined(outcome, 'warnings'), (warning) => JSON.stringify(warning));
}

/** The entries of a list in all responses. */
function joined(outcome: PushOutcome, field: string): JsonValue[] {
	return valuesOf(outcome, field).flatMap((list) => (Array.isArray(list) ? list : []));
}

function valuesOf({ pushed }: PushOutcome, field: string): JsonValue[] {
	return pushed.map(({ response }) => response[field]).filter((value) => value !== undefined);
}

function sum(values: readonly JsonValue[]): number {
	return values.reduce<number>(
		(total, value) => total + (typeof value === 'number' ? value : 0),
		0,
	);
}

export function rowsIn(requests: readonly PushedRequest[]): number {
	return sumBy(requests, ({ rows }) => rows.size);
}

export function rowCount(count: number): string {
	return `${number(count)} ${count === 1 ? 'row' : 'rows'}`;
}

export function number(count: number): string {
	return count.toLocaleString('en-US');
}
