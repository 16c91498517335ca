import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { OutcomeUnknown } from '../service/core/explained';

type Settled = { output: INodeExecutionData[] } | { unknown: OutcomeUnknown };

/** The same for each try of one run of a node, and for nothing else. */
export function runKey(context: IExecuteFunctions): string {
	const { $runIndex: run } = context.getWorkflowDataProxy(0);
	return `${context.getExecutionId()}/${context.getNode().id}/${String(run)}`;
}

/** Remembers something of an input item for one run, as long as n8n keeps the item itself. */
export class RunMemory<T> {
	private readonly items = new WeakMap<INodeExecutionData, Map<string, T>>();

	get(item: INodeExecutionData, key: string): T | undefined {
		return this.items.get(item)?.get(key);
	}

	set(item: INodeExecutionData, key: string, value: T): void {
		const runs = this.items.get(item) ?? new Map<string, T>();
		this.items.set(item, runs.set(key, value));
	}
}

/** What was done for each item. */
const settledItems = new RunMemory<Settled>();

/**
 * n8n's "Retry On Fail" runs the whole node again on the very same items. What took effect then,
 * or may have, is answered from here and never sent a second time.
 */
export class OnceLedger {
	private readonly key: string;

	constructor(context: IExecuteFunctions) {
		this.key = runKey(context);
	}

	/** Whether an earlier try of this run has settled one of the items. */
	hasSettled(items: INodeExecutionData[]): boolean {
		return items.some((item, index) => settledItems.get(item, this.keyOf(index)) !== undefined);
	}

	async once(
		item: INodeExecutionData,
		index: number,
		act: () => Promise<INodeExecutionData[]>,
	): Promise<INodeExecutionData[]> {
		const key = this.keyOf(index);
		const settled = settledItems.get(item, key);
		if (settled !== undefined) {
			if ('unknown' in settled) throw settled.unknown;
			return settled.output;
		}
		const output = await act().catch((error: unknown) => {
			if (error instanceof OutcomeUnknown) settledItems.set(item, key, { unknown: error });
			throw error;
		});
		settledItems.set(item, key, { output });
		return output;
	}

	/** The same object may stand in the input twice, and each place is one of its own. */
	private keyOf(index: number): string {
		return `${this.key}/${index}`;
	}
}
