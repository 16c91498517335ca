import compact from 'lodash/compact';
import groupBy from 'lodash/groupBy';
import omit from 'lodash/omit';
import pickBy from 'lodash/pickBy';
import upperFirst from 'lodash/upperFirst';
import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';
import { ExplainedError } from '../core/service/errors';
import type { Explanation } from '../core/service/explanation';
import { isJsonObject } from '../core/values/json';
import { isCanceled, WHY_CANCELED } from '../host/execution/cancel';
import { toErrorItem, toNodeError } from '../host/http/nodeErrors';
import type { OperationRun } from '../host/run/operations';
import { emptied } from '../host/run/ownColumns';
import { addHintsForPerson, textOnScreen } from '../host/execution/runResult';
import { forEachWithPauses } from '../core/values/pauses';
import { displayText, isUnset, named, plainText } from '../core/values/values';
import { statusBefore } from './push/prepareRows';
import {
	type ContactRow,
	nameOf,
	namesOf,
	phoneKeyOf,
	PUSH_LIMITS,
	ROW_STATUSES,
	type Row,
	type Status,
} from './push/rows';
import {
	countOf,
	flatReport,
	lineOf,
	linesOn,
	notesOn,
	type Report,
	rowsWith,
	SKIPPED_STATUSES,
	summaryOf,
} from './report';

const PUSHED_STATUSES: readonly Status[] = ['pushed', 'ready'];
const REJECTED_STATUSES: readonly Status[] = ['rejected', 'unknown', 'not_sent'];

/** The hints in the output panel. The first one is about the rows. */
export function addPushHints(context: IExecuteFunctions, report: Report): void {
	const { input, settings, stopped, check, hints } = report;
	const summary = summaryOf(report);
	const checked = check && `'What to Do' is 'Check Only', so nothing was sent. ${summary}`;
	const texts =
		input.rows.length === 0
			? ['No rows to push. Nothing was sent.']
			: [checked ?? summary, stopped && `${stopped.message}. ${stopped.description}`];
	const aboutRows = compact([...texts, ...notesOn(report)]).map(asHint);
	const skipped = settings.skipPushedBefore && countOf(report, 'sent_before') > 0;
	addHintsForPerson(context, ...aboutRows, ...(skipped ? [SENT_BEFORE] : []), ...hints);
}

const SENT_BEFORE: Explanation = {
	message: "Numbers that were sent before, or may have been, weren't sent again",
	resolution:
		"In n8n, rejection_reason of each row in 'Skipped' says how to send it anyway. 'Push Again' in 'Numbers Pushed Before' pushes all rows of earlier executions a second time.",
};

const asHint = (message: string): Explanation => ({ message, resolution: '' });

/**
 * The outputs *Ready* or *Pushed*, *Rejected*, and *Skipped*. Each row is in one, unless the first one has the summary, as of
 * files with many rows.
 */
export async function outputsOf(
	context: IExecuteFunctions,
	report: Report,
): Promise<INodeExecutionData[][]> {
	const { input, settings, stopped } = report;
	const pushed = rowsWith(report, PUSHED_STATUSES);
	const isSummary = settings.isSummary || input.isLarge;
	const summary = () => ({
		json: flatReport(report),
		...paired(pushed.length > 0 ? pushed : input.rows),
	});
	const first: INodeExecutionData[] = isSummary
		? [summary()]
		: await rowItems(report, PUSHED_STATUSES);
	// n8n moves it from here to the error output, and runs the node again for it if *Retry On Fail* is on. It would mix the data
	// of a paired row into the item, but the error is about the whole push.
	if (stopped !== undefined && context.getNode().onError === 'continueErrorOutput')
		first.unshift({ ...toErrorItem(stopped, { itemIndex: 0, of: 1 }), pairedItem: [] });
	return [
		first,
		await rowItems(report, REJECTED_STATUSES),
		await rowItems(report, SKIPPED_STATUSES),
	];
}

const ONLY_CHECKED = 'Nothing was pushed, because this tool only checks the contacts.';

/** As a tool, a node has one output, so the item contains the rejected rows as well. */
export async function outputForModel(
	{ result }: OperationRun,
	report: Report,
): Promise<INodeExecutionData[][]> {
	result.addHintsForModel(...report.hints, ...notesOn(report).map(asHint));
	const rejected = (await rowItems(report, ROW_STATUSES)).map(({ json }) => json);
	const output = [{ json: { ...omit(flatReport(report), 'summary'), rejected } }];
	const { check, input, stopped } = report;
	const summary = summaryOf(report);
	if (check !== undefined) {
		// A check has no effect, so the model may push the same contacts afterwards.
		result.setReadOnly(`${ONLY_CHECKED} ${summary}`);
		return [output];
	}
	const done = countOf(report, 'pushed', 'duplicate', 'sent_before');
	const isNobody = countOf(report, 'pushed') === 0;
	const isPartial = stopped !== undefined || done < input.rows.length;
	const completed = { output, happened: summary, isReplay: false, repeatable: false, isPartial };
	if (!isNobody) result.completed = completed;
	if (isNobody || isPartial) throw notAllPushed(report);
	return [output];
}

/** Reasons to show to a model. The others are counted. */
const MAX_REASONS = 5;

/** Some contacts may be in the campaign, such as by an earlier request, and others aren't. */
function notAllPushed(report: Report): ExplainedError {
	const { requests, stopped } = report;
	const line = lineOf(report);
	if (stopped !== undefined) {
		const outcome = countOf(report, 'unknown') > 0 ? 'unknown' : stopped.outcome;
		return new ExplainedError(outcome, `${line} ${stopped.message}`, stopped.resolution, stopped);
	}
	// A row that the node itself rejects has no phone.
	const isSent =
		requests.length > 0 || rowsWith(report, ['rejected']).some(({ phone }) => phone !== '');
	const reasonOf = (row: Row) => `[${nameOf(row)}] ${row.reason}`;
	const reasons = named(rowsWith(report, ROW_STATUSES), reasonOf, MAX_REASONS);
	return new ExplainedError(isSent ? 'rejected' : 'not_sent', line, reasons);
}

/** The rows with these statuses, each with the reason. Those of files are grouped if n8n couldn't store an item for each. */
async function rowItems(
	report: Report,
	statuses: readonly Status[],
): Promise<INodeExecutionData[]> {
	const { isLarge } = report.input;
	const rows = rowsWith(report, statuses);
	if (isLarge && rows.length > PUSH_LIMITS.outputRows) return groupItems(rows);
	const items: INodeExecutionData[] = [];
	await forEachWithPauses(rows, (row) => {
		const { json, binary, input } = row;
		// Of the push that sent it.
		const before = row.status === 'sent_before' ? json.campaign_upload_id : undefined;
		const item = withStatus(json, row.status, row.reason, {
			phone_key: phoneKeyOf(row),
			campaign_upload_id: row.settled?.request?.response.campaign_upload_id ?? before,
		});
		items.push({ json: item, ...(binary && { binary }), pairedItem: { item: input } });
	});
	return items;
}

const REASON = 'rejection_reason';

/**
 * Status and reason are the first columns, because the table view cuts off the last ones. A column without a value isn't added,
 * but emptied if the row has it of an earlier push.
 */
function withStatus(
	row: ContactRow,
	status: Status | undefined,
	reason: string,
	more: IDataObject = {},
): IDataObject {
	const isSet = (value: unknown) => !isUnset(value);
	const first = pickBy({ push_status: status, [REASON]: reason }, isSet);
	return {
		...first,
		...row,
		...emptied(row, [REASON, ...Object.keys(more)]),
		...first,
		...pickBy(more, isSet),
	};
}

/** One item for the rows with the same reason. */
function groupItems(rows: readonly Row[]): INodeExecutionData[] {
	const groups = Object.values(groupBy(rows, ({ status, reason }) => `${status} ${reason}`));
	return groups.map((group) => {
		const [{ status, reason } = { status: undefined, reason: '' }] = group;
		const text = `${upperFirst(namesOf(group))}: ${reason}`;
		return { json: withStatus({}, status, text), ...paired(group) };
	});
}

/**
 * The input items of rows: if an item weren't paired, an expression such as `$('Form').item` would fail in the next node.
 */
function paired(rows: readonly Row[]): Pick<INodeExecutionData, 'pairedItem'> {
	const items: Array<{ item: number }> = [];
	// In ascending order, like the rows.
	for (const { input: item } of rows) if (items.at(-1)?.item !== item) items.push({ item });
	return items.length > 0 ? { pairedItem: items } : {};
}

/**
 * The outputs of a push that couldn't begin: *Rejected* has each input item. A status that leaves the row out of the next push
 * stays. *Pushed* has the items for the error output.
 */
export function notBegun(
	{ context }: Pick<OperationRun, 'context'>,
	failed: readonly INodeExecutionData[],
): INodeExecutionData[][] {
	if (context.getNode().onError === 'continueErrorOutput') return [[...failed]];
	const input = context.getInputData();
	const rejected = failed.map(({ json: error, ...item }, index) => {
		const { json: row, binary } = input[index] ?? { json: {} };
		const isUnknown = isJsonObject(error.details) && error.details.outcome === 'unknown';
		// As not_sent, the next push would send a row that may be in the campaign.
		const status = isUnknown ? 'unknown' : (statusBefore(row) ?? 'not_sent');
		const reason = `${plainText(error.error)}. ${plainText(error.message)}`;
		return { ...item, json: withStatus(row, status, reason), ...(binary && { binary }) };
	});
	// Expressions such as `$('Push').all(2)` need all outputs.
	return [[], rejected, []];
}

/** n8n's error for a push that stopped: first what to do, then what happened to the rows. */
export function pushStopped(
	context: IExecuteFunctions,
	report: Report,
	stopped: ExplainedError,
): NodeApiError | NodeOperationError {
	const nodeError = toNodeError(context.getNode(), stopped);
	const lines = compact([
		isCanceled(context) && WHY_CANCELED,
		nodeError.description,
		...linesOn(report),
		...report.hints.map(textOnScreen),
	]).map(displayText);
	nodeError.description = lines.join('\n');
	// n8n shows this one on the screen, as HTML. It would join the lines of the description.
	nodeError.context.descriptionTemplate = lines.join('<br>');
	return nodeError;
}
