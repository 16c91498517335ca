import compact from 'lodash/compact';
import groupBy from 'lodash/groupBy';
import pickBy from 'lodash/pickBy';
import upperFirst from 'lodash/upperFirst';
import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';
import type { ExplainedError } from '../core/service/errors';
import type { Explanation } from '../core/service/explanation';
import { isJsonObject } from '../core/values/json';
import { isCanceled, WHY_CANCELED } from '../host/execution/cancel';
import { toErrorItem, toNodeError } from '../host/http/nodeErrors';
import type { OperationRun } from '../host/run/operations';
import { emptied } from '../host/run/ownColumns';
import { addHintsForPerson, textOnScreen } from '../host/execution/runResult';
import { forEachWithPauses } from '../core/values/pauses';
import { displayText, isUnset, plainText } from '../core/values/values';
import { statusBefore } from './push/prepareRows';
import {
	type ContactRow,
	namesOf,
	phoneKeyOf,
	PUSH_LIMITS,
	type Row,
	type Status,
} from './push/rows';
import {
	countOf,
	flatReport,
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
export function addPushHints(
	context: IExecuteFunctions,
	report: Report,
	isRejectedRead: boolean,
): void {
	const { input, stopped, check, hints } = report;
	const summary = summaryOf(report);
	const checked = check && `'What to Do' is 'Check Only', so nothing was sent. ${summary}`;
	const texts =
		input.rows.length === 0
			? ['No rows to push. Nothing was sent.']
			: [checked ?? summary, stopped && `${stopped.message}. ${stopped.description}`];
	const isPush = stopped === undefined && check === undefined;
	const areUnseen = isPush && !isRejectedRead && countOf(report, ...REJECTED_STATUSES) > 0;
	const endsLoop = countOf(report, ...PUSHED_STATUSES) === 0 && isInLoop(context);
	const aboutRows = compact([...texts, ...notesOn(report)]).map(asHint);
	const skipped = report.skipPushedBefore && countOf(report, 'sent_before') > 0 && SENT_BEFORE;
	const all = compact([
		...[...aboutRows, skipped, areUnseen && NOT_READ],
		...[...hints, endsLoop && LOOP_ENDS],
	]);
	addHintsForPerson(context, ...all);
}

export const asHint = (message: string): Explanation => ({ message, resolution: '' });

const SENT_BEFORE: Explanation = {
	message: "Numbers that were sent before, or may have been, weren't sent again",
	resolution:
		"In n8n, rejection_reason of each row in 'Skipped' says how to send it anyway. 'Push Again' in 'Numbers Pushed Before' pushes all rows of earlier executions a second time.",
};
const NOT_READ: Explanation = {
	message:
		"No node reads 'Rejected', so a published workflow tells nobody which rows weren't pushed",
	resolution: 'In n8n, connect it, for example to a node that writes to your sheet.',
};
const LOOP_ENDS: Explanation = {
	message: 'The first output is empty, so Loop Over Items ends here if only that leads back to it',
	resolution:
		'In n8n, connect all outputs to a Merge node, and that to Loop Over Items. Or remove the loop: the node pushes up to 1,000,000 rows at a time.',
};

function isInLoop(context: IExecuteFunctions): boolean {
	const before = context.getParentNodes(context.getNode().name);
	return before.some(({ type }) => type === 'n8n-nodes-base.splitInBatches');
}

/**
 * The outputs *Ready* or *Pushed*, *Rejected*, and *Skipped*. Each row is in one, unless the first one has the summary, as of
 * files with many rows.
 */
export async function outputsOf(
	report: Report,
	isSummary: boolean,
): Promise<INodeExecutionData[][]> {
	const { rows, isLarge } = report.input;
	const summary = () => {
		const pushed = rowsWith(report, PUSHED_STATUSES);
		return { json: flatReport(report), ...paired(pushed.length > 0 ? pushed : rows) };
	};
	return [
		isSummary || isLarge ? [summary()] : await rowItems(report, PUSHED_STATUSES),
		await rowItems(report, REJECTED_STATUSES),
		await rowItems(report, SKIPPED_STATUSES),
	];
}

/** The rows with these statuses, each with the reason. Those of files are grouped if n8n couldn't store an item for each. */
export async function rowItems(
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

/**
 * The item of the error output. n8n moves it there from *Pushed*, and runs the node again for it if *Retry On Fail* is
 * on. The rows are in *Rejected*.
 */
export function stoppedItem(context: IExecuteFunctions, { stopped }: Report): INodeExecutionData[] {
	if (stopped === undefined || context.getNode().onError !== 'continueErrorOutput') return [];
	// n8n would mix the data of a paired row into the item, but the error is about the whole push.
	return [{ ...toErrorItem(stopped, { itemIndex: 0, of: 1 }), pairedItem: [] }];
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
