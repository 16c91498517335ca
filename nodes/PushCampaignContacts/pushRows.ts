import omit from 'lodash/omit';
import uniq from 'lodash/uniq';
import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';
import { ExplainedError, ServiceRefusal, type Outcome } from '../shared/api/errors';
import { adviceForModel } from '../shared/api/modelAdvice';
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json';
import { sendEachItem } from '../shared/n8n/itemLoop';
import { toErrorItem, toNodeError } from '../shared/n8n/nodeErrors';
import { NodeParameters } from '../shared/n8n/nodeParameters';
import { phoneKey } from '../shared/phone/phoneKey';
import { noteDeed } from '../shared/n8n/toolRun';
import {
	FEED_STATUS_COLUMN,
	LIST_COLUMN,
	PHONE_KEY_COLUMN,
	PHONE_SENT_COLUMN,
	PHONE_TO_SEND_COLUMN,
	REASON_COLUMN,
	STATUS_COLUMN,
	type FeedOutcome,
	type PushedRequest,
} from './feed/feed';
import {
	countRows,
	describeOutcome,
	dryRunSummary,
	hintsFor,
	summarize,
	sumUp,
} from './feed/report';
import {
	readFeedSettings,
	readPresentation,
	usualPresentation,
	type Presentation,
} from './feedSettings';
import { comesAsJson, feedRows, knownRows } from './feedRows';
import { couldNotBegin, runFeed } from './runFeed';

/** Feeds the input into the campaign: what was pushed, and every row for which nobody is called. */
export async function pushRows(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const { outcome, presentation, phones } = await runFeed(context).catch((error: unknown) => {
		const begun = couldNotBegin(context, error);
		if (context.continueOnFail()) {
			return { outcome: begun, presentation: presentationOf(context), phones: [] };
		}
		throw feedStopped(context, error, begun);
	});
	if (outcome.stopped !== undefined && !context.continueOnFail()) {
		throw feedStopped(context, outcome.stopped, outcome);
	}

	const { output, withDuplicates } = presentation;
	const byRow = output === 'rows' ? { phones } : undefined;
	context.addExecutionHints(...hintsFor(outcome).map((message) => ({ message })));
	return [
		[...stoppedItem(context, outcome), ...pushedOutput(context, outcome, output, phones)],
		rejectedItems(context, outcome, withDuplicates, byRow),
	].map((items) => pairedWithInput(context, items));
}

/** Rows are told by their place in the feed; n8n pairs what comes out with the input. */
function pairedWithInput(
	context: IExecuteFunctions,
	items: INodeExecutionData[],
): INodeExecutionData[] {
	if (!comesAsJson(context)) return items;
	const { itemOf } = knownRows(context);
	return items.map((item) => {
		const rows = [item.pairedItem ?? []]
			.flat()
			.map((row) => (typeof row === 'number' ? row : row.item));
		const inputs = uniq(rows.map(itemOf)).map((index) => ({ item: index }));
		return { ...item, pairedItem: inputs };
	});
}

function pushedOutput(
	context: IExecuteFunctions,
	outcome: FeedOutcome,
	output: Presentation['output'],
	phones: readonly string[],
): INodeExecutionData[] {
	const { forgotten } = outcome;
	if (forgotten !== undefined) return [{ json: { forgotten }, pairedItem: [] }];
	if (output === 'rows') {
		return outcome.ready === undefined
			? pushedRows(context, outcome, phones)
			: readyRows(context, outcome.ready, phones);
	}
	if (outcome.ready !== undefined) return [dryRunItem(outcome, outcome.ready)];
	return output === 'summary' ? [summaryItem(outcome)] : pushedItems(outcome);
}

function dryRunItem(outcome: FeedOutcome, ready: readonly number[]): INodeExecutionData {
	return { json: dryRunSummary(outcome), pairedItem: ready.map((item) => ({ item })) };
}

/** Each row that a dry run found fit to be sent, with its number as it would be sent. */
function readyRows(
	context: IExecuteFunctions,
	ready: readonly number[],
	phones: readonly string[],
): INodeExecutionData[] {
	const { items } = knownRows(context);
	return ready.map((index) => ({
		json: {
			...items[index]?.json,
			...rowColumns('ready', phones[index]),
			[PHONE_TO_SEND_COLUMN]: phones[index] ?? null,
		},
		pairedItem: { item: index },
	}));
}

/** Each row that can be called, as it came in. */
function pushedRows(
	context: IExecuteFunctions,
	outcome: FeedOutcome,
	phones: readonly string[],
): INodeExecutionData[] {
	const { items } = knownRows(context);
	const rows = outcome.pushed.flatMap(({ rows, answer }) =>
		rows.map((index) => ({ index, list: answer.campaign_upload_id ?? null })),
	);
	rows.sort((one, other) => one.index - other.index);
	return rows.map(({ index, list }) => {
		const row = items[index]?.json ?? {};
		const json: IDataObject = { ...row, ...rowColumns('pushed', phones[index], list) };
		// What an earlier feed wrote beside the row holds no longer.
		for (const column of [STATUS_COLUMN, REASON_COLUMN]) if (column in row) json[column] = null;
		return { json, pairedItem: { item: index } };
	});
}

/** Rows whose number went nowhere. */
const NEVER_LEFT = new Set<string>(['duplicate', 'fed_before', 'not_sent', 'ready']);

/** Campaigns take numbers of India alone. */
const COUNTRY = 'IN';

/** The same columns in each row, as a sheet wants them. */
function rowColumns(status: string, phone = '', list: JsonValue = null): JsonObject {
	return {
		[FEED_STATUS_COLUMN]: status,
		[PHONE_SENT_COLUMN]: phone === '' || NEVER_LEFT.has(status) ? null : phone,
		[PHONE_KEY_COLUMN]: phoneKey(phone, COUNTRY),
		[LIST_COLUMN]: list,
	};
}

/** As asked for, also by a form in which something else cannot be read. */
function presentationOf(context: IExecuteFunctions): Presentation {
	try {
		return readPresentation(new NodeParameters(context));
	} catch {
		return usualPresentation;
	}
}

/** A model is given one output alone, so what was rejected stands beside what was pushed. */
export async function pushForModel(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const settings = await readFeedSettings(context, new NodeParameters(context));
	if (settings.dryRun) return await rehearseForModel(context);
	const rows = feedRows(context).items.map(({ json }) => json);
	// The same number with other texts is another wish, and is in the campaign already.
	const feed = { isKnown: false };
	const send = async () => {
		const { outcome, hasSent } = await runFeed(context);
		feed.isKnown = !hasSent;
		if (outcome.stopped !== undefined) throw outcome.stopped;
		if (outcome.pushed.every((request) => request.rows.length === 0)) throw nobodyPushed(outcome);
		const [first, ...others] = pushedItems(outcome).map(({ json }) => json);
		const rejected = rejectedForModel(context, outcome);
		const further = others.length > 0 && { further_requests: others };
		return [{ json: { ...first, ...further, rejected } }];
	};
	const open = async () => await Promise.resolve();
	const output = await sendEachItem(context, () => ({ request: { settings, rows }, send }), {
		open,
	});
	if (feed.isKnown) noteDeed(context, { output, repeated: true });
	return [output];
}

/** Nothing is done, so the model may wish the same for real. */
async function rehearseForModel(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const { outcome } = await runFeed(context);
	const rejected = rejectedForModel(context, outcome);
	return [[{ json: { ...dryRunSummary(outcome), rejected } }]];
}

function rejectedForModel(context: IExecuteFunctions, outcome: FeedOutcome): IDataObject[] {
	const unsentRows = outcome.unsentRows.map(({ reason, ...row }) => ({
		...row,
		reason: adviceForModel(reason),
	}));
	return rejectedItems(context, { ...outcome, unsentRows }, true).map(({ json }) => json);
}

/** Nobody is called for what a model wanted to push, and its reasons say why. */
class NobodyPushed extends ExplainedError {
	override readonly name = 'NobodyPushed';

	constructor(
		message: string,
		resolution: string,
		readonly outcome: Outcome,
	) {
		super(message, resolution);
	}
}

function nobodyPushed(outcome: FeedOutcome): NobodyPushed {
	if (outcome.received === 0) {
		const give = 'Give at least one contact with a phone number.';
		return new NobodyPushed('No contact was given, so nothing was sent', give, 'notSent');
	}
	const reasons = [...new Set(outcome.unsentRows.map(({ reason }) => reason))];
	return new NobodyPushed(
		sumUp(outcome),
		reasons.join(' '),
		outcome.pushed.length === 0 ? 'notSent' : 'refused',
	);
}

/** One item for each request that the service took: first what became of the whole feed, then the answer. */
function pushedItems(outcome: FeedOutcome): INodeExecutionData[] {
	const feed = countRows(outcome);
	return outcome.pushed.map((request) => ({
		json: { feed, ...omit(request.answer, 'feed') },
		pairedItem: pairs([request]),
	}));
}

function summaryItem(outcome: FeedOutcome): INodeExecutionData {
	return { json: summarize(outcome), pairedItem: pairs(outcome.pushed) };
}

/** Each row for which nobody is called, as it came in, with the reason. */
function rejectedItems(
	context: IExecuteFunctions,
	{ unsentRows }: FeedOutcome,
	withDuplicates: boolean,
	byRow?: { phones: readonly string[] },
): INodeExecutionData[] {
	const { items } = knownRows(context);
	return unsentRows
		.filter(({ status }) => withDuplicates || status !== 'duplicate')
		.map(({ index, status, reason }) => ({
			json: {
				...items[index]?.json,
				...(byRow !== undefined && rowColumns(status, byRow.phones[index])),
				[STATUS_COLUMN]: status,
				[REASON_COLUMN]: reason,
			},
			pairedItem: { item: index },
		}));
}

/** A request stands for all of its rows that can be called. */
function pairs(requests: readonly PushedRequest[]): Array<{ item: number }> {
	return requests.flatMap(({ rows }) => rows.map((item) => ({ item })));
}

/**
 * The one item of the error output. n8n moves it there from Pushed, and runs the node again for it
 * when Retry On Fail is on. The rows themselves are in Rejected.
 */
function stoppedItem(context: IExecuteFunctions, outcome: FeedOutcome): INodeExecutionData[] {
	if (outcome.stopped === undefined) return [];
	if (context.getNode().onError !== 'continueErrorOutput') return [];
	const { json } = toErrorItem(outcome.stopped, {
		itemIndex: inputWhereItStopped(context, outcome),
		of: 1,
	});
	const details = { ...(isJsonObject(json.details) && json.details), ...countRows(outcome) };
	// Paired with no row, or n8n would mix the data of that one into the item.
	return [{ json: { ...json, details }, pairedItem: [] }];
}

/** n8n's own error for a feed that did not reach its end, telling what became of every row. */
function feedStopped(
	context: IExecuteFunctions,
	error: unknown,
	outcome: FeedOutcome,
): NodeApiError | NodeOperationError {
	// It is about the feed, so the message names no single item; the index leads to where it stopped.
	const position = { itemIndex: inputWhereItStopped(context, outcome), of: 1 };
	const nodeError = toNodeError(context.getNode(), error, position);
	if (error instanceof ServiceRefusal || hasBegun(outcome)) {
		const [summary, ...rows] = describeOutcome(outcome);
		nodeError.description = [summary, nodeError.description, ...rows].join('\n');
	}
	return nodeError;
}

/** Whether there is more to tell than that nothing was sent. */
function hasBegun({ pushed, unsentRows }: FeedOutcome): boolean {
	return pushed.length > 0 || unsentRows.some(({ status }) => status !== 'not_sent');
}

function inputWhereItStopped(context: IExecuteFunctions, { unsentRows }: FeedOutcome): number {
	const stoppedAt = unsentRows.find(({ status }) => status === 'unknown' || status === 'not_sent');
	return knownRows(context).itemOf(stoppedAt?.index ?? 0);
}
