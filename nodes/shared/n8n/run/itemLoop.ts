import compact from 'lodash/compact';
import {
	sleep,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';
import pLimit from 'p-limit';
import { asSentence, ExplainedError } from '../../api/errors';
import type { JsonObject } from '../../json';
import { asCanceled, isCanceled, stoppedBeforeItem } from './cancel';
import { toErrorItem, toNodeError } from './nodeErrors';
import { returnsErrorsToAgent, returnsErrorsToReview, runsAsTool } from '../tools/toolRun';
import { Pauses } from '../../pauses';
import { counted, messageOf } from '../../values';

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
	/** Text to add to the error if a check stops the node. */
	invalidText?: () => string | Promise<string>;
	/** For the message about completed items when a later one stops the node. */
	completedText?: CompletedText;
	/** Whether an item with output was also completed. Default: all were. */
	isCompleted?: (index: number) => boolean;
	/** Added to the error if an item stops the node before all others were sent. */
	unsentText?: () => string | undefined;
	/** The output of an item from an earlier attempt, or undefined. Throws if its outcome is unknown. */
	earlierOutput?: (index: number) => INodeExecutionData[] | undefined;
};

/** n8n's HTTP helper computes for 1 to 2 ms per request, and blocks the event loop for all that start together. */
const STARTS_PER_PAUSE = 10;
const NOTHING_SENT =
	'Nothing was sent, because all items are checked before the first one is sent.';
const HANDLE_OTHERS =
	"To handle the other items anyway, set 'On Error' in 'Settings' to 'Continue'.";
/** Further items to list in a message. The rest is counted. */
const MAX_LISTED_ITEMS = 9;

/** The loop over input items: order, concurrency, paired items, item index, and *On Error*. */
export async function forEachItem(
	context: IExecuteFunctions,
	task: ItemTask,
	{
		concurrency = 1,
		check,
		invalidText = () => nothingSent(context),
		completedText,
		isCompleted = () => true,
		unsentText = () => undefined,
		earlierOutput = () => undefined,
	}: ItemLoopOptions = {},
): Promise<INodeExecutionData[]> {
	const items = context.getInputData();
	const continueOnFail = context.continueOnFail() && !returnsErrorsToAgent(context);
	if (check !== undefined && !continueOnFail) await checkAll(context, check, invalidText);
	const outputs = new Array<INodeExecutionData[]>(items.length);
	const failures = new Map<number, unknown>();

	let start = Promise.resolve();
	const run = async (index: number): Promise<void> => {
		// If many items end at the same moment, as many start. Items that send nothing never wait for the network.
		if (index > 0 && index % STARTS_PER_PAUSE === 0) start = start.then(async () => await sleep(0));
		// Wait for the earlier items, so that all start in order.
		await start;
		// After a failure that stops the node, items in flight finish and no other starts.
		const hasFailed = failures.size > 0 && !continueOnFail;
		try {
			const isStopped = hasFailed || isCanceled(context);
			const output = isStopped ? earlierOutput(index) : await task(index);
			if (output !== undefined) outputs[index] = pair(output, index);
			// n8n may store the output, and a retry then continues with the next node. So no item may be missing.
			else if (!hasFailed) throw stoppedBeforeItem();
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
		const hasUnsent = items.some((_item, index) => !failures.has(index) && !(index in outputs));
		const texts = completedTexts(context, completedText, completed);
		throw stoppingError(context, failures, compact([...texts, hasUnsent && unsentText()]));
	}
	return outputs.flat();
}

function nothingSent(context: IExecuteFunctions): string {
	return context.getInputData().length > 1 ? `${NOTHING_SENT} ${HANDLE_OTHERS}` : NOTHING_SENT;
}

/** @throws if an item doesn't pass, before anything was sent */
async function checkAll(
	context: IExecuteFunctions,
	check: (index: number) => void,
	text: () => string | Promise<string>,
): Promise<void> {
	const failures = await tryEachItem(context, check);
	if (failures.size > 0) throw stoppingError(context, failures, compact([await text()]));
}

/** Does this for each item, also after failures. @returns the errors, by item index */
export async function tryEachItem(
	context: IExecuteFunctions,
	action: (index: number) => void,
): Promise<Map<number, unknown>> {
	const failures = new Map<number, unknown>();
	const pauses = new Pauses();
	for (const index of context.getInputData().keys()) {
		if (pauses.isDue()) await pauses.take();
		try {
			action(index);
		} catch (error) {
			failures.set(index, error);
		}
	}
	return failures;
}

/** Reads each item, one after another. Stops at the first one that can't be read. */
export async function readEachItem<T>(
	context: IExecuteFunctions,
	read: (index: number) => T | Promise<T>,
): Promise<T[]> {
	const all: T[] = [];
	const pauses = new Pauses();
	for (const index of context.getInputData().keys()) {
		if (pauses.isDue()) await pauses.take();
		all.push(await read(index));
	}
	return all;
}

/** Wraps plain records as output items. */
export function asItems(records: JsonObject | JsonObject[]): INodeExecutionData[] {
	return (Array.isArray(records) ? records : [records]).map((json) => ({ json }));
}

export function pair(output: INodeExecutionData[], index: number): INodeExecutionData[] {
	return output.map((item) => ({ pairedItem: { item: index }, ...item }));
}

/** The error that stops the node: the first failure, with the others and more texts in its description. */
function stoppingError(
	context: IExecuteFunctions,
	failures: Map<number, unknown>,
	moreTexts: readonly string[],
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
	const texts = listed.map((index) => `[item ${index}] ${reasonOf(failures.get(index))}`);
	const more = others.length - listed.length;
	if (more > 0) {
		const rest = ranges(others.slice(MAX_LISTED_ITEMS));
		texts.push(`And ${counted(more, 'more item')} (${rest}).`);
	}
	texts.push(...moreTexts);
	if (texts.length > 0) {
		error.description = [...(error.description ? [error.description] : []), ...texts]
			.map(asSentence)
			.join(' ');
	}
	return isCanceled(context) ? asCanceled(context, error) : error;
}

/** Lists the completed items, so that nothing is sent twice in a new execution. */
export function completedTexts(
	context: IExecuteFunctions,
	text: CompletedText | undefined,
	completed: INodeExecutionData[],
): string[] {
	if (text === undefined || completed.length === 0) return [];
	const indices = completed.map(({ pairedItem }) => itemIndex(pairedItem));
	const [what, items, them, are] =
		completed.length === 1
			? [text.singular, 'item', 'it', "it's"]
			: [text.plural, 'items', 'them', "they're"];
	// n8n stores a stopped execution without the results, and the retry of a parent runs its sub-workflow again.
	const isStored = !isCanceled(context) && context.getMode() !== 'integrated';
	const retry = isStored ? ` A retry of this execution skips ${them}.` : '';
	return [
		`${completed.length} ${what} in this run (${items} ${ranges(indices)}).${retry} In a new execution, leave ${them} out, or ${are} sent again.`,
	];
}

/** A failed item with the fields of its input. In the error output, n8n adds them itself. */
export function withInputIfFailed(
	context: IExecuteFunctions,
	item: INodeExecutionData,
	inputOf: (index: number) => IDataObject,
): INodeExecutionData {
	const isFailed = item.json.error !== undefined;
	if (!isFailed || context.getNode().onError === 'continueErrorOutput') return item;
	return { ...item, json: { ...inputOf(itemIndex(item.pairedItem)), ...item.json } };
}

export function itemIndex(pairedItem: INodeExecutionData['pairedItem']): number {
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

function reasonOf(error: unknown): string {
	if (error instanceof ExplainedError) return `${error.message}. ${error.resolution}`;
	return messageOf(error);
}
