import chunk from 'lodash/chunk';
import compact from 'lodash/compact';
import once from 'lodash/once';
import partition from 'lodash/partition';
import pick from 'lodash/pick';
import {
	sleep,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';
import pLimit from 'p-limit';
import { asSentence, OutcomeUnknown, errorText } from '../../core/service/errors';
import type { JsonObject } from '../../core/values/json';
import type { Limiter } from '../../core/values/keyedMutex';
import { asCanceled, isCanceled, stoppedBeforeItem } from '../execution/cancel';
import { type ItemPosition, labelOf, toErrorItem, toNodeError } from '../http/nodeErrors';
import type { OperationRun } from './operations';
import { forEachWithPauses } from '../../core/values/pauses';
import { personNameOf, rowNumberIn } from '../../core/values/sheetCells';

type ItemTask = (index: number) => Promise<INodeExecutionData[]>;

type ItemBatches = {
	size: number;
	/** Doesn't throw. */
	begin: (indexes: number[]) => Promise<void>;
	/** Doesn't throw. */
	end: (indexes: number[]) => Promise<void>;
};

export type ItemLoopOptions = {
	/** The number of items in flight. The output keeps the order of the input. */
	concurrency?: number;
	/**
	 * Checks an item, and sends nothing. All items are checked before the first is sent, so unless the node continues on
	 * errors, a bad row has no consequences.
	 */
	check?: (index: number) => void;
	/** Text to add to the error that stops the node. These items were completed, at this time in words. */
	stopText?: (completed: number[], when: string) => string;
	/** The output of an item from an earlier attempt, or undefined. Throws if its outcome is unknown. */
	earlierOutput?: (index: number) => INodeExecutionData[] | undefined;
	/** What to do before and after some items, such as to claim them together. */
	batches?: ItemBatches | undefined;
};

/** n8n's HTTP helper computes for 1 to 2 ms per request, and blocks the event loop for all that start together. */
const STARTS_PER_PAUSE = 10;
const NOTHING_DONE = 'Nothing was sent or changed in this run.';
/** Further items to list in a message. The rest is counted. */
const MAX_LISTED_ITEMS = 9;

/** The loop over input items: order, concurrency, paired items, item index, and *On Error*. */
export async function forEachItem(
	run: OperationRun,
	task: ItemTask,
	{
		concurrency = 1,
		check = () => {},
		stopText = () => '',
		earlierOutput = () => undefined,
		batches = { size: Infinity, begin: async () => {}, end: async () => {} },
	}: ItemLoopOptions = {},
): Promise<INodeExecutionData[]> {
	const { context, caller } = run;
	const { continuesOnFail } = caller;
	const rows = context.getInputData();
	const { length: of } = rows;
	const positionOf = (itemIndex: number): ItemPosition => ({
		itemIndex,
		of,
		rowNumber: rowNumberIn(rows[itemIndex]?.json ?? {}),
		person: personNameOf(rows[itemIndex]?.json ?? {}),
	});
	const indexes = [...rows.keys()];
	const failures = await tryEach(indexes, check);
	if (failures.size > 0 && !continuesOnFail) {
		const completed: number[] = [];
		await tryEach(indexes, (index) => {
			if (earlierOutput(index) !== undefined) completed.push(index);
		});
		throw stoppingError(
			run,
			failures,
			positionOf,
			NOTHING_DONE,
			stopText(completed, 'in an earlier attempt'),
		);
	}
	const outputs = new Array<INodeExecutionData[]>(indexes.length);

	// After a failure that stops the node, items in flight finish, and no other starts.
	const hasFailed = () => !continuesOnFail && failures.size > 0;
	const isStopped = () => hasFailed() || isCanceled(context);
	let start = Promise.resolve();
	const runTask = async (index: number): Promise<void> => {
		// If many items end at the same moment, as many start. Items that send nothing never wait for the network. Those of a
		// canceled execution don't start, and n8n stores it as it is a moment later, perhaps without the error of this node.
		const pauses = index % STARTS_PER_PAUSE === 0 && !isCanceled(context);
		if (pauses) start = start.then(async () => await sleep(0));
		// Wait for the earlier items, so that all start in order.
		await start;
		try {
			if (failures.has(index)) throw failures.get(index);
			const output = isStopped() ? earlierOutput(index) : await task(index);
			if (output !== undefined) outputs[index] = pair(output, index);
			// n8n may store the output, and a retry then continues with the next node. So no item may be missing.
			else if (!hasFailed()) throw stoppedBeforeItem();
		} catch (error) {
			failures.set(index, error);
			if (continuesOnFail) outputs[index] = [errorItemOf(context, error, positionOf(index))];
		}
	};
	const limit = pLimit(concurrency);
	const runBatch = async (batch: number[]): Promise<void> => {
		// With its first item, while items of the batch before it are in flight.
		const isBegun = once(async () => {
			if (isStopped()) return false;
			await batches.begin(batch);
			return true;
		});
		const runItem = async (index: number) => {
			await isBegun();
			await runTask(index);
		};
		await Promise.all(batch.map(async (index) => await limit(runItem, index)));
		const ended = (await isBegun()) ? batches.end(batch) : undefined;
		// n8n stores a canceled execution as it is a moment later, so its error can't wait for n8n's database.
		if (!isCanceled(context)) await ended;
	};
	await Promise.all(chunk(indexes, batches.size).map(runBatch));

	if (failures.size > 0 && !continuesOnFail) {
		const completed = indexes.filter((index) => index in outputs);
		throw stoppingError(run, failures, positionOf, stopText(completed, 'in this run'));
	}
	return outputs.flat();
}

/** Does this for each item, also after failures. @returns the errors, by index */
export async function tryEach(
	indexes: readonly number[],
	action: (index: number) => void,
): Promise<Map<number, unknown>> {
	const failures = new Map<number, unknown>();
	await forEachWithPauses(indexes, (index) => {
		try {
			action(index);
		} catch (error) {
			failures.set(index, error);
		}
	});
	return failures;
}

/** The list of an item. Items with the same key have the same list. */
export type ListPlan = { key: unknown; read: (limiter: Limiter) => Promise<JsonObject[]> };

/**
 * Reads a list for each item, with at most `concurrency` requests in flight. Items with the same list share one
 * reading. Its entries are returned once, paired with the first of these items.
 */
export async function forEachList(
	run: OperationRun,
	plan: (index: number) => Promise<ListPlan>,
	concurrency: number,
): Promise<INodeExecutionData[]> {
	const limiter = pLimit(concurrency);
	const readings = new Map<string, Promise<JsonObject[]>>();
	const readOnce = async (index: number): Promise<INodeExecutionData[]> => {
		const { key, read } = await plan(index);
		const name = JSON.stringify(key);
		const known = readings.get(name);
		const reading = known ?? read(limiter);
		readings.set(name, reading);
		// A failure fails every item with this list.
		const entries = await reading;
		return known === undefined ? asItems(entries) : [];
	};
	return await forEachItem(run, readOnce, { concurrency });
}

/** Wraps plain records as output items. */
export function asItems(records: JsonObject | JsonObject[]): INodeExecutionData[] {
	return (Array.isArray(records) ? records : [records]).map((json) => ({ json }));
}

function pair(output: INodeExecutionData[], index: number): INodeExecutionData[] {
	return output.map((item) => ({ pairedItem: { item: index }, ...item }));
}

/** The error that stops the node: the first failure, with the others and more texts in its description. */
function stoppingError(
	{ context, caller }: OperationRun,
	failures: Map<number, unknown>,
	positionOf: (index: number) => ItemPosition,
	...moreTexts: string[]
): Error {
	const [first = 0, ...others] = [...failures.keys()].sort((a, b) => a - b);
	// The result for a model is made from the error itself.
	const failure = failures.get(first);
	const unknown = [...failures.values()].find((one) => one instanceof OutcomeUnknown);
	if (caller.kind === 'model' && failure instanceof Error) return unknown ?? failure;
	const error = toNodeError(context.getNode(), failure, positionOf(first));
	const textOf = (index: number) => errorText(failures.get(index));
	// Such as a wrong expression, with which all rows fail.
	const [same, different] = partition(others, (index) => textOf(index) === textOf(first));
	const listed = different.slice(0, MAX_LISTED_ITEMS);
	const texts = listed.map((index) => `${labelOf(positionOf(index))} ${textOf(index)}`);
	const rows = context.getInputData();
	if (same.length > 0) texts.unshift(`The same applies to ${rowsAt(same, rows)}.`);
	const more = different.slice(MAX_LISTED_ITEMS);
	if (more.length > 0) texts.push(`And ${more.length} more: ${rowsAt(more, rows)}.`);
	const description = compact([error.description, ...texts, ...moreTexts])
		.map(asSentence)
		.join(' ');
	if (description !== '') error.description = description;
	return isCanceled(context) ? asCanceled(context, error) : error;
}

/** In the error output, n8n adds the fields of the input, but not its files. */
export function errorItemOf(context: IExecuteFunctions, error: unknown, position: ItemPosition) {
	const hasOutput = context.getNode().onError === 'continueErrorOutput';
	const files = hasOutput && pick(context.getInputData()[position.itemIndex], 'binary');
	return { ...toErrorItem(error, position), ...files };
}

/** A failed item with its input, after the error. In the error output, it has that already. */
export function withInputIfFailed(
	context: IExecuteFunctions,
	item: INodeExecutionData,
	inputOf: (index: number, failed: IDataObject) => INodeExecutionData,
): INodeExecutionData {
	// The empty one of a row isn't that of this item.
	if (!item.json.error || context.getNode().onError === 'continueErrorOutput') return item;
	const input = inputOf(itemIndex(item.pairedItem), item.json);
	return { ...input, ...item, json: { ...item.json, ...input.json, ...item.json } };
}

function itemIndex(pairedItem: INodeExecutionData['pairedItem']): number {
	return typeof pairedItem === 'object' && !Array.isArray(pairedItem) ? pairedItem.item : 0;
}

/** "row 3" or "rows 1–3, 6", counted from 1, or by the number in the sheet: "row_number 2–4, 7" */
export function rowsAt(sorted: number[], items: readonly INodeExecutionData[]): string {
	const inSheet = compact(sorted.map((index) => rowNumberIn(items[index]?.json ?? {})));
	if (inSheet.length === sorted.length) return `row_number ${ranges(inSheet)}`;
	return `${sorted.length === 1 ? 'row' : 'rows'} ${ranges(sorted.map((index) => index + 1))}`;
}

/** 1, 2, 3, 6 → "1–3, 6" */
function ranges(numbers: number[]): string {
	const runs: Array<[first: number, last: number]> = [];
	for (const number of numbers) {
		const run = runs.at(-1);
		if (run !== undefined && run[1] === number - 1) run[1] = number;
		else runs.push([number, number]);
	}
	return runs.map(([first, last]) => (first === last ? first : `${first}–${last}`)).join(', ');
}
