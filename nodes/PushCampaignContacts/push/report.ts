import compact from 'lodash/compact';
import sumBy from 'lodash/sumBy';
import upperFirst from 'lodash/upperFirst';
import uniqBy from 'lodash/uniqBy';
import type { Reader } from '../../core/service/resolution';
import { numberIn, type JsonObject, type JsonValue } from '../../core/values/json';
import { counted, named, plainText } from '../../core/values/values';
import {
	countWith,
	PUSHED_BEFORE_STATUSES,
	ROW_STATUSES,
	type PushOutcome,
	type PushedRequest,
	type RowStatus,
	rowsWith,
} from './outcome';
import { COUNTS } from './accepted';
import { namesOf, type Row } from './rows';

type Count = 'received' | 'pushed' | 'requests' | 'skipped_unmatched' | RowStatus;
type PushCounts = Record<Count, number> & { ready?: number };

/** `received` is the sum of `pushed`, `ready` (only with *Check Only*), and the row statuses. */
export function countRows(outcome: PushOutcome): PushCounts {
	const { input, requests, check } = outcome;
	const count = (status: Row['status']) => countWith(outcome, status);
	return {
		received: input.rows.length,
		pushed: count('pushed'),
		rejected: count('rejected'),
		do_not_disturb: count('do_not_disturb'),
		skipped_duplicate: count('skipped_duplicate'),
		duplicate: count('duplicate'),
		pushed_before: count('pushed_before'),
		waiting_before: count('waiting_before'),
		unknown_before: count('unknown_before'),
		unknown: count('unknown'),
		not_sent: count('not_sent'),
		requests: requests.length,
		// Contacts that the service skipped and that match no row. Their rows count as pushed.
		skipped_unmatched: sumBy(requests, ({ unmatched }) => unmatched.length),
		...(check !== undefined && { ready: count('ready') }),
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
	waiting_before: ['waiting since an earlier push', 'waiting since an earlier push'],
	unknown_before: ['maybe pushed before', 'maybe pushed before'],
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

/** Statuses of a campaign whose contacts the service accepts with a warning (Campaigns, rule 5). */
const WITH_A_WARNING = ['Draft', 'Paused'];

const MAYBE_READY = {
	pushedBefore: 'numbers that were pushed before',
	unknownBefore: 'numbers whose earlier push has an unknown outcome',
};

/** The totals, and whether anybody will be called. With *Check Only*, also what it can't know. */
export function pushSummary(outcome: PushOutcome): string {
	const summary = summaryLine(outcome);
	const { check } = outcome;
	if (check === undefined) return `${summary} ${releaseSentence(outcome)}`.trim();
	const { readyMayInclude, campaignStatus: status = '', aboutAgent } = check;
	return compact([
		summary,
		readyMayInclude !== undefined &&
			countWith(outcome, 'ready') > 0 &&
			`The ready rows may include ${MAYBE_READY[readyMayInclude]}. A push leaves them out.`,
		WITH_A_WARNING.includes(status) &&
			`The campaign's status is ${status}, so its contacts can be pushed, but nobody is called until it's active.`,
		...aboutAgent,
		"Only a push checks the agent's outbound number, and what the service rejects.",
	]).join(' ');
}

/** Empty if nothing was pushed, or the service may have done something else than requested. */
function releaseSentence(outcome: PushOutcome): string {
	const { requests, enqueue } = outcome;
	if (rowsIn(requests) === 0 || releasedOtherwise(outcome).length > 0) return '';
	if (!enqueue) {
		return "Pushed rows wait in the campaign, and nobody is called until they're released to the calling queue. The service's documentation doesn't show how to release them later. Pushing them again may add everyone a second time.";
	}
	const queued = sumBy(requests, ({ response }) => numberIn(response.queued_calls) ?? NaN);
	const calls = Number.isNaN(queued) ? '' : `, and the service queued ${counted(queued, 'call')}`;
	return `Pushed rows were released to the calling queue${calls}. Calls go out only on the campaign's calling days and in its call window.`;
}

/** Requests after which the service doesn't say that it released the contacts, or not, as requested. */
function releasedOtherwise({ requests, enqueue }: PushOutcome): PushedRequest[] {
	return requests.filter(({ response }) => confirmsRelease(response) !== enqueue);
}

function confirmsRelease({ enqueued }: JsonObject): boolean {
	return enqueued === true;
}

const JOINED = ['engine_skipped_duplicates', 'dnd_skipped'] as const;

/** The whole push: counts of the responses are added, lists are joined. */
export function summarize(outcome: PushOutcome): JsonObject {
	const { requests, check } = outcome;
	const summary: JsonObject = { summary: pushSummary(outcome), totals: countRows(outcome) };
	if (check !== undefined) {
		return { checked_only: true, ...summary, campaign_status: check.campaignStatus ?? null };
	}
	summary.campaign_upload_ids = valuesOf(outcome, 'campaign_upload_id');
	summary.enqueued =
		requests.length > 0 && requests.every(({ response }) => confirmsRelease(response));
	for (const field of COUNTS) {
		summary[field] = sumBy(valuesOf(outcome, field), (value) =>
			typeof value === 'number' ? value : 0,
		);
	}
	for (const field of JOINED) summary[field] = joined(outcome, field);
	return { ...summary, warnings: warningsIn(outcome) };
}

/** Hints for the node's output panel. The first one is about the rows. */
export function hintsFor(outcome: PushOutcome): string[] {
	const { input, stopped, check } = outcome;
	if (input.rows.length === 0) return ['No rows to push. Nothing was sent.'];
	const aboutRows = compact([
		check !== undefined && "'What to Do' is 'Check Only', so nothing was sent.",
		pushSummary(outcome),
	]);
	return compact([
		aboutRows.join(' '),
		stopped && `${stopped.message}. ${stopped.description}`,
		...notesOn(outcome),
	]);
}

const LEAVE_OUT = 'Leave them out if you push the other rows again.';

/** What the error of a stopped push says about its rows, one line for each group. */
export function describeOutcome(outcome: PushOutcome): string[] {
	const line = (label: string, rows: readonly Row[], text: string, lists = '') =>
		rows.length > 0 &&
		`${label}: ${counted(rows.length, 'row')} (${namesOf(rows)}${lists}). ${text}`;
	const [pushed, unknown] = [rowsWith(outcome, 'pushed'), rowsWith(outcome, 'unknown')];
	const rejected = rowsWith(outcome, 'rejected');
	const reason = rejected[0]?.reason ?? '';
	return compact([
		summaryLine(outcome),
		line('Pushed', pushed, LEAVE_OUT, listsOf(outcome)),
		line('Unknown', unknown, 'They may or may not be in the campaign.'),
		line(
			'Not sent',
			rowsWith(outcome, 'not_sent'),
			pushed.length + unknown.length > 0
				? 'To send only these rows, retry this execution from the list of executions.'
				: 'Push the rows again after this is resolved.',
		),
		line('Rejected', rejected, rejected.length > 1 ? `The first reason: ${reason}` : reason),
		line(
			'Skipped',
			rowsWith(
				outcome,
				...PUSHED_BEFORE_STATUSES,
				...(['duplicate', 'do_not_disturb', 'skipped_duplicate'] as const),
			),
			LEAVE_OUT,
		),
		outcome.input.legend,
		...notesOn(outcome),
	]);
}

const MAX_EXAMPLES = 5;

/** How to find out what happened to unknown rows, and what the responses leave open or say against the request. */
export function notesOn(outcome: PushOutcome, reader: Reader = 'onScreen'): string[] {
	const { requests, enqueue } = outcome;
	const unmatched = requests.flatMap((request) => request.unmatched);
	const removed = sumBy(requests, ({ response }) => numberIn(response.duplicates_removed) ?? 0);
	const otherwise = rowsIn(releasedOtherwise(outcome));
	const isForModel = reader === 'forModel';
	const [setting, confirmed, not] = enqueue
		? ['Add and Release', "the service didn't confirm", 'not ']
		: ['Add and Let Wait', 'the service reported', ''];
	const but = isForModel ? '' : `'What to Do' is '${setting}', but `;
	const check = isForModel ? '' : ' Check the campaign in the service.';
	const { waiting_before: waiting, unknown } = countRows(outcome);
	return compact([
		!isForModel &&
			waiting > 0 &&
			`${counted(waiting, 'row')} ${waiting === 1 ? 'waits' : 'wait'} in the campaign since an earlier push. A second push may add people twice, so the node doesn't release them. Ask your provider how to do that.`,
		!isForModel &&
			unknown > 0 &&
			"Before you push unknown rows again, look at the campaign's contact lists with Campaign Status, with 'Output' set to 'Raw'. Each shows when it was made (created_at) and how many released contacts it has queued (total_queued). Or look at the campaign in the service.",
		unmatched.length > 0 &&
			`The service skipped ${counted(unmatched.length, 'more contact')} without naming the row: ${named(unmatched, (entry) => JSON.stringify(entry), MAX_EXAMPLES)}. The rows of skipped contacts count as pushed.`,
		removed > 0 &&
			`The service removed ${counted(removed, 'duplicate')} and doesn't say which. The rows of removed contacts count as pushed.`,
		otherwise > 0 &&
			`${upperFirst(`${but}${confirmed}`)} the release of ${counted(otherwise, 'row')}, so they may ${not}be called.${check}`,
		...warningsIn(outcome).map((warning) => `Warning from the service: ${warningText(warning)}`),
	]);
}

function listsOf(outcome: PushOutcome): string {
	const lists = valuesOf(outcome, 'campaign_upload_id').map(plainText).filter(Boolean);
	return lists.length === 0 ? '' : `, contact list ${lists.join(', ')}`;
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

function valuesOf({ requests }: PushOutcome, field: string): JsonValue[] {
	return requests.map(({ response }) => response[field]).filter((value) => value !== undefined);
}

function rowsIn(requests: readonly PushedRequest[]): number {
	return sumBy(requests, ({ rows }) => rows.length);
}

function number(count: number): string {
	return count.toLocaleString('en-US');
}
