import compact from 'lodash/compact';
import sumBy from 'lodash/sumBy';
import uniqBy from 'lodash/uniqBy';
import type { ExplainedError } from '../core/service/errors';
import type { Explanation } from '../core/service/explanation';
import { numberIn, type JsonObject, type JsonValue } from '../core/values/json';
import { forEachWithPauses } from '../core/values/pauses';
import { counted, named, plainText } from '../core/values/values';
import { COUNTS } from './push/accepted';
import {
	namesOf,
	type PushedRequest,
	type PushInput,
	ROW_STATUSES,
	type Row,
	ROWS_PER_LOOK,
	type Status,
} from './push/rows';
import type { PushSettings } from './pushSettings';

/** What a push did, or with *Check Only*, would do. */
export type Report = {
	readonly input: PushInput;
	readonly settings: PushSettings;
	readonly counts: Counts;
	/** Those that the service accepted. */
	readonly requests: readonly PushedRequest[];
	/** With *Check Only*: the status of the campaign, and what is known besides, or can't be. */
	readonly check?: { campaignStatus: string; texts: string[] };
	/** Why the push stopped early. */
	readonly stopped?: ExplainedError | undefined;
	/** About the rows and columns, besides what happened. */
	readonly hints: readonly Explanation[];
};

/** How many rows have each status. */
export type Counts = { [status in Status]?: number };

export async function countRows(rows: readonly Row[]): Promise<Counts> {
	const counts: Counts = {};
	const count = ({ status }: Row) => {
		if (status !== undefined) counts[status] = (counts[status] ?? 0) + 1;
	};
	await forEachWithPauses(rows, count, ROWS_PER_LOOK);
	return counts;
}

export function countOf({ counts }: Report, ...statuses: readonly Status[]): number {
	return sumBy(statuses, (status) => counts[status] ?? 0);
}

/** In the order of the input. */
export function rowsWith(report: Report, statuses: readonly Status[]): readonly Row[] {
	const { rows } = report.input;
	// A push can have a million rows, and most have the same status.
	const count = countOf(report, ...statuses);
	if (count === 0 || count === rows.length) return count === 0 ? [] : rows;
	return rows.filter(({ status }) => status !== undefined && statuses.includes(status));
}

/** "10 rows: 7 pushed, 2 rejected, 1 on the do-not-disturb list." The numbers add up. */
export function lineOf(report: Report): string {
	const first: Status = report.check === undefined ? 'pushed' : 'ready';
	const others = ROW_STATUSES.filter((status) => countOf(report, status) > 0);
	const texts = [first, ...others].map((status) => {
		const isListed = status === 'do_not_disturb';
		const word = isListed ? 'on the do-not-disturb list' : status.replace('_', ' ');
		return `${countOf(report, status).toLocaleString('en-US')} ${word}`;
	});
	return `${counted(report.input.rows.length, 'row')}: ${texts.join(', ')}.`;
}

/** The line, and whether anybody will be called. With *Check Only*, also what it can't know. */
export function summaryOf(report: Report): string {
	const { texts } = report.check ?? { texts: [releaseSentence(report)] };
	return compact([lineOf(report), ...texts]).join(' ');
}

/** Pushed rows of which the service doesn't say that it released them, or not, as requested. */
function releasedOtherwise({ requests, settings: { campaign } }: Report): number {
	const otherwise = requests.filter(
		({ response }) => (response.enqueued === true) !== campaign.enqueue,
	);
	return sumBy(otherwise, ({ rows }) => rows.length);
}

/** What happens to pushed rows, if the service did as requested. Empty if nothing was pushed. */
function releaseSentence(report: Report): string {
	const { requests, settings } = report;
	if (countOf(report, 'pushed') === 0 || releasedOtherwise(report) > 0) return '';
	if (!settings.campaign.enqueue) {
		const again = settings.skipPushedBefore
			? "The node doesn't push them again."
			: 'Pushing them again may add everyone a second time.';
		return `Pushed rows wait in the campaign, and nobody is called until they're released to the calling queue. The service's documentation doesn't show how to release them later. ${again}`;
	}
	const queued = sumBy(requests, ({ response }) => numberIn(response.queued_calls) ?? NaN);
	const calls = Number.isNaN(queued) ? '' : `, and the service queued ${counted(queued, 'call')}`;
	return `Pushed rows were released to the calling queue${calls}. Calls go out only on the campaign's calling days and in its call window.`;
}

/** The whole push as one item: counts of the responses are added, lists are joined. */
export function flatReport(report: Report): JsonObject {
	const { input, requests, check } = report;
	const summary = summaryOf(report);
	const totals = {
		received: input.rows.length,
		pushed: countOf(report, 'pushed'),
		...Object.fromEntries(ROW_STATUSES.map((status) => [status, countOf(report, status)])),
		requests: requests.length,
		skipped_unmatched: unmatchedIn(report).length,
		...(check !== undefined && { ready: countOf(report, 'ready') }),
	};
	if (check !== undefined)
		return { checked_only: true, summary, totals, campaign_status: check.campaignStatus || null };
	const sumOf = (field: string) =>
		sumBy(valuesOf(requests, field), (value) => (typeof value === 'number' ? value : 0));
	return {
		summary,
		totals,
		campaign_upload_ids: valuesOf(requests, 'campaign_upload_id'),
		enqueued: requests.length > 0 && requests.every(({ response }) => response.enqueued === true),
		...Object.fromEntries(COUNTS.map((field) => [field, sumOf(field)])),
		engine_skipped_duplicates: joined(requests, 'engine_skipped_duplicates'),
		dnd_skipped: joined(requests, 'dnd_skipped'),
		warnings: warningsOf(report),
	};
}

/** Contacts that the service skipped and that match no row. Their rows count as pushed. */
function unmatchedIn({ requests }: Report): JsonValue[] {
	return requests.flatMap(({ unmatched }) => unmatched);
}

/** Each warning of the service once: a paused campaign returns the same one for every request. */
function warningsOf({ requests }: Report): JsonValue[] {
	return uniqBy(joined(requests, 'warnings'), (warning) => JSON.stringify(warning));
}

/** Those of the *Skipped* output: nothing needs to be done about these rows. */
export const SKIPPED_STATUSES: Status[] = ['sent_before', 'duplicate', 'do_not_disturb'];

const LEAVE_OUT = 'Leave them out if you push the other rows again.';

/** What the error of a stopped push says about its rows, one line for each group. Without advice, the first reason. */
const GROUPS: ReadonlyArray<[label: string, statuses: Status[], advice?: string]> = [
	['Pushed', ['pushed'], LEAVE_OUT],
	['Unknown', ['unknown'], 'They may or may not be in the campaign.'],
	[
		'Not sent',
		['not_sent'],
		'To send only these rows, retry this execution from the list of executions.',
	],
	['Rejected', ['rejected']],
	['Skipped', SKIPPED_STATUSES, LEAVE_OUT],
];

export function linesOn(report: Report): string[] {
	const { input, requests } = report;
	const ids = compact(valuesOf(requests, 'campaign_upload_id').map(plainText));
	const lists = ids.length === 0 ? '' : `, contact list ${ids.join(', ')}`;
	const lines = GROUPS.map(([label, statuses, advice]) => {
		const rows = rowsWith(report, statuses);
		const names = namesOf(rows) + (label === 'Pushed' ? lists : '');
		const text = advice ?? `The first reason: ${rows[0]?.reason}`;
		return rows.length > 0 && `${label}: ${counted(rows.length, 'row')} (${names}). ${text}`;
	});
	return compact([lineOf(report), ...lines, input.legend, ...notesOn(report)]);
}

const MAX_EXAMPLES = 5;

/** How to find out what happened to unknown rows, and what the responses leave open or say against the request. */
export function notesOn(report: Report): string[] {
	const { requests, settings } = report;
	const unmatched = unmatchedIn(report);
	const removed = sumBy(requests, ({ response }) => numberIn(response.duplicates_removed) ?? 0);
	const otherwise = releasedOtherwise(report);
	const [setting, confirmed, not] = settings.campaign.enqueue
		? ['Add and Release', "the service didn't confirm", 'not ']
		: ['Add and Let Wait', 'the service reported', ''];
	return compact([
		countOf(report, 'unknown') > 0 &&
			"Before you push unknown rows again, look at the campaign's contact lists with Campaign Status, with 'Output' set to 'Raw'. Each shows when it was made (created_at) and how many released contacts it has queued (total_queued). Or look at the campaign in the service.",
		unmatched.length > 0 &&
			`The service skipped ${counted(unmatched.length, 'more contact')} without naming the row: ${named(unmatched, (entry) => JSON.stringify(entry), MAX_EXAMPLES)}. The rows of skipped contacts count as pushed.`,
		removed > 0 &&
			`The service removed ${counted(removed, 'duplicate')} and doesn't say which. The rows of removed contacts count as pushed.`,
		otherwise > 0 &&
			`'What to Do' is '${setting}', but ${confirmed} the release of ${counted(otherwise, 'row')}, so they may ${not}be called. Check the campaign in the service.`,
		...warningsOf(report).map(
			(warning) =>
				`Warning from the service: ${typeof warning === 'string' ? warning : JSON.stringify(warning)}`,
		),
	]);
}

/** The entries of a list in all responses. */
function joined(requests: readonly PushedRequest[], field: string): JsonValue[] {
	return valuesOf(requests, field).flatMap((list) => (Array.isArray(list) ? list : []));
}

function valuesOf(requests: readonly PushedRequest[], field: string): JsonValue[] {
	return requests.map(({ response }) => response[field]).filter((value) => value !== undefined);
}
