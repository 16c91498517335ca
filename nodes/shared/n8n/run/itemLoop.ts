import { sleep, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';
import { asSentence, ExplainedError, NotSent } from '../../api/errors';
import { onScreenOnly } from '../../api/modelAdvice';
import type { Limiter } from '../../keyedMutex';
import type { JsonObject } from '../../json';
import { asCanceled } from './cancel';
import { toErrorItem, toNodeError } from './nodeErrors';
import { IdempotencyHandler, type PreparedRequest } from '../idempotency/handler';
import { answersAgent, answersReview, runsAsTool } from '../tools/toolRun';

export type ItemTask = (index: number) => Promise<INodeExecutionData[]>;

/** What is done with an item, as of one and of several: "call was already placed". */
export type CompletedText = { singular: string; plural: string };

export type ItemLoopOptions = {
	/** Items under way at once; output keeps the order of the input. */
	concurrency?: number;
	/**
	 * Looks at an item without doing anything. Where one item stops the run, all are looked at
	 * before the first is done, so that a bad row costs nothing.
	 */
	check?: (index: number) => void;
	/** What is said where a check stops the run. */
	checkNote?: string;
	/** How it is told that earlier items were done when a later one stops the run. */
	completedText?: CompletedText;
	/** Whether an item that came out was done as well; each was where nothing is said. */
	isCompleted?: (index: number) => boolean;
};

export type SendLoopOptions<Deps> = Pick<ItemLoopOptions, 'concurrency' | 'completedText'> & {
	/** What every item needs to be sent, such as the connection. */
	createDeps: () => Promise<Deps>;
	/** When an item's turn is, where some must go one after another. */
	limiterFor?: (index: number) => Limiter;
};

/** Expressions take about 0.3 ms each, and an item may have ten. */
const ITEMS_PER_YIELD = 100;
/** n8n’s HTTP helper computes for a millisecond or two before a request leaves, and in one go for all that begin at once. */
const STARTS_PER_YIELD = 10;
const NOTHING_SENT = 'Nothing was sent: all items are checked before the first.';
const NOTHING_SENT_NOW = 'This attempt sent nothing. Run the other items in a new execution.';
/** Further items that a message spells out; the rest is counted. */
const MAX_LISTED_ITEMS = 9;

/** The one loop over input items: order, concurrency, pairing, item index, Continue On Fail. */
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
	const goOn = context.continueOnFail() && !answersAgent(context);
	const cancelled = context.getExecutionCancelSignal();
	if (check !== undefined && !goOn) await checkAll(context, check, checkNote);
	const outputs = new Array<INodeExecutionData[]>(items.length);
	const failures = new Map<number, unknown>();

	let begin = Promise.resolve();
	// If many end at the same moment, as many begin.
	const perBreath = concurrency > STARTS_PER_YIELD ? STARTS_PER_YIELD : ITEMS_PER_YIELD;
	const run = async (index: number): Promise<void> => {
		// Items that send nothing, such as those with a value that can't be used, never wait for the network.
		if (index > 0 && index % perBreath === 0) begin = begin.then(async () => await sleep(0));
		// Each waits for those before it, so that all begin in their order.
		await begin;
		// What is under way ends; nothing new starts after a failure that stops the run, or on Stop.
		if (failures.size > 0 && !goOn) return;
		try {
			// n8n may keep the output, and a retry then goes on with the next node: no item may be missing in it.
			if (cancelled?.aborted === true) throw stoppedBefore();
			outputs[index] = pair(await task(index), index);
		} catch (error) {
			failures.set(index, error);
			if (goOn) outputs[index] = [toErrorItem(error, { itemIndex: index, of: items.length })];
		}
	};
	const limit = pLimit(concurrency);
	await Promise.all(items.map(async (_item, index) => await limit(run, index)));

	if (failures.size > 0 && !goOn) {
		const done = outputs.filter((_output, index) => isCompleted(index)).flat();
		throw stop(
			context,
			failures,
			completedText && done.length > 0 ? completedNote(completedText, done) : undefined,
		);
	}
	return outputs.flat();
}

function stoppedBefore(): NotSent {
	return new NotSent(
		'The execution was stopped before this item',
		onScreenOnly('Nothing was sent for it. Run it again.'),
	);
}

/**
 * Sends each item once: what an earlier try of this run got done is answered from what is kept of it
 * (see {@link IdempotencyHandler}), the rest is checked before the first is sent.
 */
export async function sendEachItem<Deps>(
	context: IExecuteFunctions,
	prepare: (index: number) => PreparedRequest<Deps>,
	{ createDeps, limiterFor, ...options }: SendLoopOptions<Deps>,
): Promise<INodeExecutionData[]> {
	const handler = openHandler(context, createDeps);
	const prepared = new Map<number, PreparedRequest<Deps>>();
	const unsent = new Set<number>();
	const ready = (index: number): PreparedRequest<Deps> => {
		const sending = prepared.get(index) ?? prepare(index);
		prepared.set(index, sending);
		return sending;
	};
	const check = (index: number): void => ready(index).check?.();
	const send = async (index: number): Promise<INodeExecutionData[]> => {
		const sending = ready(index);
		prepared.delete(index);
		const once = handler.run(sending, limiterFor?.(index) ?? noLimit, index);
		const output = await once.catch((reason: unknown) => {
			// A model is told in its own answer that nothing was sent.
			const instead = runsAsTool(context) ? undefined : sending.fallbackOutput?.(reason);
			if (instead === undefined) throw reason;
			unsent.add(index);
			return instead;
		});
		return sending.formatOutput?.(output) ?? output;
	};
	const isCompleted = (index: number): boolean => !unsent.has(index);
	const { isFirstAttempt } = handler;
	if (!isFirstAttempt) await matchEarlierItems(context, handler, ready);
	const begun = await findBegun(context, handler, ready);
	const reject = (index: number): void => {
		const error = begun.get(index);
		if (error !== undefined) throw error;
	};
	const checks = begun.size > 0 ? { check: reject, checkNote: NOTHING_SENT_NOW } : { check };
	return await forEachItem(context, send, {
		...options,
		isCompleted,
		...((isFirstAttempt || begun.size > 0) && checks),
	});
}

/** On *Retry*, all that an earlier attempt has begun is found before anything is sent, so that one message names it. */
async function findBegun<Deps>(
	context: IExecuteFunctions,
	handler: IdempotencyHandler<Deps>,
	ready: (index: number) => PreparedRequest<Deps>,
): Promise<Map<number, ExplainedError>> {
	if (context.getMode() !== 'retry' || runsAsTool(context)) return new Map();
	const items = new Map<number, PreparedRequest<Deps>>();
	for (const index of context.getInputData().keys()) {
		try {
			const sending = ready(index);
			if (sending.find === undefined) items.set(index, sending);
		} catch {
			// An item that cannot be read is told of at its turn.
		}
		await yieldToEventLoop(index);
	}
	return await handler.findBegun(items);
}

async function matchEarlierItems<Deps>(
	context: IExecuteFunctions,
	handler: IdempotencyHandler<Deps>,
	ready: (index: number) => PreparedRequest<Deps>,
): Promise<void> {
	for (const index of context.getInputData().keys()) {
		try {
			handler.matchEarlierItem(ready(index), index);
		} catch {
			// An item that cannot be read is told of at its turn.
		}
		await yieldToEventLoop(index);
	}
}

const noLimit: Limiter = async (job) => await job();

function openHandler<Deps>(
	context: IExecuteFunctions,
	open: () => Promise<Deps>,
): IdempotencyHandler<Deps> {
	try {
		return new IdempotencyHandler(context, open);
	} catch (error) {
		throw toNodeError(context.getNode(), error);
	}
}

/** @throws when an item does not pass, before anything was done */
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
	if (failures.size > 0) throw stop(context, failures, note);
}

/** What is read of each item, one after another. Stops at the first that can't be read. */
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

/** Expressions hold the event loop; other executions of this n8n must get their turn. */
async function yieldToEventLoop(index: number): Promise<void> {
	if (index % ITEMS_PER_YIELD === ITEMS_PER_YIELD - 1) await sleep(0);
}

/** Wraps plain records as items of the output. */
export function asItems(records: JsonObject | JsonObject[]): INodeExecutionData[] {
	return (Array.isArray(records) ? records : [records]).map((json) => ({ json }));
}

function pair(output: INodeExecutionData[], index: number): INodeExecutionData[] {
	return output.map((item) => ({ pairedItem: { item: index }, ...item }));
}

function stop(context: IExecuteFunctions, failures: Map<number, unknown>, done?: string): Error {
	const [first = 0, ...others] = [...failures.keys()].sort((a, b) => a - b);
	// A model gets an item, made of what went wrong itself.
	const failure = failures.get(first);
	const isForModel = runsAsTool(context) || answersReview(context);
	if (isForModel && failure instanceof Error) return failure;
	const error = toNodeError(context.getNode(), failure, {
		itemIndex: first,
		of: context.getInputData().length,
	});
	const told = others.slice(0, MAX_LISTED_ITEMS);
	const notes = told.map((index) => `[item ${index}] ${messageOf(failures.get(index))}`);
	if (others.length > told.length) notes.push(`And ${others.length - told.length} more items.`);
	if (done !== undefined) notes.push(done);
	if (notes.length > 0) {
		error.description = [...(error.description ? [error.description] : []), ...notes]
			.map(asSentence)
			.join(' ');
	}
	return context.getExecutionCancelSignal()?.aborted === true ? asCanceled(context, error) : error;
}

/** So that nothing is done twice on the next run. */
function completedNote({ singular, plural }: CompletedText, done: INodeExecutionData[]): string {
	const indices = done.map(({ pairedItem }) => itemIndex(pairedItem));
	const [what, items, them] =
		done.length === 1 ? [singular, 'item', 'it'] : [plural, 'items', 'them'];
	return `${done.length} ${what} in this run (${items} ${ranges(indices)}). Retry of this execution leaves ${them} out; in a new execution leave ${them} out yourself.`;
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
