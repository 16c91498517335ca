import compact from 'lodash/compact';
import difference from 'lodash/difference';
import sumBy from 'lodash/sumBy';
import uniqBy from 'lodash/uniqBy';
import { numberIn, type JsonObject, type JsonValue } from '../../shared/json';
import { counted, named, plainText } from '../../shared/values';
import {
	pushedRows,
	ROW_STATUSES,
	type PushOutcome,
	type PushedRequest,
	type RowNotPushed,
	type RowsNotPushed,
	type RowStatus,
} from './outcome';
import { COUNTS } from './accepted';
import { namesOfItems, type RowNames } from './rows';
import type { RowSet } from './rowSet';

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

export function countRows({ received, pushed, notPushed, ready }: PushOutcome): PushCounts {
	return {
		received,
		pushed: rowsIn(pushed),
		...notPushed.counts(),
		requests: pushed.length,
		skipped_unmatched: sumBy(pushed, ({ unmatched }) => unmatched.length),
		...(ready !== undefined && { ready: ready.size }),
	};
}

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

/** "10 rows: 7 pushed, 2 rejected, 1 on the do-not-disturb list." The numbers add up. */
export function summaryLine(outcome: PushOutcome): string {
	const counts = countRows(outcome);
	const { received, pushed, ready } = counts;
	const first = ready === undefined ? `${number(pushed)} pushed` : `${number(ready)} ready`;
	const others = ROW_STATUSES.filter((status) => counts[status] > 0).map((status) => {
		const [one, several] = STATUS_WORDS[status];
		return `${number(counts[status])} ${counts[status] === 1 ? one : several}`;
	});
	return `${counted(received, 'row')}: ${[first, ...others].join(', ')}.`;
}

/** What a dry run can't know. */
const ONLY_A_PUSH_CHECKS =
	"Only a push checks the agent's do-not-disturb list, its outbound number, and what the service rejects.";

/** Statuses of a campaign whose contacts the service accepts with a warning (Campaigns, rule 5). */
const WITH_A_WARNING = ['Draft', 'Paused'];

/** The totals of a dry run, with what it knows of the campaign. */
function dryRunLine(outcome: PushOutcome): string {
	const { campaignStatus: status = '' } = outcome;
	const isWaiting = WITH_A_WARNING.includes(status);
	return compact([
		summaryLine(outcome),
		isWaiting &&
			`The campaign's status is ${status}, so its contacts can be pushed, but nobody is called until it's active.`,
		ONLY_A_PUSH_CHECKS,
	]).join(' ');
}

/** The totals, and whether anybody will be called. Says nothing about calls if a response contradicts the request. */
export function pushSummary(outcome: PushOutcome): string {
	const { pushed, enqueue } = outcome;
	const isContrary = pushed.some((request) => contradictsRelease(request, enqueue));
	const isKnown = enqueue !== undefined && rowsIn(pushed) > 0 && !isContrary;
	return compact([summaryLine(outcome), isKnown && releaseSentence(pushed, enqueue)]).join(' ');
}

function releaseSentence(pushed: readonly PushedRequest[], enqueue: boolean): string {
	if (!enqueue) {
		return "Pushed rows wait in the campaign, and nobody is called until they're released to the calling queue. The service's documentation doesn't show how to release them later. Pushing them again may add everyone a second time.";
	}
	const queued = sumBy(pushed, ({ response }) => numberIn(response.queued_calls) ?? NaN);
	const isConfirmed = pushed.every((request) => returnsEnqueued(request, true));
	const withoutCount = isConfirmed
		? 'Pushed rows were released to the calling queue.'
		: "The release of the pushed rows to the calling queue was requested, but the service's response doesn't confirm it.";
	const released = Number.isNaN(queued)
		? withoutCount
		: `Pushed rows were released, and the service queued ${counted(queued, 'call')}.`;
	return `${released} Calls go out only on the campaign's calling days and in its call window.`;
}

/** Whether the service says that it did the opposite of what was requested. */
function contradictsRelease(request: PushedRequest, enqueue = false): boolean {
	return returnsEnqueued(request, !enqueue);
}

function returnsEnqueued({ response }: PushedRequest, enqueued: boolean): boolean {
	return response.enqueued === enqueued || response.enqueued === `${enqueued}`;
}

const JOINED = ['engine_skipped_duplicates', 'dnd_skipped'] as const;

/** All responses as one: counts are added, lists are joined. */
export function summarize(outcome: PushOutcome): JsonObject {
	const { pushed } = outcome;
	const summary: JsonObject = {
		summary: pushSummary(outcome),
		totals: countRows(outcome),
		campaign_upload_ids: valuesOf(outcome, 'campaign_upload_id'),
		enqueued: pushed.length > 0 && pushed.every(({ response }) => response.enqueued === true),
	};
	for (const field of COUNTS) {
		summary[field] = sumBy(valuesOf(outcome, field), (value) =>
			typeof value === 'number' ? value : 0,
		);
	}
	for (const field of JOINED) summary[field] = joined(outcome, field);
	return { ...summary, warnings: warningsIn(outcome) };
}

export function dryRunSummary(outcome: PushOutcome): JsonObject {
	return {
		dry_run: true,
		summary: dryRunLine(outcome),
		totals: countRows(outcome),
		campaign_status: outcome.campaignStatus ?? null,
	};
}

const MAX_EXAMPLES = 5;

const HOW_TO_LOOK =
	"Before you push unknown rows again, look at the campaign's contact lists with Campaign Status, with 'Output' set to 'Raw'. Each shows when it was made (created_at) and how many contacts it has queued (total_queued). Or look at the campaign in the service.";
const LEAVE_OUT = 'Leave them out if you push the other rows again.';

/**
 * What the error of a stopped push says about its rows.
 *
 * @param isDryRun whether the node was to send nothing, so that the rows that were not sent need no words
 * @returns `lines` about what to do next, and for each group of rows to act on. `details` for everything else.
 */
export function describeOutcome(
	outcome: PushOutcome,
	{ names = namesOfItems, isDryRun = false }: { names?: RowNames; isDryRun?: boolean } = {},
): { lines: string[]; details: string[] } {
	const { notPushed } = outcome;
	const line = (label: string, rows: RowSet, text: string, lists = '') =>
		rows.size > 0 &&
		`${label}: ${counted(rows.size, 'row')} (${names.several(rows)}${lists}). ${text}`;
	const pushed = pushedRows(outcome);
	const unknown = notPushed.rowsWith('unknown');
	const notSent = notPushed.rowsWith('not_sent');
	const isRetried = !isDryRun && notSent.size > 0 && pushed.size + unknown.size > 0;
	const rejected = notPushed.rowsWith('rejected');
	const it = notSent.size === 1 ? 'it' : 'them';
	const examples = rejectedExamples(notPushed);
	const more = rejected.size - examples.length;
	return {
		lines: compact([
			isRetried &&
				"To send only the rows that weren't sent, retry this execution from the list of executions.",
			line('Pushed', pushed, LEAVE_OUT, listsOf(outcome)),
			line('Unknown', unknown, `They may or may not be in the campaign. ${HOW_TO_LOOK}`),
			!isDryRun &&
				line(
					'Not sent',
					notSent,
					isRetried ? `A retry sends ${it}.` : `Push ${it} after this is resolved.`,
				),
			line(
				'Rejected',
				rejected,
				rejected.size > 1 ? 'The first reasons are in the details.' : (examples[0]?.reason ?? ''),
			),
			names.legend,
		]),
		details: compact([
			summaryLine(outcome),
			line(
				'Skipped by the service',
				notPushed.rowsWith('do_not_disturb', 'skipped_duplicate'),
				LEAVE_OUT,
			),
			line(
				'Duplicates',
				notPushed.rowsWith('duplicate'),
				`${LEAVE_OUT} Each has the phone number of another row.`,
			),
			line(
				'Pushed before',
				notPushed.rowsWith('pushed_before'),
				'An earlier execution of this workflow sent their numbers to the campaign.',
			),
			...(rejected.size > 1
				? examples.map(({ index, reason }) => `[${names.one(index)}] ${reason}`)
				: []),
			more > 0 && `${number(more)} more ${more === 1 ? 'row was' : 'rows were'} rejected.`,
			...notesOnResponses(outcome),
		]),
	};
}

/** Hints for the node's output panel. The first one is about the rows. */
export function hintsFor(outcome: PushOutcome): string[] {
	const { received, notPushed, stopped, ready } = outcome;
	const seeRejected =
		notPushed.size > 0 ? " The 'Rejected' output shows the reason for each row." : '';
	if (ready !== undefined) {
		const bound = outcome.readyIsUpperBound
			? ' The ready rows may include numbers that were pushed before. Only a real push leaves them out.'
			: '';
		return [`'Dry Run' is on, so nothing was sent. ${dryRunLine(outcome)}${seeRejected}${bound}`];
	}
	return compact([
		received === 0 && stopped === undefined && 'No rows to push. Nothing was sent.',
		received > 0 && pushSummary(outcome) + seeRejected,
		stopped && `${stopped.message}. ${stopped.resolution}`,
		notPushed.count('unknown') > 0 && HOW_TO_LOOK,
		...notesOnResponses(outcome),
		...warningsIn(outcome).map((warning) => `Warning from the service: ${warningText(warning)}`),
	]);
}

/** What the responses leave open, or say against the request. */
function notesOnResponses({ pushed, enqueue }: PushOutcome): string[] {
	const unmatched = pushed.flatMap((request) => request.unmatched);
	const removed = sumBy(pushed, ({ response }) => numberIn(response.duplicates_removed) ?? 0);
	const contrary =
		enqueue === undefined ? [] : pushed.filter((request) => contradictsRelease(request, enqueue));
	const [setting, effect] = enqueue ? ['on', 'may not be called'] : ['off', 'may be called'];
	const short = enqueue ? difference(pushed, contrary).filter(isQueuedShort) : [];
	const queued = sumBy(short, ({ response }) => numberIn(response.queued_calls) ?? 0);
	return compact([
		unmatched.length > 0 &&
			`The service skipped ${unmatched.length === 1 ? "1 more contact that doesn't match any row" : `${number(unmatched.length)} more contacts that don't match any row`}: ${named(unmatched, (entry) => JSON.stringify(entry), MAX_EXAMPLES)}. The rows of skipped contacts count as pushed.`,
		removed > 0 &&
			`The service removed ${removed === 1 ? '1 contact as a duplicate' : `${number(removed)} contacts as duplicates`} and doesn't say which. The rows of removed contacts count as pushed.`,
		rowsIn(contrary) > 0 &&
			`'Release to Calling Queue' is ${setting}, but the service returned enqueued: ${!enqueue} for ${counted(rowsIn(contrary), 'row')}, so they ${effect}. Check the campaign in the service.`,
		short.length > 0 &&
			`The service queued only ${counted(queued, 'call')} for ${counted(rowsIn(short), 'row')}. Check the campaign in the service.`,
	]);
}

/** Whether fewer calls are queued than there are pushed rows that the service didn't leave out. */
function isQueuedShort({ response, rows, unmatched }: PushedRequest): boolean {
	const queued = numberIn(response.queued_calls);
	const duplicates = numberIn(response.duplicates_removed) ?? 0;
	return queued !== undefined && queued + duplicates + unmatched.length < rows.size;
}

function listsOf(outcome: PushOutcome): string {
	const lists = valuesOf(outcome, 'campaign_upload_id').map(plainText).filter(Boolean);
	if (lists.length === 0) return '';
	return `, contact ${lists.length === 1 ? 'list' : 'lists'} ${lists.join(', ')}`;
}

/** The first rejected rows. */
function rejectedExamples(rows: RowsNotPushed): RowNotPushed[] {
	const examples: RowNotPushed[] = [];
	for (const row of rows) {
		if (row.status === 'rejected') examples.push(row);
		if (examples.length === MAX_EXAMPLES) break;
	}
	return examples;
}

export function warningText(warning: JsonValue): string {
	return typeof warning === 'string' ? warning : JSON.stringify(warning);
}

/** Each warning once: a paused campaign returns the same one for every request. */
function warningsIn(outcome: PushOutcome): JsonValue[] {
	return uniqBy(joined(outcome, 'warnings'), (warning) => JSON.stringify(warning));
}

/** The entries of a list in all responses. */
function joined(outcome: PushOutcome, field: string): JsonValue[] {
	return valuesOf(outcome, field).flatMap((list) => (Array.isArray(list) ? list : []));
}

function valuesOf({ pushed }: PushOutcome, field: string): JsonValue[] {
	return pushed.map(({ response }) => response[field]).filter((value) => value !== undefined);
}

function rowsIn(requests: readonly PushedRequest[]): number {
	return sumBy(requests, ({ rows }) => rows.size);
}

function number(count: number): string {
	return count.toLocaleString('en-US');
}
