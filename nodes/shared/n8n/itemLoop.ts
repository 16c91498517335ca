import { sleep, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';
import { asSentence, ExplainedError } from '../service/core/explained';
import type { JsonObject } from '../service/types';
import { toErrorItem, toNodeError } from './nodeErrors';
import { OnceLedger } from './once';

export type ItemTask = (index: number, item: INodeExecutionData) => Promise<INodeExecutionData[]>;

export type ItemLoopOptions = {
	/** Items under way at once; output keeps the order of the input. */
	concurrency?: number;
	/** The task must not happen twice: see {@link OnceLedger}. */
	once?: boolean;
	/**
	 * Looks at an item without doing anything. Where one item stops the run, all are looked at
	 * before the first is done, so that a bad row costs nothing.
	 */
	check?: (index: number) => void;
	/** Says what was already done when a later item stops the run, e.g. "2 calls were placed". */
	describeDone?: (done: INodeExecutionData[]) => string;
};

const ITEMS_PER_BREATH = 100;
const NOTHING_SENT = 'Nothing was sent: all items are checked before the first.';
/** Further items that a message spells out; the rest is counted. */
const MOST_TOLD = 9;

/** The one loop over input items: order, concurrency, pairing, item index, Continue On Fail. */
export async function forEachItem(
	context: IExecuteFunctions,
	task: ItemTask,
	{ concurrency = 1, once = false, check, describeDone }: ItemLoopOptions = {},
): Promise<INodeExecutionData[]> {
	const items = context.getInputData();
	const ledger = once ? new OnceLedger(context) : undefined;
	const goOn = context.continueOnFail();
	const cancelled = context.getExecutionCancelSignal();
	const isFirstTry = ledger?.hasSettled(items) !== true;
	if (check !== undefined && !goOn && isFirstTry) await checkAll(context, check);
	const outputs = new Array<INodeExecutionData[]>(items.length);
	const failures = new Map<number, unknown>();

	const run = async (item: INodeExecutionData, index: number): Promise<void> => {
		// What is under way ends; nothing new starts after a failure that stops the run, or on Stop.
		if ((failures.size > 0 && !goOn) || cancelled?.aborted === true) return;
		try {
			const act = async () => pair(await task(index, item), index);
			outputs[index] = ledger === undefined ? await act() : await ledger.once(item, index, act);
		} catch (error) {
			failures.set(index, error);
			if (goOn) outputs[index] = [toErrorItem(error, { itemIndex: index, of: items.length })];
		}
	};
	const limit = pLimit(concurrency);
	await Promise.all(items.map(async (item, index) => await limit(run, item, index)));

	const done = outputs.flat();
	if (failures.size > 0 && !goOn) {
		throw stop(context, failures, done.length > 0 ? describeDone?.(done) : undefined);
	}
	return done;
}

/** @throws when an item does not pass, before anything was done */
async function checkAll(context: IExecuteFunctions, check: (index: number) => void): Promise<void> {
	const failures = new Map<number, unknown>();
	for (const index of context.getInputData().keys()) {
		try {
			check(index);
		} catch (error) {
			failures.set(index, error);
		}
		// Expressions hold the event loop; other executions of this n8n must get their turn.
		if (index % ITEMS_PER_BREATH === ITEMS_PER_BREATH - 1) await sleep(0);
	}
	if (failures.size > 0) throw stop(context, failures, NOTHING_SENT);
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
	const error = toNodeError(context.getNode(), failures.get(first), {
		itemIndex: first,
		of: context.getInputData().length,
	});
	const told = others.slice(0, MOST_TOLD);
	const notes = told.map((index) => `[item ${index}] ${messageOf(failures.get(index))}`);
	if (others.length > told.length) notes.push(`And ${others.length - told.length} more items.`);
	if (done !== undefined) notes.push(done);
	if (notes.length > 0) {
		error.description = [...(error.description ? [error.description] : []), ...notes]
			.map(asSentence)
			.join(' ');
	}
	return error;
}

function messageOf(error: unknown): string {
	if (error instanceof ExplainedError) return `${error.message}. ${error.todo}`;
	return error instanceof Error ? error.message : String(error);
}
