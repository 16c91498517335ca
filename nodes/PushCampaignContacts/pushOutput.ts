import compact from 'lodash/compact';
import omit from 'lodash/omit';
import pick from 'lodash/pick';
import sortBy from 'lodash/sortBy';
import upperFirst from 'lodash/upperFirst';
import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';
import { type ExplainedError, InvalidInput } from '../shared/api/errors';
import { type Explanation, onScreenOnly } from '../shared/api/resolution';
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json';
import { isCanceled, WHY_CANCELED } from '../shared/n8n/run/cancel';
import { toErrorItem, toNodeError } from '../shared/n8n/run/nodeErrors';
import { addHintsForModel, addHintsForPerson, textOnScreen } from '../shared/n8n/tools/hints';
import { forEachWithPauses } from '../shared/pauses';
import { displayText, plainText } from '../shared/values';
import {
	LIST_COLUMN,
	PHONE_KEY_COLUMN,
	PHONE_SENT_COLUMN,
	PHONE_TO_SEND_COLUMN,
	PUSH_STATUS_COLUMN,
	REASON_COLUMN,
	STATUS_COLUMN,
	WARNINGS_COLUMN,
	type ContactRow,
} from './push/cells';
import {
	PUSHED_BEFORE_STATUSES,
	pushedRows,
	type PushOutcome,
	REJECTED_STATUSES,
	type RowsNotPushed,
	type RowStatus,
} from './push/outcome';
import type { PhonesByRow } from './push/phones';
import type { RowSource } from './push/rows';
import { RowSet } from './push/rowSet';
import {
	countRows,
	describeOutcome,
	hintsFor,
	notesOn,
	pushSummary,
	summarize,
	warningText,
} from './push/report';
import type { Output } from './pushSettings';

/** A push that has ended, with what its output needs. */
export type FinishedPush = {
	outcome: PushOutcome;
	source: RowSource;
	phones: PhonesByRow;
	/** Hints about how the rows were read. */
	notes: readonly Explanation[];
};

/** Before anything is sent, because n8n could run out of memory when the push has ended. */
export function requireOutputFits({ count, maxOutputRows }: RowSource, output: Output): void {
	if (output !== 'rows' || count <= maxOutputRows) return;
	const [rows, max] = [count, maxOutputRows].map((number) => number.toLocaleString('en-US'));
	throw new InvalidInput(
		`The input has ${rows} rows, but with 'Output' set to 'One Item per Row', CSV files can have at most ${max}. Nothing was sent`,
		onScreenOnly(
			"Set 'Output' in 'Options' to 'One Item per Request' or 'One Summary Item', or push fewer rows at a time.",
		),
	);
}

/** The hints in the output panel. */
export function addPushHints(
	context: IExecuteFunctions,
	{ outcome, notes }: FinishedPush,
	isRejectedRead: boolean,
): void {
	const { notPushed, stopped, ready } = outcome;
	const endsLoop = (ready ?? pushedRows(outcome)).size === 0 && isInLoop(context);
	const isPush = stopped === undefined && ready === undefined;
	const areUnseen = notPushed.count(...REJECTED_STATUSES) > 0 && isPush && !isRejectedRead;
	const aboutRows = hintsFor(outcome).map(asHint);
	const hints = compact([...aboutRows, areUnseen && NOT_READ, ...notes, endsLoop && LOOP_ENDS]);
	addHintsForPerson(context, ...hints);
}

const asHint = (message: string) => ({ message, resolution: onScreenOnly('') });

/** The same for a model, without the totals, and without what only a person can do. */
export function addPushHintsForModel(
	context: IExecuteFunctions,
	{ outcome, notes }: FinishedPush,
): void {
	addHintsForModel(context, ...notes, ...notesOn(outcome, 'forModel').map(asHint));
}

const NOT_READ: Explanation = {
	message:
		"No node reads 'Rejected', so a published workflow tells nobody which rows weren't pushed",
	resolution: onScreenOnly('Connect it, for example to a node that writes to your sheet.'),
};
const LOOP_ENDS: Explanation = {
	message: "'Pushed' is empty, so Loop Over Items ends here if only 'Pushed' leads back to it",
	resolution: onScreenOnly(
		'Connect all outputs to a Merge node, and that to Loop Over Items. Or remove the loop: the node pushes any number of rows.',
	),
};

function isInLoop(context: IExecuteFunctions): boolean {
	const before = context.getParentNodes(context.getNode().name);
	return before.some(({ type }) => type === 'n8n-nodes-base.splitInBatches');
}

/** The items of the *Pushed* output. */
export async function pushedOutput(
	push: FinishedPush,
	output: Output,
): Promise<INodeExecutionData[]> {
	const { outcome, source } = push;
	const { ready } = outcome;
	if (output === 'rows') return await rowItems(push);
	if (output === 'requests' && ready === undefined) return requestItems(push);
	const pairedItem = pairedItems(source, ready ?? pushedRows(outcome));
	return [{ json: summarize(outcome), pairedItem }];
}

/** The rows that can be called. With *Check Only*, the rows that a push would send, with their numbers. */
async function rowItems({ outcome, source, phones }: FinishedPush): Promise<INodeExecutionData[]> {
	const { ready, pushed } = outcome;
	const rows = pushed.flatMap(({ rows: indexes, response }) => {
		const about = { list: response.campaign_upload_id, warnings: warningsOf(response) };
		return Array.from(indexes, (index) => ({ index, ...about }));
	});
	for (const index of ready ?? []) rows.push({ index, list: null, warnings: null });
	return await itemsOf(source, sortBy(rows, 'index'), ({ index, list, warnings }, row) => {
		const status = ready === undefined ? 'pushed' : 'ready';
		const columns = rowColumns(status, phones, index, list, warnings);
		const toSend = ready && { [PHONE_TO_SEND_COLUMN]: phones.at(index) };
		const first = pick(NOT_REJECTED, Object.keys(row));
		return withColumns(row, first, { ...columns, ...toSend });
	});
}

/** For rows with the columns of an earlier push that rejected them. */
const NOT_REJECTED = { [STATUS_COLUMN]: null, [REASON_COLUMN]: null };

/**
 * A row with added columns, which replace those of the same name. Status and reason are the first ones, because the table
 * view cuts off the last columns.
 */
function withColumns(row: ContactRow, first: JsonObject, columns: IDataObject): IDataObject {
	return { ...first, ...pick(columns, PUSH_STATUS_COLUMN), ...row, ...first, ...columns };
}

async function itemsOf<T extends { index: number }>(
	source: RowSource,
	rows: readonly T[],
	jsonOf: (about: T, row: ContactRow) => IDataObject,
): Promise<INodeExecutionData[]> {
	const found = await source.output(rows.map(({ index }) => index));
	const items: INodeExecutionData[] = [];
	await forEachWithPauses(rows, (about) => {
		const json = jsonOf(about, found[items.length] ?? {});
		items.push({ json, pairedItem: { item: source.inputOf(about.index) } });
	});
	return items;
}

/** Rows with these statuses have no `phone_sent`: it wasn't sent, or only in a request that was rejected as a whole. */
const WITHOUT_PHONE_SENT = new Set<string>([
	...PUSHED_BEFORE_STATUSES,
	'duplicate',
	'not_sent',
	'ready',
]);

/** The same columns for each row, so that they fit a sheet. */
function rowColumns(
	status: string,
	phones: PhonesByRow,
	index: number,
	list: JsonValue = null,
	warnings: string | null = null,
): JsonObject {
	const phone = phones.at(index);
	return {
		[PUSH_STATUS_COLUMN]: status,
		[PHONE_SENT_COLUMN]: phone === '' || WITHOUT_PHONE_SENT.has(status) ? null : phone,
		[PHONE_KEY_COLUMN]: phones.keyAt(index) || null,
		[LIST_COLUMN]: list,
		[WARNINGS_COLUMN]: warnings,
	};
}

/** As text for a sheet. Null if there are none. */
function warningsOf({ warnings }: JsonObject): string | null {
	const texts = Array.isArray(warnings) ? warnings.map(warningText) : [];
	return texts.length > 0 ? texts.join(' ') : null;
}

/** One item for each accepted request: the summary and totals of the push, then the response. */
export function requestItems({ outcome, source }: FinishedPush): INodeExecutionData[] {
	const [summary, totals] = [pushSummary(outcome), countRows(outcome)];
	return outcome.pushed.map(({ rows, response }) => ({
		json: { summary, totals, ...omit(response, 'summary', 'totals') },
		pairedItem: pairedItems(source, rows),
	}));
}

/** The input items of a request's rows. */
function pairedItems(source: RowSource, rows: RowSet): Array<{ item: number }> {
	return source.inputsOf(rows).map((item) => ({ item }));
}

/** The rows with these statuses, each with the reason. Some may still be called. */
export async function notPushedItems(
	{ outcome, source, phones }: FinishedPush,
	output: Output,
	statuses: readonly RowStatus[],
): Promise<INodeExecutionData[]> {
	const notPushed = outcome.notPushed.with(statuses);
	if (notPushed.size > source.maxOutputRows) return rangeItems(notPushed, source);
	return await itemsOf(source, [...notPushed], ({ index, status, reason }, row) => {
		const rejection = { [STATUS_COLUMN]: status, [REASON_COLUMN]: reason };
		const columns = rowColumns(status, phones, index);
		// Those of an earlier push are replaced.
		const own = output === 'rows' ? columns : pick(columns, Object.keys(row));
		return withColumns(row, rejection, own);
	});
}

/** One item for consecutive rows with the same reason, because n8n couldn't store an item for each of them. */
function rangeItems(notPushed: RowsNotPushed, source: RowSource): INodeExecutionData[] {
	return notPushed.ranges().map(({ first, last, status, reason }) => {
		const rows = RowSet.ofRanges([first, last]);
		const { names } = source;
		const text = `${upperFirst(names.several(rows))}: ${reason} ${names.legend}`;
		return {
			json: { [STATUS_COLUMN]: status, [REASON_COLUMN]: text },
			pairedItem: pairedItems(source, rows),
		};
	});
}

/**
 * The outputs of a push that couldn't begin: *Rejected* has each input item, with its error and the columns of a rejected
 * row. *Pushed* has the items for the error output.
 */
export function notBegun(
	context: IExecuteFunctions,
	failed: readonly INodeExecutionData[],
): INodeExecutionData[][] {
	if (context.getNode().onError === 'continueErrorOutput') return [[...failed]];
	const input = context.getInputData();
	const rejected = failed.map(({ json: error, ...item }, index) => {
		const isUnknown = isJsonObject(error.details) && error.details.outcome === 'unknown';
		const status = isUnknown ? 'unknown' : 'not_sent';
		const reason = `${plainText(error.error)}. ${plainText(error.message)}`;
		const rejection = { [STATUS_COLUMN]: status, [REASON_COLUMN]: reason };
		const columns = { [PUSH_STATUS_COLUMN]: status, ...error };
		return { ...item, json: withColumns(input[index]?.json ?? {}, rejection, columns) };
	});
	// Expressions such as `$('Push').all(2)` need all outputs.
	return [[], rejected, []];
}

/**
 * The item of the error output. n8n moves it there from *Pushed*, and runs the node again for it if *Retry On Fail* is
 * on. The rows are in *Rejected*.
 */
export function stoppedItem(
	context: IExecuteFunctions,
	{ outcome: { stopped } }: FinishedPush,
): INodeExecutionData[] {
	if (stopped === undefined || context.getNode().onError !== 'continueErrorOutput') return [];
	// n8n would mix the data of a paired row into the item, but the error is about the whole push.
	return [{ ...toErrorItem(stopped, { itemIndex: 0, of: 1 }), pairedItem: [] }];
}

/** n8n's error for a push that stopped: first what to do, then what happened to the rows. */
export function pushStopped(
	context: IExecuteFunctions,
	{ outcome, source, notes }: FinishedPush,
	stopped: ExplainedError,
): NodeApiError | NodeOperationError {
	const nodeError = toNodeError(context.getNode(), stopped);
	const lines = compact([
		isCanceled(context) && WHY_CANCELED,
		nodeError.description,
		...describeOutcome(outcome, source.names),
		...notes.map(textOnScreen),
	]).map(displayText);
	nodeError.description = lines.join('\n');
	// n8n shows this one on the screen, as HTML. It would join the lines of the description.
	nodeError.context.descriptionTemplate = lines.join('<br>');
	return nodeError;
}
