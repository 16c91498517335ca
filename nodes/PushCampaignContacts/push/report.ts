import compact from 'lodash/compact';
import sumBy from 'lodash/sumBy';
import upperFirst from 'lodash/upperFirst';
import uniqBy from 'lodash/uniqBy';
import type { ExplainedError } from '../../core/service/errors';
import type { Explanation, Reader } from '../../core/service/resolution';
import { numberIn, type JsonObject, type JsonValue } from '../../core/values/json';
import { counted, named, plainText } from '../../core/values/values';
import {
	type CheckResult,
	type PushedRequest,
	ROW_STATUSES,
	type RowsByStatus,
	type RowStatus,
} from './outcome';
import { COUNTS } from './accepted';
import { namesOf, type PushInput, type Row } from './rows';

/** What a push did, or with *Check Only*, would do. */
export type PushFacts = {
	readonly input: PushInput;
	readonly rows: RowsByStatus;
	/** Those that the service accepted. */
	readonly requests: readonly PushedRequest[];
	/** Whether the requests ask to release the contacts to the calling queue. */
	readonly enqueue: boolean;
	/** Whether later pushes of the node leave out the numbers of this one. */
	readonly skipPushedBefore?: boolean;
	/** With *Check Only*. */
	readonly check?: CheckResult;
	/** Why the push stopped early. */
	stopped?: ExplainedError | undefined;
	/** About the rows and columns, besides what happened. */
	readonly hints: readonly Explanation[];
};

/** A push with its figures, from which all forms of its output are written. */
export type Report = PushFacts & {
	/** `received` is the sum of `pushed`, `ready` (only with *Check Only*), and the row statuses. */
	readonly totals: JsonObject;
	/** "10 rows: 7 pushed, 2 rejected, 1 on the do-not-disturb list." The numbers add up. */
	readonly line: string;
	/** The line, and whether anybody will be called. With *Check Only*, also what it can't know. */
	readonly summary: string;
	/** Each warning of the service once: a paused campaign returns the same one for every request. */
	readonly warnings: readonly JsonValue[];
	/** Contacts that the service skipped and that match no row. Their rows count as pushed. */
	readonly unmatched: readonly JsonValue[];
	/** Pushed rows of which the service doesn't say that it released them, or not, as requested. */
	readonly releasedOtherwise: number;
};

export function reportOn(facts: PushFacts): Report {
	const { input, rows, requests, enqueue, check } = facts;
	const unmatched = requests.flatMap((request) => request.unmatched);
	const otherwise = requests.filter(({ response }) => confirmsRelease(response) !== enqueue);
	const releasedOtherwise = sumBy(otherwise, (request) => request.rows.length);
	const line = lineOn(facts);
	return {
		...facts,
		totals: {
			received: input.rows.length,
			pushed: rows.count('pushed'),
			...Object.fromEntries(ROW_STATUSES.map((status) => [status, rows.count(status)])),
			requests: requests.length,
			skipped_unmatched: unmatched.length,
			...(check !== undefined && { ready: rows.count('ready') }),
		},
		line,
		summary: compact([
			line,
			...(check === undefined
				? [releasedOtherwise === 0 && releaseSentence(facts)]
				: limitsOf(check, facts.skipPushedBefore === true)),
		]).join(' '),
		warnings: uniqBy(joined(requests, 'warnings'), (warning) => JSON.stringify(warning)),
		unmatched,
		releasedOtherwise,
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
	sent_before: ['sent before', 'sent before'],
	unknown: ['unknown', 'unknown'],
	not_sent: ['not sent', 'not sent'],
};

function lineOn({ input, rows, check }: PushFacts): string {
	const first = check === undefined ? 'pushed' : 'ready';
	const others = ROW_STATUSES.filter((status) => rows.count(status) > 0).map((status) => {
		const [one, several] = STATUS_WORDS[status];
		return `${number(rows.count(status))} ${rows.count(status) === 1 ? one : several}`;
	});
	const all = [`${number(rows.count(first))} ${first}`, ...others];
	return `${counted(input.rows.length, 'row')}: ${all.join(', ')}.`;
}

/** Statuses of a campaign whose contacts the service accepts with a warning (Campaigns, rule 5). */
const WITH_A_WARNING = ['Draft', 'Paused'];

/** What a check can't know. */
function limitsOf({ campaignStatus: status = '', texts }: CheckResult, skipPushedBefore: boolean) {
	return [
		skipPushedBefore &&
			'A push skips the numbers that this workflow pushed to the campaign before.',
		WITH_A_WARNING.includes(status) &&
			`The campaign's status is ${status}, so its contacts can be pushed, but nobody is called until it's active.`,
		...texts,
		"Only a push checks the agent's outbound number, and what the service rejects.",
	];
}

/** What happens to pushed rows, if the service did as requested. Empty if nothing was pushed. */
function releaseSentence({ rows, requests, enqueue, skipPushedBefore }: PushFacts): string {
	if (rows.count('pushed') === 0) return '';
	if (!enqueue) {
		const again =
			skipPushedBefore === true
				? "The node doesn't push them again."
				: 'Pushing them again may add everyone a second time.';
		return `Pushed rows wait in the campaign, and nobody is called until they're released to the calling queue. The service's documentation doesn't show how to release them later. ${again}`;
	}
	const queued = sumBy(requests, ({ response }) => numberIn(response.queued_calls) ?? NaN);
	const calls = Number.isNaN(queued) ? '' : `, and the service queued ${counted(queued, 'call')}`;
	return `Pushed rows were released to the calling queue${calls}. Calls go out only on the campaign's calling days and in its call window.`;
}

function confirmsRelease({ enqueued }: JsonObject): boolean {
	return enqueued === true;
}

/** The whole push as one item: counts of the responses are added, lists are joined. */
export function flatReport({ requests, check, summary, totals, warnings }: Report): JsonObject {
	if (check !== undefined) {
		const { campaignStatus = null } = check;
		return { checked_only: true, summary, totals, campaign_status: campaignStatus };
	}
	const sumOf = (field: string) =>
		sumBy(valuesOf(requests, field), (value) => (typeof value === 'number' ? value : 0));
	return {
		summary,
		totals,
		campaign_upload_ids: valuesOf(requests, 'campaign_upload_id'),
		enqueued: requests.length > 0 && requests.every(({ response }) => confirmsRelease(response)),
		...Object.fromEntries(COUNTS.map((field) => [field, sumOf(field)])),
		engine_skipped_duplicates: joined(requests, 'engine_skipped_duplicates'),
		dnd_skipped: joined(requests, 'dnd_skipped'),
		warnings: [...warnings],
	};
}

/** Texts for the node's output panel. The first one is about the rows. */
export function textsOn(report: Report): string[] {
	const { input, stopped, check, summary } = report;
	if (input.rows.length === 0) return ['No rows to push. Nothing was sent.'];
	return compact([
		check === undefined ? summary : `'What to Do' is 'Check Only', so nothing was sent. ${summary}`,
		stopped && `${stopped.message}. ${stopped.description}`,
		...notesOn(report, 'onScreen'),
	]);
}

const LEAVE_OUT = 'Leave them out if you push the other rows again.';

/** What the error of a stopped push says about its rows, one line for each group. */
export function linesOn(report: Report): string[] {
	const { input, rows: groups, requests } = report;
	const line = (label: string, rows: readonly Row[], text: string, lists = '') =>
		rows.length > 0 &&
		`${label}: ${counted(rows.length, 'row')} (${namesOf(rows)}${lists}). ${text}`;
	const ids = compact(valuesOf(requests, 'campaign_upload_id').map(plainText));
	const lists = ids.length === 0 ? '' : `, contact list ${ids.join(', ')}`;
	const rejected = groups.with('rejected');
	const reason = rejected[0]?.reason ?? '';
	return compact([
		report.line,
		line('Pushed', groups.with('pushed'), LEAVE_OUT, lists),
		line('Unknown', groups.with('unknown'), 'They may or may not be in the campaign.'),
		line(
			'Not sent',
			groups.with('not_sent'),
			groups.count('pushed', 'unknown') > 0
				? 'To send only these rows, retry this execution from the list of executions.'
				: 'Push the rows again after this is resolved.',
		),
		line('Rejected', rejected, rejected.length > 1 ? `The first reason: ${reason}` : reason),
		line('Skipped', groups.with(...SKIPPED_STATUSES), LEAVE_OUT),
		input.legend,
		...notesOn(report, 'onScreen'),
	]);
}

const SKIPPED_STATUSES = [
	'sent_before',
	'duplicate',
	'do_not_disturb',
	'skipped_duplicate',
] as const;
const MAX_EXAMPLES = 5;

/** How to find out what happened to unknown rows, and what the responses leave open or say against the request. */
export function notesOn(report: Report, reader: Reader): string[] {
	const { rows, requests, enqueue, unmatched, releasedOtherwise, warnings } = report;
	const removed = sumBy(requests, ({ response }) => numberIn(response.duplicates_removed) ?? 0);
	const isForModel = reader === 'forModel';
	const [setting, confirmed, not] = enqueue
		? ['Add and Release', "the service didn't confirm", 'not ']
		: ['Add and Let Wait', 'the service reported', ''];
	const but = isForModel ? '' : `'What to Do' is '${setting}', but `;
	const check = isForModel ? '' : ' Check the campaign in the service.';
	return compact([
		!isForModel &&
			rows.count('unknown') > 0 &&
			"Before you push unknown rows again, look at the campaign's contact lists with Campaign Status, with 'Output' set to 'Raw'. Each shows when it was made (created_at) and how many released contacts it has queued (total_queued). Or look at the campaign in the service.",
		unmatched.length > 0 &&
			`The service skipped ${counted(unmatched.length, 'more contact')} without naming the row: ${named(unmatched, (entry) => JSON.stringify(entry), MAX_EXAMPLES)}. The rows of skipped contacts count as pushed.`,
		removed > 0 &&
			`The service removed ${counted(removed, 'duplicate')} and doesn't say which. The rows of removed contacts count as pushed.`,
		releasedOtherwise > 0 &&
			`${upperFirst(`${but}${confirmed}`)} the release of ${counted(releasedOtherwise, 'row')}, so they may ${not}be called.${check}`,
		...warnings.map((warning) => `Warning from the service: ${warningText(warning)}`),
	]);
}

export function warningText(warning: JsonValue): string {
	return typeof warning === 'string' ? warning : JSON.stringify(warning);
}

/** The entries of a list in all responses. */
function joined(requests: readonly PushedRequest[], field: string): JsonValue[] {
	return valuesOf(requests, field).flatMap((list) => (Array.isArray(list) ? list : []));
}

function valuesOf(requests: readonly PushedRequest[], field: string): JsonValue[] {
	return requests.map(({ response }) => response[field]).filter((value) => value !== undefined);
}

function number(count: number): string {
	return count.toLocaleString('en-US');
}
