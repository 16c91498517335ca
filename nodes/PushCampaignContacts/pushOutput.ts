import compact from 'lodash/compact';
import omit from 'lodash/omit';
import pick from 'lodash/pick';
import upperFirst from 'lodash/upperFirst';
import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';
import { type ExplainedError, InvalidInput } from '../core/service/errors';
import { type Explanation, onScreenOnly } from '../core/service/resolution';
import { isJsonObject, type JsonObject } from '../core/values/json';
import { isCanceled, WHY_CANCELED } from '../host/execution/cancel';
import { toErrorItem, toNodeError } from '../host/http/nodeErrors';
import type { OperationRun } from '../host/run/operations';
import { earlierError, emptied } from '../host/run/ownColumns';
import { addHintsForPerson, type RunResult, textOnScreen } from '../host/execution/runResult';
import { forEachWithPauses } from '../core/values/pauses';
import { displayText, plainText } from '../core/values/values';
import {
	cellOf,
	LIST_COLUMN,
	PHONE_KEY_COLUMN,
	PHONE_SENT_COLUMN,
	PHONE_TO_SEND_COLUMN,
	PUSH_STATUS_COLUMN,
	REASON_COLUMN,
	SOURCE_FILE_COLUMN,
	SOURCE_ROW_COLUMN,
	STATUS_COLUMN,
	WARNINGS_COLUMN,
	type ContactRow,
} from './push/cells';
import { REJECTED_STATUSES, type RowStatus } from './push/outcome';
import { statusToKeep } from './push/prepareRows';
import { flatReport, linesOn, notesOn, type Report, textsOn, warningText } from './push/report';
import { inRanges, namesOf, phoneKeyOf, type PushInput, type Row } from './push/rows';
import type { Output } from './pushSettings';

/** Before anything is sent, because n8n could run out of memory when the push has ended. */
export function requireOutputFits({ rows: all, maxOutputRows }: PushInput, output: Output): void {
	if (output !== 'rows' || all.length <= maxOutputRows) return;
	const [rows, max] = [all.length, maxOutputRows].map((number) => number.toLocaleString('en-US'));
	throw new InvalidInput(
		`The input has ${rows} rows, but with 'Output' set to 'One Item per Row', n8n can store at most ${max} of them. Nothing was sent`,
		onScreenOnly(
			"Set 'Output' in 'Options' to 'One Item per Request' or 'One Summary Item', or push fewer rows at a time.",
		),
	);
}

/** The hints in the output panel. */
export function addPushHints(
	context: IExecuteFunctions,
	report: Report,
	isRejectedRead: boolean,
): void {
	const { rows, stopped, check, hints } = report;
	const endsLoop = rows.count(...GOOD) === 0 && isInLoop(context);
	const isPush = stopped === undefined && check === undefined;
	const areUnseen = isPush && !isRejectedRead && rows.count(...REJECTED_STATUSES) > 0;
	const aboutRows = textsOn(report).map(asHint);
	const all = compact([...aboutRows, areUnseen && NOT_READ, ...hints, endsLoop && LOOP_ENDS]);
	addHintsForPerson(context, ...all);
}

/** The statuses of the *Pushed* output. */
const GOOD = ['pushed', 'ready'] as const;

const asHint = (message: string) => ({ message, resolution: onScreenOnly('') });

/** The same for a model, without the totals, and without what only a person can do. */
export function addPushHintsForModel(result: RunResult, report: Report): void {
	result.addHintsForModel(...report.hints, ...notesOn(report, 'forModel').map(asHint));
}

const NOT_READ: Explanation = {
	message:
		"No node reads 'Rejected', so a published workflow tells nobody which rows weren't pushed",
	resolution: onScreenOnly('Connect it, for example to a node that writes to your sheet.'),
};
const LOOP_ENDS: Explanation = {
	message: "'Pushed' is empty, so Loop Over Items ends here if only 'Pushed' leads back to it",
	resolution: onScreenOnly(
		'Connect all outputs to a Merge node, and that to Loop Over Items. Or remove the loop: the node pushes up to 1,000,000 rows at a time.',
	),
};

function isInLoop(context: IExecuteFunctions): boolean {
	const before = context.getParentNodes(context.getNode().name);
	return before.some(({ type }) => type === 'n8n-nodes-base.splitInBatches');
}

/** The items of the *Pushed* output. */
export async function pushedOutput(report: Report, output: Output): Promise<INodeExecutionData[]> {
	const { input, rows, check } = report;
	const good = rows.with(...GOOD);
	if (output === 'rows') return await rowItems(good, check !== undefined);
	if (output === 'requests' && check === undefined) return requestItems(report);
	return [{ json: flatReport(report), ...paired(good, input.rows) }];
}

/** The rows that can be called. With *Check Only*, the rows that a push would send, with their numbers. */
async function rowItems(rows: readonly Row[], isCheck: boolean): Promise<INodeExecutionData[]> {
	return await itemsOf(rows, (row, json) => {
		const toSend = isCheck && { [PHONE_TO_SEND_COLUMN]: row.phone };
		const first = emptied(json, REJECTION);
		const error = emptied(json, earlierError(json));
		return withColumns(json, first, { ...error, ...rowColumns(row), ...toSend });
	});
}

/** The columns of a push that rejected the row. */
const REJECTION = [STATUS_COLUMN, REASON_COLUMN];

/**
 * A row with added columns, which replace those of the same name. Status and reason are the first ones, because the table
 * view cuts off the last columns.
 */
function withColumns(row: ContactRow, first: IDataObject, columns: IDataObject): IDataObject {
	return { ...first, ...pick(columns, PUSH_STATUS_COLUMN), ...row, ...first, ...columns };
}

async function itemsOf(
	rows: readonly Row[],
	jsonOf: (row: Row, json: ContactRow) => IDataObject,
): Promise<INodeExecutionData[]> {
	const items: INodeExecutionData[] = [];
	await forEachWithPauses(rows, (row) => {
		const { json, number, input, table, binary } = row;
		const source = table.fileName !== undefined && {
			[SOURCE_FILE_COLUMN]: table.fileName,
			[SOURCE_ROW_COLUMN]: number,
		};
		const item = jsonOf(row, source ? { ...json, ...source } : json);
		items.push({ json: item, ...(binary && { binary }), pairedItem: { item: input } });
	});
	return items;
}

/** Rows with these statuses have no `phone_sent`: it wasn't sent, or only in a request that was rejected as a whole. */
const WITHOUT_PHONE_SENT = new Set<Row['status']>([
	'sent_before',
	'duplicate',
	'not_sent',
	'ready',
]);

/** The same columns for each row, so that they fit a sheet. */
function rowColumns(row: Row): IDataObject {
	const { status = null, phone, json } = row;
	const request = row.settled?.request;
	// A row that stays left out although its number is unusable keeps its key, by which a corrected number is recognized.
	const keyBefore =
		status === 'rejected' ? '' : plainText(cellOf(json, { name: PHONE_KEY_COLUMN }));
	return {
		[PUSH_STATUS_COLUMN]: status,
		[PHONE_SENT_COLUMN]: phone === '' || WITHOUT_PHONE_SENT.has(row.status) ? null : phone,
		[PHONE_KEY_COLUMN]: phoneKeyOf(row) || keyBefore || null,
		[LIST_COLUMN]: request?.response.campaign_upload_id ?? null,
		[WARNINGS_COLUMN]: request === undefined ? null : warningsOf(request.response),
		// Of the push that added it.
		...(status === 'sent_before' && pick(json, PHONE_SENT_COLUMN, LIST_COLUMN, WARNINGS_COLUMN)),
	};
}

/** As text for a sheet. Empty if there are none, so that those of an earlier push don't stay there. */
function warningsOf({ warnings }: JsonObject): string {
	return Array.isArray(warnings) ? warnings.map(warningText).join(' ') : '';
}

/** One item for each accepted request: the summary and totals of the push, then the response. */
export function requestItems({ requests, summary, totals }: Report): INodeExecutionData[] {
	return requests.map(({ rows, sent, response }) => ({
		json: { summary, totals, ...omit(response, 'summary', 'totals') },
		...paired(rows, sent),
	}));
}

/**
 * The input items of rows, or without any, of all rows that the item is about: if it weren't paired, an expression such as
 * `$('Form').item` would fail in the next node. If the input has no rows, n8n pairs the item with the only input item.
 */
function paired(
	rows: readonly Row[],
	all: readonly Row[] = [],
): Pick<INodeExecutionData, 'pairedItem'> {
	const items: Array<{ item: number }> = [];
	// In ascending order, like the rows.
	for (const { input: item } of rows.length > 0 ? rows : all) {
		if (items.at(-1)?.item !== item) items.push({ item });
	}
	return items.length > 0 ? { pairedItem: items } : {};
}

/** The rows with these statuses, each with the reason. Some may still be called. */
export async function notPushedItems(
	{ input: { maxOutputRows, legend }, rows: groups }: Report,
	output: Output,
	statuses: readonly RowStatus[],
): Promise<INodeExecutionData[]> {
	const rows = groups.with(...statuses);
	if (rows.length > maxOutputRows) return await rangeItems(rows, legend);
	return await itemsOf(rows, (row, json) => {
		const rejection = { [STATUS_COLUMN]: row.status, [REASON_COLUMN]: row.reason };
		const columns = rowColumns(row);
		// Those of an earlier push are replaced.
		const own = output === 'rows' ? columns : pick(columns, Object.keys(json));
		return withColumns(json, rejection, own);
	});
}

/** One item for consecutive rows with the same reason, because n8n couldn't store an item for each of them. */
async function rangeItems(rows: readonly Row[], legend: string): Promise<INodeExecutionData[]> {
	const isSame = (one: Row, other: Row) =>
		one.status === other.status && one.reason === other.reason;
	const items: INodeExecutionData[] = [];
	let end = 0;
	await forEachWithPauses(inRanges(rows, isSame), ([first, last]) => {
		const some = rows.slice(end, (end += last.index - first.index + 1));
		const text = `${upperFirst(namesOf(some))}: ${first.reason} ${legend}`;
		const json = { [STATUS_COLUMN]: first.status, [REASON_COLUMN]: text };
		items.push({ json, ...paired(some) });
	});
	return items;
}

/**
 * The outputs of a push that couldn't begin: *Rejected* has each input item with the columns of a rejected row. A status that
 * leaves the row out of the next push stays. It has no other columns, which could replace those of the row and be sent with
 * the next push. *Pushed* has the items for the error output.
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
		const status = isUnknown ? 'unknown' : (statusToKeep(row) ?? 'not_sent');
		const reason = `${plainText(error.error)}. ${plainText(error.message)}`;
		const rejection = { [STATUS_COLUMN]: status, [REASON_COLUMN]: reason };
		const json = withColumns(row, rejection, { [PUSH_STATUS_COLUMN]: status });
		return { ...item, json, ...(binary && { binary }) };
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
