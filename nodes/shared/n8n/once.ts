import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { OutcomeUnknown } from '../service/explained';

type Settled = { output: INodeExecutionData[] } | { unknown: OutcomeUnknown };

/** What was done for an input item, kept as long as n8n keeps the item itself. */
const settledItems = new WeakMap<INodeExecutionData, Map<string, Settled>>();

/**
 * n8n's "Retry On Fail" runs the whole node again on the very same items. What took effect then,
 * or may have, is answered from here and never sent a second time.
 */
export class OnceLedger {
	private readonly key: string;

	constructor(context: IExecuteFunctions) {
		const { $runIndex: run } = context.getWorkflowDataProxy(0);
		this.key = `${context.getExecutionId()}/${context.getNode().id}/${String(run)}`;
	}

	async once(
		item: INodeExecutionData,
		act: () => Promise<INodeExecutionData[]>,
	): Promise<INodeExecutionData[]> {
		const settled = settledItems.get(item)?.get(this.key);
		if (settled !== undefined) {
			if ('unknown' in settled) throw settled.unknown;
			return settled.output;
		}
		try {
			const output = await act();
			this.keep(item, { output });
			return output;
		} catch (error) {
			if (error instanceof OutcomeUnknown) this.keep(item, { unknown: error });
			throw error;
		}
	}

	private keep(item: INodeExecutionData, settled: Settled): void {
		const runs = settledItems.get(item) ?? new Map<string, Settled>();
		settledItems.set(item, runs.set(this.key, settled));
	}
}
