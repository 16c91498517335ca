import omit from 'lodash/omit';
import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';
import {
	ExplainedError,
	OutcomeUnknown,
	ServiceRejection,
	type Outcome,
	type ErrorOrigin,
} from '../shared/api/errors';
import { forEveryone } from '../shared/api/modelAdvice';
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json';
import { sendEachItem } from '../shared/n8n/run/itemLoop';
import { toErrorItem, toNodeError } from '../shared/n8n/run/nodeErrors';
import { requireShallow } from '../shared/n8n/forms/fields';
import type { OperationRun } from '../shared/n8n/run/operations';
import { displayText } from '../shared/values';
import { formOf } from '../shared/modelForms';
import { phoneKey } from '../shared/phone/phoneKey';
import { noteCompleted, noteReadOnly } from '../shared/n8n/tools/toolRun';
import type { ByRow } from './push/phoneArrays';
import {
	PUSH_STATUS_COLUMN,
	LIST_COLUMN,
	PHONE_KEY_COLUMN,
	PHONE_SENT_COLUMN,
	PHONE_TO_SEND_COLUMN,
	REASON_COLUMN,
	STATUS_COLUMN,
	type PushOutcome,
} from './push/pushTypes';
import {
	countRows,
	describeOutcome,
	dryRunSummary,
	hintsFor,
	summarize,
	summaryLine,
} from './push/report';
import { readPushSettings, readOutput, type Output } from './pushSettings';
import { InputRowsOfRun, type InputRows } from './inputRows';
import { outcomeOfFailedStart, runPush } from './runPush';

/** A push that has ended, with what its output needs. */
type FinishedPush = {
	outcome: PushOutcome;
	rows: InputRows;
	/** By row, as sent. */
	phones: ByRow<string>;
};

/** Pushes the rows. Returns the *Pushed* and *Rejected* outputs. */
export async function pushRows(run: OperationRun): Promise<INodeExecutionData[][]> {
	const input = new InputRowsOfRun(run);
	try {
		return await pushAndOutput(run, input);
	} finally {
		await input.close();
	}
}

async function pushAndOutput(
	run: OperationRun,
	input: InputRowsOfRun,
): Promise<INodeExecutionData[][]> {
	const { context } = run;
	const { output, ...push } = await runPush(run, input).catch(async (error: unknown) => {
		const failed = { ...(await outcomeOfFailedStart(context, input, error)), phones: [] };
		if (context.continueOnFail()) return { ...failed, output: outputOf(run) };
		throw pushStopped(context, error, failed);
	});
	const { outcome } = push;
	if (outcome.stopped !== undefined && !context.continueOnFail()) {
		throw pushStopped(context, outcome.stopped, push);
	}

	const hints = [...hintsFor(outcome), ...(push.rows.notes ?? [])];
	context.addExecutionHints(...hints.map((hint) => ({ message: displayText(hint) })));
	return [
		[...stoppedItem(context, push), ...(await pushedOutput(push, output))],
		await rejectedItems(push, output),
	];
}

async function pushedOutput(push: FinishedPush, output: Output): Promise<INodeExecutionData[]> {
	const { outcome, rows } = push;
	const { forgotten, ready } = outcome;
	if (forgotten !== undefined) return [{ json: { forgotten }, pairedItem: [] }];
	if (output === 'rows') {
		return await (ready === undefined ? pushedRows(push) : readyRows(push, ready));
	}
	if (ready !== undefined) {
		return [{ json: dryRunSummary(outcome), pairedItem: pairedItems(rows, ready) }];
	}
	return output === 'summary' ? [summaryItem(push)] : pushedItems(push);
}

/** The rows that a dry run accepts, with their numbers as a push would send them. */
async function readyRows(
	{ rows, phones }: FinishedPush,
	ready: readonly number[],
): Promise<INodeExecutionData[]> {
	return await itemsOf(rows, ready, (index) => ({
		...rowColumns('ready', phones.at(index)),
		[PHONE_TO_SEND_COLUMN]: phones.at(index) ?? null,
	}));
}

/** The rows that can be called. */
async function pushedRows({ outcome, rows, phones }: FinishedPush): Promise<INodeExecutionData[]> {
	const lists = new Map<number, JsonValue>();
	for (const { rows: pushed, response } of outcome.pushed) {
		for (const index of pushed) lists.set(index, response.campaign_upload_id ?? null);
	}
	const inOrder = [...lists.keys()].sort((one, other) => one - other);
	return await itemsOf(rows, inOrder, (index, row) => {
		const columns: IDataObject = rowColumns('pushed', phones.at(index), lists.get(index));
		// An earlier push may have rejected the row and added these columns.
		for (const column of [STATUS_COLUMN, REASON_COLUMN]) if (column in row) columns[column] = null;
		return columns;
	});
}

/** Input rows with added columns. The added columns come first, because the table view cuts off the last ones. */
async function itemsOf(
	rows: InputRows,
	indexes: readonly number[],
	columnsOf: (index: number, row: IDataObject, position: number) => IDataObject,
	withoutCells?: ReadonlySet<number>,
): Promise<INodeExecutionData[]> {
	const found = await rows.output(indexes, withoutCells);
	return indexes.map((index, position) => {
		const row = found[position] ?? {};
		const columns = columnsOf(index, row, position);
		return {
			// The second `columns` replaces columns of the same name in the row.
			json: { ...columns, ...row, ...columns },
			pairedItem: { item: rows.inputOf(index) },
		};
	});
}

/** The numbers of rows with these statuses were not sent. */
const NEVER_SENT = new Set<string>(['duplicate', 'pushed_before', 'not_sent', 'ready']);

/** Campaigns accept Indian numbers only. */
const COUNTRY = 'IN';

/** The same columns for each row, so that they fit a sheet. */
function rowColumns(status: string, phone = '', list: JsonValue = null): JsonObject {
	return {
		[PUSH_STATUS_COLUMN]: status,
		[PHONE_SENT_COLUMN]: phone === '' || NEVER_SENT.has(status) ? null : phone,
		[PHONE_KEY_COLUMN]: phoneKey(phone, COUNTRY),
		[LIST_COLUMN]: list,
	};
}

/** *Output*, even if another field of the form can't be read. */
function outputOf({ parameters }: OperationRun): Output {
	try {
		return readOutput(parameters.at(0));
	} catch {
		return 'requests';
	}
}

/** As a tool, a node has one output, so the item contains the rejected rows as well. */
export async function pushForModel(run: OperationRun): Promise<INodeExecutionData[][]> {
	const { context } = run;
	const input = new InputRowsOfRun(run);
	const settings = await readPushSettings(run);
	if (settings.dryRun) return await performDryRunForModel(run, input);
	const inputRows = await input.open();
	const rows = requireShallow(await inputRows.output([...Array(inputRows.source.count).keys()]));
	// The same number with other texts is a new request, but the number is in the campaign already.
	const earlier = { isKnown: false };
	const send = async () => {
		const { hasSent, ...push } = await runPush(run, input);
		const { outcome } = push;
		earlier.isKnown = !hasSent;
		const pushed = await itemForModel(push);
		if (outcome.stopped !== undefined) {
			if (countRows(outcome).pushed === 0) throw outcome.stopped;
			noteCompleted(context, {
				output: pushed,
				isReplay: false,
				repeatable: false,
				isPartial: true,
			});
			throw withCounts(outcome.stopped, outcome);
		}
		const isNew = outcome.rejectedRows.some(({ status }) => status !== 'duplicate');
		const isInCampaign = earlier.isKnown && !isNew && outcome.received > 0;
		const isNobody = outcome.pushed.every((request) => request.rows.length === 0);
		if (isNobody && !isInCampaign) throw nobodyPushed(outcome);
		return pushed;
	};
	const createDeps = async () => await Promise.resolve();
	const output = await sendEachItem(
		context,
		() => ({
			payload: { settings, rows },
			// The push records its own requests.
			idempotent: true,
			send,
		}),
		{
			createDeps,
		},
	);
	if (earlier.isKnown) noteCompleted(context, { output, isReplay: true, repeatable: false });
	return [output];
}

/** The responses to all requests, and the rejected rows. */
async function itemForModel(push: FinishedPush): Promise<INodeExecutionData[]> {
	const [first, ...others] = pushedItems(push).map(({ json }) => json);
	const rejected = await rejectedForModel(push);
	const further = others.length > 0 && { further_requests: others };
	return [{ json: { ...first, ...further, rejected } }];
}

/** A dry run has no effect, so the model may push the same contacts afterwards. */
async function performDryRunForModel(
	run: OperationRun,
	input: InputRowsOfRun,
): Promise<INodeExecutionData[][]> {
	noteReadOnly(run.context);
	const push = await runPush(run, input);
	const rejected = await rejectedForModel(push);
	const bound =
		push.outcome.readyIsUpperBound === true
			? ' The ready contacts may include numbers that were pushed before.'
			: '';
	noteReadOnly(
		run.context,
		`Nothing was pushed, because this tool only checks the contacts. ${summaryLine(push.outcome)}${bound}`,
	);
	return [[{ json: { ...dryRunSummary(push.outcome), rejected } }]];
}

async function rejectedForModel(push: FinishedPush): Promise<IDataObject[]> {
	const items = await rejectedItems(push, 'requests');
	return items.map(({ json }) => json);
}

/** Nobody is called for what a model pushed. The description has the reasons. */
class NobodyPushed extends ExplainedError {
	override readonly name = 'NobodyPushed';

	constructor(
		message: string,
		description: string,
		readonly outcome: Outcome,
		override readonly isFinal = false,
	) {
		super(message, forEveryone(description));
	}
}

/** The error of a push that stopped after it pushed rows. */
class PushStopped extends ExplainedError {
	override readonly name = 'PushStopped';
	readonly outcome: Outcome;
	override readonly isTransient: boolean;
	override readonly origin: ErrorOrigin;

	constructor(message: string, cause: ExplainedError) {
		super(message, cause.explanation.resolution, cause.originalMessage);
		this.outcome = cause.outcome;
		this.isTransient = cause.isTransient;
		this.origin = cause.origin;
	}
}

function withCounts(stopped: ExplainedError, outcome: PushOutcome): ExplainedError {
	const message = `${summaryLine(outcome)} ${stopped.message}`;
	return stopped instanceof OutcomeUnknown
		? stopped.withText({ message })
		: new PushStopped(message, stopped);
}

function nobodyPushed(outcome: PushOutcome): NobodyPushed {
	if (outcome.received === 0) {
		const give = `Give at least one contact with a phone number. ${formOf('Contacts')}`;
		return new NobodyPushed('No contact was given, so nothing was sent', give, 'not_sent');
	}
	const reasons = [...new Set(outcome.rejectedRows.map(({ reason }) => reason))];
	const isUnknown = outcome.rejectedRows.some(({ status }) => status === 'unknown');
	const isSent = outcome.pushed.length > 0 || outcome.hasRejections === true;
	return new NobodyPushed(
		summaryLine(outcome),
		reasons.join(' '),
		isUnknown ? 'unknown' : isSent ? 'rejected' : 'not_sent',
		outcome.rejectedRows.every(({ status }) => status === 'pushed_before'),
	);
}

/** One item for each accepted request: the totals of the push, then the response. */
function pushedItems({ outcome, rows }: FinishedPush): INodeExecutionData[] {
	const totals = countRows(outcome);
	return outcome.pushed.map((request) => ({
		json: { totals, ...omit(request.response, 'totals') },
		pairedItem: pairedItems(rows, request.rows),
	}));
}

function summaryItem({ outcome, rows }: FinishedPush): INodeExecutionData {
	const pushed = outcome.pushed.flatMap((request) => request.rows);
	return { json: summarize(outcome), pairedItem: pairedItems(rows, pushed) };
}

/**
 * Duplicates that *Rejected* lists with their cells. With more of them, a file with a million rows could fill n8n's
 * memory, so they are listed without cells.
 */
export const MAX_DUPLICATES_WITH_CELLS = 100_000;

/** The rows for which nobody is called, with the reason. */
async function rejectedItems(
	{ outcome, rows, phones }: FinishedPush,
	output: Output,
): Promise<INodeExecutionData[]> {
	const { rejectedRows } = outcome;
	const indexes = rejectedRows.map(({ index }) => index);
	const duplicates = rejectedRows.filter(({ status }) => status === 'duplicate');
	const isCompact = output !== 'rows' && duplicates.length > MAX_DUPLICATES_WITH_CELLS;
	const withoutCells = isCompact ? new Set(duplicates.map(({ index }) => index)) : undefined;
	return await itemsOf(
		rows,
		indexes,
		(index, _row, position) => {
			const { status = '', reason = '' } = rejectedRows[position] ?? {};
			return {
				[STATUS_COLUMN]: status,
				[REASON_COLUMN]: reason,
				...(output === 'rows' && rowColumns(status, phones.at(index))),
			};
		},
		withoutCells,
	);
}

/** The input items of a request's rows. */
function pairedItems(input: InputRows, rows: readonly number[]): Array<{ item: number }> {
	return input.inputsOf(rows).map((item) => ({ item }));
}

/**
 * The item of the error output. n8n moves it there from *Pushed*, and runs the node again for it if *Retry On Fail* is
 * on. The rows are in *Rejected*.
 */
function stoppedItem(context: IExecuteFunctions, push: FinishedPush): INodeExecutionData[] {
	const { outcome } = push;
	if (outcome.stopped === undefined) return [];
	if (context.getNode().onError !== 'continueErrorOutput') return [];
	const { json } = toErrorItem(outcome.stopped, {
		itemIndex: inputWhereStopped(push),
		of: 1,
	});
	const details = { ...(isJsonObject(json.details) && json.details), ...countRows(outcome) };
	// n8n would mix the data of a paired row into the item.
	return [{ json: { ...json, details }, pairedItem: [] }];
}

/** n8n's error for a push that stopped: first what to do, then what happened to the rows. */
function pushStopped(
	context: IExecuteFunctions,
	error: unknown,
	push: FinishedPush,
): NodeApiError | NodeOperationError {
	const { outcome, rows } = push;
	// The error is about all rows, so its message names no item. The index leads to the row where the push stopped.
	const position = { itemIndex: inputWhereStopped(push), of: 1 };
	const nodeError = toNodeError(context.getNode(), error, position);
	if (error instanceof ServiceRejection || hasResults(outcome)) {
		const { nextSteps, groups, details } = describeOutcome(outcome, rows.source.names);
		const advice = nodeError.description ?? '';
		const lines = [advice, ...[...nextSteps, ...groups].map(displayText)].filter(
			(line) => line !== '',
		);
		nodeError.description = lines.join('\n');
		// n8n shows this one on the screen, as HTML. It would join the lines of the description.
		nodeError.context.descriptionTemplate = lines.join('<br>');
		for (const detail of [...details, ...(rows.notes ?? [])]) {
			nodeError.messages.push(displayText(detail));
		}
	}
	return nodeError;
}

/** Whether there is more to report than that nothing was sent. */
function hasResults({ pushed, rejectedRows }: PushOutcome): boolean {
	return pushed.length > 0 || rejectedRows.some(({ status }) => status !== 'not_sent');
}

function inputWhereStopped({ outcome, rows }: FinishedPush): number {
	const stoppedAt = outcome.rejectedRows.find(
		({ status }) => status === 'unknown' || status === 'not_sent',
	);
	return rows.inputOf(stoppedAt?.index ?? 0);
}
