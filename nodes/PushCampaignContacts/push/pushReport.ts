import sumBy from 'lodash/sumBy';
import { numberIn } from '../../shared/json';
import { pushedRows, type PushOutcome, type PushedRequest, type RowsNotPushed } from './outcome';
import { namesOfItems, type RowNames } from './rows';
import type { RowSet } from './rowSet';
import {
	contradictsRelease,
	number,
	ONLY_A_PUSH_CHECKS,
	pushSummary,
	rowCount,
	rowsIn,
	summaryLine,
	warningsIn,
} from './summary';

const MAX_EXAMPLES = 5;

const HOW_TO_LOOK =
	"Before you push unknown rows again, look at the campaign's contact lists with Campaign Status. Each shows when it was made (created_at) and how many contacts it has queued (total_queued). Or look at the campaign in the service.";

/** What the error of a stopped push says about its rows. */
export type OutcomeReport = {
	/** What to do next, beyond the advice of the error itself. */
	nextSteps: string[];
	/** One line for each group of rows that the person may have to act on. */
	groups: string[];
	/** Everything else, for the error details. */
	details: string[];
};

/**
 * @param isDryRun whether the node was to send nothing, so that the rows that were not sent need no words
 */
export function describeOutcome(
	outcome: PushOutcome,
	{ names = namesOfItems, isDryRun = false }: { names?: RowNames; isDryRun?: boolean } = {},
): OutcomeReport {
	const { notPushed } = outcome;
	const line = (label: string, rows: RowSet, text: string, lists = '') =>
		rows.size > 0 && `${label}: ${rowCount(rows.size)} (${names.several(rows)}${lists}). ${text}`;
	const pushed = pushedRows(outcome);
	const notSent = notPushed.rowsWith('not_sent');
	const rejected = notPushed.rowsWith('rejected');
	const it = notSent.size === 1 ? 'it' : 'them';
	return {
		nextSteps: onlyTexts([
			!isDryRun &&
				pushed.size > 0 &&
				notSent.size > 0 &&
				"To send only the rows that weren't sent, retry this execution from the list of executions.",
		]),
		groups: onlyTexts([
			line('Pushed', pushed, 'Leave them out if you push the other rows again.', listsOf(outcome)),
			line(
				'Unknown',
				notPushed.rowsWith('unknown'),
				`They may or may not be in the campaign. ${HOW_TO_LOOK}`,
			),
			!isDryRun && line('Not sent', notSent, `Push ${it} after this is resolved.`),
			line(
				'Rejected',
				rejected,
				rejected.size === 1
					? reasonsOf(notPushed, 1).join('')
					: 'The first reasons are in the details.',
			),
			names.legend,
		]),
		details: onlyTexts([
			summaryLine(outcome),
			line(
				'Skipped by the service',
				notPushed.rowsWith('do_not_disturb', 'skipped_duplicate'),
				'Leave them out if you push the other rows again.',
			),
			line(
				'Duplicates',
				notPushed.rowsWith('duplicate'),
				'Leave them out if you push the other rows again. Each has the phone number of another row.',
			),
			line(
				'Pushed before',
				notPushed.rowsWith('pushed_before'),
				'An earlier execution of this workflow sent their numbers to the campaign.',
			),
			...(rejected.size > 1 ? firstReasons(notPushed, names) : []),
			...unmatchedIn(outcome),
			...duplicateNotes(outcome),
			...releaseNotes(outcome),
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
		return [
			`'Dry Run' is on, so nothing was sent. ${summaryLine(outcome)} ${ONLY_A_PUSH_CHECKS}${seeRejected}${bound}`,
		];
	}
	return onlyTexts([
		received === 0 && stopped === undefined && 'No rows to push. Nothing was sent.',
		received > 0 && pushSummary(outcome) + seeRejected,
		stopped && `${stopped.message}. ${stopped.resolution}`,
		notPushed.count('unknown') > 0 && HOW_TO_LOOK,
		...unmatchedIn(outcome),
		...duplicateNotes(outcome),
		...releaseNotes(outcome),
		...warningsIn(outcome).map(
			(warning) =>
				`Warning from the service: ${typeof warning === 'string' ? warning : JSON.stringify(warning)}`,
		),
	]);
}

/** Says if the service released other rows to the calling queue than requested. */
function releaseNotes({ pushed, enqueue }: PushOutcome): string[] {
	if (enqueue === undefined) return [];
	const contrary = pushed.filter((request) => contradictsRelease(request, enqueue));
	const short = enqueue
		? pushed.filter((request) => !contrary.includes(request) && isQueuedShort(request))
		: [];
	const [setting, effect] = enqueue ? ['on', 'may not be called'] : ['off', 'may be called'];
	const queued = sumBy(short, ({ response }) => numberIn(response.queued_calls) ?? 0);
	return onlyTexts([
		rowsIn(contrary) > 0 &&
			`'Release to Calling Queue' is ${setting}, but the service returned enqueued: ${!enqueue} for ${rowCount(rowsIn(contrary))}, so they ${effect}. Check the campaign in the service.`,
		short.length > 0 &&
			`The service queued only ${number(queued)} ${queued === 1 ? 'call' : 'calls'} for ${rowCount(rowsIn(short))}. Check the campaign in the service.`,
	]);
}

/** Whether fewer calls are queued than there are pushed rows that the service didn't leave out. */
function isQueuedShort({ response, rows, unmatched }: PushedRequest): boolean {
	const queued = numberIn(response.queued_calls);
	const duplicates = numberIn(response.duplicates_removed) ?? 0;
	return queued !== undefined && queued + duplicates + unmatched.length < rows.size;
}

/** The response doesn't say which rows the service removed as duplicates. */
function duplicateNotes({ pushed }: PushOutcome): string[] {
	const removed = sumBy(pushed, ({ response }) => numberIn(response.duplicates_removed) ?? 0);
	if (removed === 0) return [];
	const contacts =
		removed === 1 ? '1 contact as a duplicate' : `${number(removed)} contacts as duplicates`;
	return [
		`The service removed ${contacts} and doesn't say which. The rows of removed contacts count as pushed.`,
	];
}

/** Reports what the service skipped and the node can't match with a row. */
export function unmatchedIn({ pushed }: PushOutcome): string[] {
	const unmatched = pushed.flatMap((request) => request.unmatched);
	if (unmatched.length === 0) return [];
	const examples = unmatched.slice(0, MAX_EXAMPLES).map((entry) => JSON.stringify(entry));
	const more = unmatched.length - examples.length;
	const contacts =
		unmatched.length === 1
			? "1 more contact that doesn't match any row"
			: `${number(unmatched.length)} more contacts that don't match any row`;
	return [
		`The service skipped ${contacts}: ${examples.join(', ')}${more > 0 ? ` and ${number(more)} more` : ''}. The rows of skipped contacts count as pushed.`,
	];
}

function listsOf({ pushed }: PushOutcome): string {
	const lists = pushed
		.map(({ response }) => response.campaign_upload_id)
		.filter((id) => typeof id === 'number' || typeof id === 'string');
	if (lists.length === 0) return '';
	return `, contact ${lists.length === 1 ? 'list' : 'lists'} ${lists.join(', ')}`;
}

function firstReasons(rows: RowsNotPushed, names: RowNames): string[] {
	const examples = reasonsOf(rows, MAX_EXAMPLES, names);
	const more = rows.count('rejected') - examples.length;
	return [
		...examples,
		...(more > 0 ? [`${number(more)} more ${more === 1 ? 'row was' : 'rows were'} rejected.`] : []),
	];
}

/** The reasons of the first rejected rows. */
function reasonsOf(rows: RowsNotPushed, max: number, names?: RowNames): string[] {
	const reasons: string[] = [];
	for (const row of rows) {
		if (reasons.length === max) break;
		if (row.status !== 'rejected') continue;
		reasons.push(names === undefined ? row.reason : `[${names.one(row.index)}] ${row.reason}`);
	}
	return reasons;
}

function onlyTexts(texts: ReadonlyArray<string | false | undefined>): string[] {
	return texts.filter((text) => typeof text === 'string');
}
