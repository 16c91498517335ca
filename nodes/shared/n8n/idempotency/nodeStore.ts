import type { IExecuteFunctions } from 'n8n-workflow';
import { NotSent } from '../../api/errors';
import { onScreenOnly } from '../../api/modelAdvice';
import type { DeduplicationStore } from '../../deduplicationStore';
import { runExclusive } from '../../keyedMutex';

const SCOPE = 'node';
const OPTIONS = { mode: 'entries' } as const;

/** What the store is used for, as the error about an unreachable one says it. */
export type StoreUse = { message: string; description: string };

/**
 * n8n's deduplication store of this node: one JSON list of fingerprints in n8n's database. n8n reads and writes the
 * list as a whole, so only one user of a process may work with it at a time ({@link runExclusiveOnStore}).
 */
export function openNodeStore({ helpers }: IExecuteFunctions, use: StoreUse): DeduplicationStore {
	const reached = async <T>(result: Promise<T>): Promise<T> =>
		await result.catch((error: unknown) => {
			throw unreachable(use, error);
		});
	return {
		add: async (texts, maxEntries) => {
			const options = { ...OPTIONS, ...(maxEntries !== undefined && { maxEntries }) };
			const { new: added } = await reached(helpers.checkProcessedAndRecord(texts, SCOPE, options));
			return added.map(String);
		},
		remove: async (texts) => await reached(helpers.removeProcessed(texts, SCOPE, OPTIONS)),
		clear: async () => await reached(helpers.clearAllProcessedItems(SCOPE, OPTIONS)),
		count: async () => await reached(helpers.getProcessedDataCount(SCOPE, OPTIONS)),
	};
}

function unreachable({ message, description }: StoreUse, error: unknown): NotSent {
	const said = error instanceof Error ? error.message : String(error);
	return new NotSent(message, onScreenOnly(description), said, false, 'n8n');
}

/** Names the node among all workflows, and with it its store. */
export function nodeKeyOf(context: IExecuteFunctions): string {
	return JSON.stringify([context.getWorkflow().id, context.getNode().id]);
}

/** Runs after whatever else uses the store of this node in this process. */
export async function runExclusiveOnStore<T>(
	context: IExecuteFunctions,
	run: () => Promise<T>,
): Promise<T> {
	return await runExclusive(nodeKeyOf(context), run);
}
