import { sleep, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';
import { asSentence, ExplainedError } from '../../api/errors';
import type { Limiter } from '../../keyedMutex';
import type { JsonObject } from '../../json';
import { asCanceled, isCanceled, requireRunning } from './cancel';
import { runsOnEngine2 } from './engine2';
import { toErrorItem, toNodeError } from './nodeErrors';
import { IdempotencyHandler } from '../idempotency/handler';
import type { PreparedRequest } from '../idempotency/preparedRequest';
import { replay } from '../idempotency/requestRecord';
import { returnsErrorsToAgent, returnsErrorsToReview, runsAsTool } from '../tools/toolRun';

export type ItemTask = (index: number) => Promise<INodeExecutionData[]>;

/** A completed request in messages, such as "call was already placed". */
export type CompletedText = { singular: string; plural: string };

export type ItemLoopOptions = {
	/** The number of items in flight. The output keeps the order of the input. */
	concurrency?: number;
	/**
	 * Checks an item, and sends nothing. Unless the node continues on errors, all items are checked before the first is
	 * sent, so a bad row has no consequences.
	 */
	check?: (index: number) => void;
	/** Added to the error if a check stops the node. */
	checkNote?: string;
	/** For the message about completed items when a later one stops the node. */
	completedText?: CompletedText;
	/** Whether an item with output was also completed. Default: all were. */
	isCompleted?: (index: number) => boolean;
};

export type SendLoopOptions<Deps> = Pick<ItemLoopOptions, 'concurrency' | 'completedText'> & {
	/** Creates what every request needs, such as the API client. */
	createDeps: () => Promise<Deps>;
	/** Gets the stored results of earlier attempts before the first item is sent. */
	onEarlierResults?: (records: JsonObject[]) => void;
	/** Orders items that must be sent one after another. */
	limiterFor?: (index: number) => Limiter;
};

/** Expressions take about 0.3 ms each, and an item may have ten. */
const ITEMS_PER_YIELD = 100;
/** n8n's HTTP helper computes for 1 to 2 ms per request, and blocks the event loop for all that start together. */
const STARTS_PER_YIELD = 10;
const NOTHING_SENT =
	'Nothing was sent, because all items are checked before the first one is sent.';
const NOTHING_SENT_NOW = 'This attempt sent nothing. Run the other items in a new execution.';
/** Further items to list in a message. The rest is counted. */
const MAX_LISTED_ITEMS = 9;

/** The loop over input items: order, concurrency, paired items, item index, and *On Error*. */
export async function forEachItem(
	context: IExecuteFunctions,
	task: ItemTask,
	{
		concurrency = 1,
		check,
		checkNote = NOTHING_SENT,
		completedText,
		isCompleted = () => true,
	}: ItemLoopOptions = {},
): Promise<INodeExecutionData[]> {
	const items = context.getInputData();
	const continueOnFail = context.continueOnFail() && !returnsErrorsToAgent(context);
	if (check !== undefined && !continueOnFail) await checkAll(context, check, checkNote);
	const outputs = new Array<INodeExecutionData[]>(items.length);
	const failures = new Map<number, unknown>();

	let start = Promise.resolve();
	// If many items end at the same moment, as many start.
	const perYield = concurrency > STARTS_PER_YIELD ? STARTS_PER_YIELD : ITEMS_PER_YIELD;
	const run = async (index: number): Promise<void> => {
		// Items that send nothing, such as those with an invalid value, never wait for the network, so yield here.
		if (index > 0 && index % perYield === 0) start = start.then(async () => await sleep(0));
		// Wait for the earlier items, so that all start in order.
		await start;
		// After a failure that stops the node, items in flight finish and no other starts.
		if (failures.size > 0 && !continueOnFail) return;
		try {
			// n8n may store the output, and a retry then continues with the next node. So no item may be missing.
			requireRunning(context);
			outputs[index] = pair(await task(index), index);
		} catch (error) {
			failures.set(index, error);
			if (continueOnFail)
				outputs[index] = [toErrorItem(error, { itemIndex: index, of: items.length })];
		}
	};
	const limit = pLimit(concurrency);
	await Promise.all(items.map(async (_item, index) => await limit(run, index)));

	if (failures.size > 0 && !continueOnFail) {
		const completed = outputs.filter((_output, index) => isCompleted(index)).flat();
		throw stop(context, failures, completedNotes(context, completedText, completed));
	}
	return outputs.flat();
}

/**
 * Sends each item once. Replays the stored results of earlier attempts (see {@link IdempotencyHandler}), and checks the
 * other items before the first one is sent.
 */
export async function sendEachItem<Deps>(
	context: IExecuteFunctions,
	prepare: (index: number) => PreparedRequest<Deps>,
	{ createDeps, onEarlierResults, limiterFor, ...options }: SendLoopOptions<Deps>,
): Promise<INodeExecutionData[]> {
	const handler = openHandler(context, createDeps);
	const prepared = new Map<number, PreparedRequest<Deps>>();
	const notSent = new Set<number>();
	const requestOf = (index: number): PreparedRequest<Deps> => {
		const request = prepared.get(index) ?? prepare(index);
		prepared.set(index, request);
		return request;
	};
	const check = (index: number): void => requestOf(index).check?.();
	const send = async (index: number): Promise<INodeExecutionData[]> => {
		const request = requestOf(index);
		prepared.delete(index);
		const result = handler.run(request, limiterFor?.(index) ?? noLimit, index);
		const output = await result.catch((error: unknown) => {
			// The result for a model explains why nothing was sent.
			const fallback = runsAsTool(context) ? undefined : request.fallbackOutput?.(error);
			if (fallback === undefined) throw error;
			notSent.add(index);
			return fallback;
		});
		return request.formatOutput?.(output) ?? output;
	};
	const isCompleted = (index: number): boolean => !notSent.has(index);
	onEarlierResults?.(handler.earlierResults);
	const { isFirstAttempt } = handler;
	if (!isFirstAttempt) await matchEarlierItems(context, handler, requestOf);
	const begun = await findBegun(context, handler, requestOf);
	const checks =
		begun.size > 0 ? checkBegun(context, handler, begun, options.completedText) : { check };
	return await forEachItem(context, send, {
		...options,
		isCompleted,
		...((isFirstAttempt || begun.size > 0) && checks),
	});
}

/** Stops a retry before the first request. Reports the items that may be sent, and those that completed. */
function checkBegun<Deps>(
	context: IExecuteFunctions,
	handler: IdempotencyHandler<Deps>,
	begun: ReadonlyMap<number, ExplainedError>,
	completedText: CompletedText | undefined,
): Required<Pick<ItemLoopOptions, 'check' | 'checkNote'>> {
	const check = (index: number): void => {
		const error = begun.get(index);
		if (error !== undefined) throw error;
		const record = handler.recordOf(index);
		if (record !== undefined && !('completed' in record)) replay(record);
	};
	const completed = [...context.getInputData().keys()].flatMap((index) => {
		const record = handler.recordOf(index);
		return record !== undefined && 'completed' in record ? pair(replay(record), index) : [];
	});
	const notes = [NOTHING_SENT_NOW, ...completedNotes(context, completedText, completed)];
	return { check, checkNote: notes.join(' ') };
}

/** On *Retry*, finds all requests that an earlier attempt started, so that one message can list them. */
async function findBegun<Deps>(
	context: IExecuteFunctions,
	handler: IdempotencyHandler<Deps>,
	requestOf: (index: number) => PreparedRequest<Deps>,
): Promise<Map<number, ExplainedError>> {
	if (context.getMode() !== 'retry' || runsAsTool(context)) return new Map();
	const items = new Map<number, PreparedRequest<Deps>>();
	for (const index of context.getInputData().keys()) {
		try {
			const request = requestOf(index);
			if (request.find === undefined) items.set(index, request);
		} catch {
			// The loop reports an item that can't be read.
		}
		await yieldToEventLoop(index);
	}
	return await handler.findBegun(items);
}

async function matchEarlierItems<Deps>(
	context: IExecuteFunctions,
	handler: IdempotencyHandler<Deps>,
	requestOf: (index: number) => PreparedRequest<Deps>,
): Promise<void> {
	for (const index of context.getInputData().keys()) {
		try {
			handler.matchEarlierItem(requestOf(index), index);
		} catch {
			// The loop reports an item that can't be read.
		}
		await yieldToEventLoop(index);
	}
}

const noLimit: Limiter = async (job) => await job();

function openHandler<Deps>(
	context: IExecuteFunctions,
	createDeps: () => Promise<Deps>,
): IdempotencyHandler<Deps> {
	try {
		return new IdempotencyHandler(context, createDeps);
	} catch (error) {
		throw toNodeError(context.getNode(), error);
	}
}

/** @throws if an item doesn't pass, before anything was sent */
async function checkAll(
	context: IExecuteFunctions,
	check: (index: number) => void,
	note: string,
): Promise<void> {
	const failures = new Map<number, unknown>();
	for (const index of context.getInputData().keys()) {
		try {
			check(index);
		} catch (error) {
			failures.set(index, error);
		}
		await yieldToEventLoop(index);
	}
	if (failures.size > 0) throw stop(context, failures, [note]);
}

/** Reads each item, one after another. Stops at the first one that can't be read. */
export async function readEachItem<T>(
	context: IExecuteFunctions,
	read: (index: number) => T | Promise<T>,
): Promise<T[]> {
	const all: T[] = [];
	for (const index of context.getInputData().keys()) {
		all.push(await read(index));
		await yieldToEventLoop(index);
	}
	return all;
}

/** Expressions block the event loop, and other executions of this process must be able to continue. */
async function yieldToEventLoop(index: number): Promise<void> {
	if (index % ITEMS_PER_YIELD === ITEMS_PER_YIELD - 1) await sleep(0);
}

/** Wraps plain records as output items. */
export function asItems(records: JsonObject | JsonObject[]): INodeExecutionData[] {
	return (Array.isArray(records) ? records : [records]).map((json) => ({ json }));
}

function pair(output: INodeExecutionData[], index: number): INodeExecutionData[] {
	return output.map((item) => ({ pairedItem: { item: index }, ...item }));
}

function stop(
	context: IExecuteFunctions,
	failures: Map<number, unknown>,
	moreNotes: readonly string[],
): Error {
	const [first = 0, ...others] = [...failures.keys()].sort((a, b) => a - b);
	// The result for a model is made from the error itself.
	const failure = failures.get(first);
	const isForModel = runsAsTool(context) || returnsErrorsToReview(context);
	if (isForModel && failure instanceof Error) return failure;
	const error = toNodeError(context.getNode(), failure, {
		itemIndex: first,
		of: context.getInputData().length,
	});
	const listed = others.slice(0, MAX_LISTED_ITEMS);
	const notes = listed.map((index) => `[item ${index}] ${messageOf(failures.get(index))}`);
	const unlisted = others.length - listed.length;
	if (unlisted > 0) notes.push(`And ${unlisted} more ${unlisted === 1 ? 'item' : 'items'}.`);
	notes.push(...moreNotes);
	if (notes.length > 0) {
		error.description = [...(error.description ? [error.description] : []), ...notes]
			.map(asSentence)
			.join(' ');
	}
	return isCanceled(context) ? asCanceled(context, error) : error;
}

/** Lists the completed items, so that nothing is sent twice in a new execution. */
function completedNotes(
	context: IExecuteFunctions,
	text: CompletedText | undefined,
	completed: INodeExecutionData[],
): string[] {
	if (text === undefined || completed.length === 0) return [];
	const indices = completed.map(({ pairedItem }) => itemIndex(pairedItem));
	const [what, items, them] =
		completed.length === 1 ? [text.singular, 'item', 'it'] : [text.plural, 'items', 'them'];
	// n8n stores a stopped execution without the results.
	const isStored = !runsOnEngine2(context) && !isCanceled(context);
	const retry = isStored ? ` A retry of this execution skips ${them}.` : '';
	return [
		`${completed.length} ${what} in this run (${items} ${ranges(indices)}).${retry} In a new execution, leave ${them} out.`,
	];
}

function itemIndex(pairedItem: INodeExecutionData['pairedItem']): number {
	return typeof pairedItem === 'object' && !Array.isArray(pairedItem) ? pairedItem.item : 0;
}

/** 0, 1, 2, 5 → "0–2, 5" */
function ranges(sorted: number[]): string {
	const runs: Array<[first: number, last: number]> = [];
	for (const index of sorted) {
		const run = runs.at(-1);
		if (run !== undefined && run[1] === index - 1) run[1] = index;
		else runs.push([index, index]);
	}
	return runs
		.map(([first, last]) => (first === last ? String(first) : `${first}–${last}`))
		.join(', ');
}

function messageOf(error: unknown): string {
	if (error instanceof ExplainedError) return `${error.message}. ${error.resolution}`;
	return error instanceof Error ? error.message : String(error);
}
