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
import {
	readPushSettings,
	readOutputOptions,
	defaultOutputOptions,
	type OutputOptions,
} from './pushSettings';
import { closeRows, openRows, type InputRows } from './inputRows';
import { outcomeOfFailedStart, runPush } from './runPush';

/** A push as it comes out: what became of it, and its rows. */
type Shown = {
	outcome: PushOutcome;
	rows: InputRows;
	/** By row, as they are sent. */
	phones: ByRow<string>;
};

/** Pushes the input into the campaign: what was pushed, and every row for which nobody is called. */
export async function pushRows(run: OperationRun): Promise<INodeExecutionData[][]> {
	try {
		return await pushAndShow(run);
	} finally {
		await closeRows(run);
	}
}

async function pushAndShow(run: OperationRun): Promise<INodeExecutionData[][]> {
	const { context } = run;
	const { presentation, ...shown } = await runPush(run).catch(async (error: unknown) => {
		const begun = { ...(await outcomeOfFailedStart(run, error)), phones: [] };
		if (context.continueOnFail()) return { ...begun, presentation: presentationOf(run) };
		throw pushStopped(context, error, begun);
	});
	const { outcome } = shown;
	if (outcome.stopped !== undefined && !context.continueOnFail()) {
		throw pushStopped(context, outcome.stopped, shown);
	}

	const hints = [...hintsFor(outcome), ...(shown.rows.notes ?? [])];
	context.addExecutionHints(...hints.map((hint) => ({ message: displayText(hint) })));
	return [
		[...stoppedItem(context, shown), ...(await pushedOutput(shown, presentation))],
		await rejectedItems(shown, presentation),
	];
}

async function pushedOutput(
	shown: Shown,
	{ output }: OutputOptions,
): Promise<INodeExecutionData[]> {
	const { outcome, rows } = shown;
	const { forgotten, ready } = outcome;
	if (forgotten !== undefined) return [{ json: { forgotten }, pairedItem: [] }];
	if (output === 'rows') {
		return await (ready === undefined ? pushedRows(shown) : readyRows(shown, ready));
	}
	if (ready !== undefined) {
		return [{ json: dryRunSummary(outcome), pairedItem: pairs(rows, ready) }];
	}
	return output === 'summary' ? [summaryItem(shown)] : pushedItems(shown);
}

/** Each row that a dry run found fit to be sent, with its number as it would be sent. */
async function readyRows(
	{ rows, phones }: Shown,
	ready: readonly number[],
): Promise<INodeExecutionData[]> {
	return await itemsOf(rows, ready, (index) => ({
		...rowColumns('ready', phones.at(index)),
		[PHONE_TO_SEND_COLUMN]: phones.at(index) ?? null,
	}));
}

/** Each row that can be called, as it came in. */
async function pushedRows({ outcome, rows, phones }: Shown): Promise<INodeExecutionData[]> {
	const lists = new Map<number, JsonValue>();
	for (const { rows: pushed, answer } of outcome.pushed) {
		for (const index of pushed) lists.set(index, answer.campaign_upload_id ?? null);
	}
	const inOrder = [...lists.keys()].sort((one, other) => one - other);
	return await itemsOf(rows, inOrder, (index, row) => {
		const columns: IDataObject = rowColumns('pushed', phones.at(index), lists.get(index));
		// What an earlier push wrote beside the row holds no longer.
		for (const column of [STATUS_COLUMN, REASON_COLUMN]) if (column in row) columns[column] = null;
		return columns;
	});
}

/** Rows as they came in, each with further columns and paired with its input. */
async function itemsOf(
	rows: InputRows,
	indexes: readonly number[],
	columnsOf: (index: number, row: IDataObject, place: number) => IDataObject,
): Promise<INodeExecutionData[]> {
	const found = await rows.output(indexes);
	return indexes.map((index, place) => {
		const row = found[place] ?? {};
		return {
			json: { ...row, ...columnsOf(index, row, place) },
			pairedItem: { item: rows.inputOf(index) },
		};
	});
}

/** Rows whose number went nowhere. */
const NEVER_SENT = new Set<string>(['duplicate', 'pushed_before', 'not_sent', 'ready']);

/** Campaigns take numbers of India alone. */
const COUNTRY = 'IN';

/** The same columns in each row, as a sheet wants them. */
function rowColumns(status: string, phone = '', list: JsonValue = null): JsonObject {
	return {
		[PUSH_STATUS_COLUMN]: status,
		[PHONE_SENT_COLUMN]: phone === '' || NEVER_SENT.has(status) ? null : phone,
		[PHONE_KEY_COLUMN]: phoneKey(phone, COUNTRY),
		[LIST_COLUMN]: list,
	};
}

/** As asked for, also by a form in which something else cannot be read. */
function presentationOf({ parameters }: OperationRun): OutputOptions {
	try {
		return readOutputOptions(parameters.at(0));
	} catch {
		return defaultOutputOptions;
	}
}

/** A model is given one output alone, so what was rejected stands beside what was pushed. */
export async function pushForModel(run: OperationRun): Promise<INodeExecutionData[][]> {
	const { context } = run;
	const settings = await readPushSettings(run);
	if (settings.dryRun) return await performDryRunForModel(run);
	const input = await openRows(run);
	const rows = requireShallow(await input.output([...Array(input.source.count).keys()]));
	// The same number with other texts is another wish, and is in the campaign already.
	const earlier = { isKnown: false };
	const send = async () => {
		const { hasSent, ...shown } = await runPush(run);
		const { outcome } = shown;
		earlier.isKnown = !hasSent;
		const pushed = await itemForModel(shown);
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
			// The push notes its own requests.
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

/** The responses to all requests, and the rows that are not pushed. */
async function itemForModel(shown: Shown): Promise<INodeExecutionData[]> {
	const [first, ...others] = pushedItems(shown).map(({ json }) => json);
	const rejected = await rejectedForModel(shown);
	const further = others.length > 0 && { further_requests: others };
	return [{ json: { ...first, ...further, rejected } }];
}

/** Nothing is done, so the model may wish the same for real. */
async function performDryRunForModel(run: OperationRun): Promise<INodeExecutionData[][]> {
	noteReadOnly(run.context);
	const shown = await runPush(run);
	const rejected = await rejectedForModel(shown);
	const most =
		shown.outcome.readyIsUpperBound === true
			? ' Numbers pushed before may be among the ready ones.'
			: '';
	noteReadOnly(
		run.context,
		`Nothing was pushed, because this tool only checks the contacts. ${summaryLine(shown.outcome)}${most}`,
	);
	return [[{ json: { ...dryRunSummary(shown.outcome), rejected } }]];
}

async function rejectedForModel(shown: Shown): Promise<IDataObject[]> {
	const presentation = { ...defaultOutputOptions, withDuplicates: true };
	const items = await rejectedItems(shown, presentation);
	return items.map(({ json }) => json);
}

/** Nobody is called for what a model wanted to push, and its reasons say why. */
class NobodyPushed extends ExplainedError {
	override readonly name = 'NobodyPushed';

	constructor(
		message: string,
		advice: string,
		readonly outcome: Outcome,
		override readonly isFinal = false,
	) {
		super(message, forEveryone(advice));
	}
}

/** What stopped a push of which something is in the campaign. */
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

/** One item for each request that the service took: first what became of the whole push, then the answer. */
function pushedItems({ outcome, rows }: Shown): INodeExecutionData[] {
	const totals = countRows(outcome);
	return outcome.pushed.map((request) => ({
		json: { totals, ...omit(request.answer, 'totals') },
		pairedItem: pairs(rows, request.rows),
	}));
}

function summaryItem({ outcome, rows }: Shown): INodeExecutionData {
	const pushed = outcome.pushed.flatMap((request) => request.rows);
	return { json: summarize(outcome), pairedItem: pairs(rows, pushed) };
}

/** Each row for which nobody is called, as it came in, with the reason. */
async function rejectedItems(
	{ outcome, rows, phones }: Shown,
	{ output, withDuplicates }: OutputOptions,
): Promise<INodeExecutionData[]> {
	const unsent = outcome.rejectedRows.filter(
		({ status }) => withDuplicates || status !== 'duplicate',
	);
	const indexes = unsent.map(({ index }) => index);
	return await itemsOf(rows, indexes, (index, _row, place) => {
		const { status = '', reason = '' } = unsent[place] ?? {};
		return {
			...(output === 'rows' && rowColumns(status, phones.at(index))),
			[STATUS_COLUMN]: status,
			[REASON_COLUMN]: reason,
		};
	});
}

/** A request stands for all of its rows that can be called. */
function pairs(input: InputRows, rows: readonly number[]): Array<{ item: number }> {
	return input.inputsOf(rows).map((item) => ({ item }));
}

/**
 * The one item of the error output. n8n moves it there from Pushed, and runs the node again for it
 * when Retry On Fail is on. The rows themselves are in Rejected.
 */
function stoppedItem(context: IExecuteFunctions, shown: Shown): INodeExecutionData[] {
	const { outcome } = shown;
	if (outcome.stopped === undefined) return [];
	if (context.getNode().onError !== 'continueErrorOutput') return [];
	const { json } = toErrorItem(outcome.stopped, {
		itemIndex: inputWhereItStopped(shown),
		of: 1,
	});
	const details = { ...(isJsonObject(json.details) && json.details), ...countRows(outcome) };
	// Paired with no row, or n8n would mix the data of that one into the item.
	return [{ json: { ...json, details }, pairedItem: [] }];
}

/** n8n's own error for a push that did not reach its end, telling what became of every row. */
function pushStopped(
	context: IExecuteFunctions,
	error: unknown,
	shown: Shown,
): NodeApiError | NodeOperationError {
	const { outcome, rows } = shown;
	// It is about the push, so the message names no single item; the index leads to where it stopped.
	const position = { itemIndex: inputWhereItStopped(shown), of: 1 };
	const nodeError = toNodeError(context.getNode(), error, position);
	if (error instanceof ServiceRejection || hasBegun(outcome)) {
		const [summary, ...lines] = describeOutcome(outcome, rows.source.names);
		const more = [...lines, ...(rows.notes ?? [])].map(displayText);
		nodeError.description = [summary, nodeError.description, ...more].join('\n');
	}
	return nodeError;
}

/** Whether there is more to tell than that nothing was sent. */
function hasBegun({ pushed, rejectedRows: rejectedRows }: PushOutcome): boolean {
	return pushed.length > 0 || rejectedRows.some(({ status }) => status !== 'not_sent');
}

function inputWhereItStopped({ outcome, rows }: Shown): number {
	const stoppedAt = outcome.rejectedRows.find(
		({ status }) => status === 'unknown' || status === 'not_sent',
	);
	return rows.inputOf(stoppedAt?.index ?? 0);
}
