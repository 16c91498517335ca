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
import { forEachWithPauses, Pauses } from '../../pauses';
import { counted, messageOf } from '../../values';

export type ItemTask = (index: number) => Promise<INodeExecutionData[]>;

export type ItemLoopOptions = {
	/** The number of items in flight. The output keeps the order of the input. */
	concurrency?: number;
	/**
	 * Checks an item, and sends nothing. Unless the node continues on errors, all items are checked before the first is
	 * sent, so a bad row has no consequences.
	 */
	check?: (index: number) => void;
	/** Text to add to the error if a check stops the node. */
	invalidText?: () => string;
	/** Text to add to the error if an item stops the node, after these were completed. */
	stopText?: (completed: number[], hasUnsent: boolean) => string;
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
		stopText = () => '',
		earlierOutput = () => undefined,
	}: ItemLoopOptions = {},
): Promise<INodeExecutionData[]> {
	const items = context.getInputData();
	const continueOnFail = context.continueOnFail() && !returnsErrorsToAgent(context);
	if (check !== undefined && !continueOnFail) {
		const invalid = await tryEachItem(context, check);
		if (invalid.size > 0) throw stoppingError(context, invalid, invalidText());
	}
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
		const completed = [...items.keys()].filter((index) => index in outputs);
		const hasUnsent = completed.length + failures.size < items.length;
		throw stoppingError(context, failures, stopText(completed, hasUnsent));
	}
	return outputs.flat();
}

function nothingSent(context: IExecuteFunctions): string {
	return context.getInputData().length > 1 ? `${NOTHING_SENT} ${HANDLE_OTHERS}` : NOTHING_SENT;
}

/** Does this for each item, also after failures. @returns the errors, by item index */
export async function tryEachItem(
	context: IExecuteFunctions,
	action: (index: number) => void,
): Promise<Map<number, unknown>> {
	const failures = new Map<number, unknown>();
	await forEachWithPauses(context.getInputData().keys(), (index) => {
		try {
			action(index);
		} catch (error) {
			failures.set(index, error);
		}
	});
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

function pair(output: INodeExecutionData[], index: number): INodeExecutionData[] {
	return output.map((item) => ({ pairedItem: { item: index }, ...item }));
}

/** The error that stops the node: the first failure, with the others and one more text in its description. */
function stoppingError(
	context: IExecuteFunctions,
	failures: Map<number, unknown>,
	moreText: string,
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
	const more = others.slice(MAX_LISTED_ITEMS);
	if (more.length > 0) texts.push(`And ${counted(more.length, 'more item')} (${ranges(more)}).`);
	const description = compact([error.description, ...texts, moreText])
		.map(asSentence)
		.join(' ');
	if (description !== '') error.description = description;
	return isCanceled(context) ? asCanceled(context, error) : error;
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

function itemIndex(pairedItem: INodeExecutionData['pairedItem']): number {
	return typeof pairedItem === 'object' && !Array.isArray(pairedItem) ? pairedItem.item : 0;
}

/** 0, 1, 2, 5 → "0–2, 5" */
export function ranges(sorted: number[]): string {
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
