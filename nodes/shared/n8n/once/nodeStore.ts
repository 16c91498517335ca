import type { DeduplicationScope, IExecuteFunctions } from 'n8n-workflow';
import { NotSent } from '../../api/errors';
import { onScreenOnly } from '../../api/resolution';
import type { DeduplicationStore } from '../../deduplicationStore';
import { runExclusive } from '../../keyedMutex';
import { stoppedBeforeItem } from '../run/cancel';
import { messageOf } from '../../values';

const OPTIONS = { mode: 'entries' } as const;

/** Pauses between attempts to use the store. n8n's database may be locked, or restart. */
export const DATABASE_DELAYS_MS = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000] as const;

/** The text of the error if n8n's database is unavailable. */
export type StoreUse = { message: string; description: string };

/**
 * n8n's deduplication store of this node: one JSON list of fingerprints in n8n's database. n8n reads and writes the
 * list as a whole, so only one user of a process may work with it at a time ({@link runExclusiveOnStore}).
 */
export function openNodeStore(context: IExecuteFunctions, use: StoreUse): DeduplicationStore {
	return openStore(context, 'node', use);
}

/** @param scope whose store: of this node, or of its workflow */
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

export function unreachable({ message, description }: StoreUse, error: unknown): NotSent {
	if (error instanceof NotSent) return error;
	const cause = messageOf(error);
	return new NotSent(message, onScreenOnly(description), cause, false, 'n8n');
}

/** Identifies the node, and its store, in this n8n instance. */
export function nodeKeyOf(context: IExecuteFunctions): string {
	return JSON.stringify([context.getWorkflow().id, context.getNode().id]);
}

/** Waits for other users of this node's store in this process. */
export async function runExclusiveOnStore<T>(
	context: IExecuteFunctions,
	run: () => Promise<T>,
): Promise<T> {
	return await runExclusive(nodeKeyOf(context), run);
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
