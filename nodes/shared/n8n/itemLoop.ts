import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';
import { ExplainedError } from '../service/explained';
import type { JsonObject } from '../service/types';
import { toErrorItem, toNodeError } from './nodeErrors';
import { OnceLedger } from './once';

export type ItemTask = (index: number, item: INodeExecutionData) => Promise<INodeExecutionData[]>;

export type ItemLoopOptions = {
	/** Items under way at once; output keeps the order of the input. */
	concurrency?: number;
	/** The task must not happen twice: see {@link OnceLedger}. */
	once?: boolean;
	/** Says what was already done when a later item stops the run, e.g. "2 calls were placed". */
	describeDone?: (done: INodeExecutionData[]) => string;
};

/** The one loop over input items: order, concurrency, pairing, item index, Continue On Fail. */
export async function forEachItem(
	context: IExecuteFunctions,
	task: ItemTask,
	{ concurrency = 1, once = false, describeDone }: ItemLoopOptions = {},
): Promise<INodeExecutionData[]> {
	const items = context.getInputData();
	const ledger = once ? new OnceLedger(context) : undefined;
	const goOn = context.continueOnFail();
	const outputs = new Array<INodeExecutionData[]>(items.length);
	const failures = new Map<number, unknown>();

	const run = async (item: INodeExecutionData, index: number): Promise<void> => {
		// What is under way ends; nothing new starts after a failure that stops the run.
		if (failures.size > 0 && !goOn) return;
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

	if (failures.size > 0 && !goOn) throw stop(context, failures, outputs.flat(), describeDone);
	return outputs.flat();
}

/** Wraps plain records as items of the output. */
export function asItems(records: JsonObject | JsonObject[]): INodeExecutionData[] {
	return (Array.isArray(records) ? records : [records]).map((json) => ({ json }));
}

function pair(output: INodeExecutionData[], index: number): INodeExecutionData[] {
	return output.map((item) => ({ pairedItem: { item: index }, ...item }));
}

function stop(
	context: IExecuteFunctions,
	failures: Map<number, unknown>,
	done: INodeExecutionData[],
	describeDone?: (done: INodeExecutionData[]) => string,
): Error {
	const first = Math.min(...failures.keys());
	const error = toNodeError(context.getNode(), failures.get(first), {
		itemIndex: first,
		of: context.getInputData().length,
	});
	const others = [...failures].filter(([index]) => index !== first);
	const notes = [
		...others.map(([index, other]) => `[item ${index}] ${messageOf(other)}`),
		...(describeDone && done.length > 0 ? [describeDone(done)] : []),
	];
	if (notes.length > 0) error.description = [error.description, ...notes].join(' ');
	return error;
}

function messageOf(error: unknown): string {
	if (error instanceof ExplainedError) return `${error.message}. ${error.todo}`;
	return error instanceof Error ? error.message : String(error);
}
