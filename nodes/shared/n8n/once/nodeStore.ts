import type { DeduplicationScope, IExecuteFunctions } from 'n8n-workflow';
import { NotSent } from '../../api/errors';
import { onScreenOnly } from '../../api/resolution';
import { MAX_REMEMBERED, removeAll, type DeduplicationStore } from '../../deduplicationStore';
import { runExclusive } from '../../keyedMutex';
import { stoppedBeforeItem } from '../run/cancel';
import { messageOf } from '../../values';

const OPTIONS = { mode: 'entries' } as const;

/** Pauses between attempts to use the store. n8n's database may be locked, or restart. */
export const DATABASE_DELAYS_MS = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000] as const;

/** The text of the error if n8n's database is unavailable. */
export type StoreUse = { message: string; description: string };

/**
 * The numbers that the nodes of a workflow remember over all executions: texts in n8n's deduplication store of the
 * workflow, so that one node can forget those of the others. In one process, only one user works with it at a time.
 */
export function openRememberedNumbers(
	context: IExecuteFunctions,
	use: StoreUse,
): DeduplicationStore {
	const store = openStore(context, 'workflow', use);
	const key = JSON.stringify(['numbers', context.getWorkflow().id]);
	const exclusive = async <T>(run: () => Promise<T>) => await runExclusive(key, run);
	return {
		add: async (texts) => await exclusive(async () => await store.add(texts, MAX_REMEMBERED)),
		remove: async (texts) => await exclusive(async () => await removeAll(store, texts)),
		clear: async () => await exclusive(async () => await store.clear()),
		count: async () => await exclusive(async () => await store.count()),
	};
}

/**
 * n8n's deduplication store: one JSON list of fingerprints in n8n's database. n8n reads and writes the list as a whole, so
 * only one user of a process may work with it at a time.
 *
 * @param scope whose store: of this node, or of its workflow
 */
export function openStore(
	{ helpers }: IExecuteFunctions,
	scope: DeduplicationScope,
	use: StoreUse,
): DeduplicationStore {
	const reached = async <T>(access: () => Promise<T>): Promise<T> => {
		try {
			return await access();
		} catch (error) {
			throw unreachable(use, error);
		}
	};
	return {
		add: async (texts, maxEntries) => {
			const options = { ...OPTIONS, ...(maxEntries !== undefined && { maxEntries }) };
			const { new: added } = await reached(
				async () => await helpers.checkProcessedAndRecord(texts, scope, options),
			);
			return added.map(String);
		},
		remove: async (texts) =>
			await reached(async () => await helpers.removeProcessed(texts, scope, OPTIONS)),
		clear: async () =>
			await reached(async () => await helpers.clearAllProcessedItems(scope, OPTIONS)),
		count: async () =>
			await reached(async () => await helpers.getProcessedDataCount(scope, OPTIONS)),
	};
}

function unreachable({ message, description }: StoreUse, error: unknown): NotSent {
	return new NotSent(message, onScreenOnly(description), messageOf(error), false, 'n8n');
}

/**
 * Repeats a use of the store that fails. n8n may have done it, although it reported an error.
 *
 * @param pause resolves with false if the execution is stopped. If omitted, there is one attempt.
 */
export async function repeatOnStore<T>(
	use: () => Promise<T>,
	pause?: (milliseconds: number) => Promise<boolean>,
): Promise<T> {
	for (const delay of pause === undefined ? [] : DATABASE_DELAYS_MS) {
		try {
			return await use();
		} catch {
			if ((await pause?.(delay)) === false) throw stoppedBeforeItem();
		}
	}
	return await use();
}
