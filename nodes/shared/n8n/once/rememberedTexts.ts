import type { DeduplicationScope, IExecuteFunctions } from 'n8n-workflow';
import chunk from 'lodash/chunk';
import { NotSent } from '../../api/errors';
import { onScreenOnly } from '../../api/resolution';
import { type DeduplicationStore, MAX_REMEMBERED } from '../../deduplicationStore';
import { type Limiter, runExclusive } from '../../keyedMutex';
import { stoppedBeforeItem } from '../run/cancel';
import { messageOf } from '../../values';

const OPTIONS = { mode: 'entries' } as const;

/** n8n compares each text to remove with the whole list. This many comparisons take about half a second. */
const MAX_COMPARISONS = 50_000_000;

/** Pauses between attempts to use the store. n8n's database may be locked, or restart. */
export const DATABASE_DELAYS_MS = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000] as const;

/** Identifies a node in all workflows. */
export function nodeKey(context: Pick<IExecuteFunctions, 'getWorkflow' | 'getNode'>): string {
	return JSON.stringify([context.getWorkflow().id, context.getNode().id]);
}

/** The text of the error if n8n's database is unavailable. */
export type StoreUse = { message: string; description: string };

/**
 * The numbers that the nodes of a workflow remember over all executions: texts in n8n's deduplication store of the
 * workflow, so that one node can forget those of the others.
 */
export function openRememberedNumbers(
	context: IExecuteFunctions,
	use: StoreUse,
): DeduplicationStore {
	const key = JSON.stringify(['numbers', context.getWorkflow().id]);
	return openStore(context, 'workflow', use, async (run) => await runExclusive(key, run));
}

/**
 * n8n's deduplication store: one JSON list of fingerprints in n8n's database. n8n reads and writes the list as a whole, so
 * only one user of a process may work with it at a time.
 *
 * @param scope whose store: of this node, or of its workflow
 * @param limiter waits for other users of the store in this process
 */
export function openStore(
	{ helpers }: IExecuteFunctions,
	scope: DeduplicationScope,
	{ message, description }: StoreUse,
	limiter: Limiter,
): DeduplicationStore {
	const access: Limiter = async (run) =>
		await limiter(run).catch((error: unknown) => {
			throw new NotSent(message, onScreenOnly(description), {
				originalMessage: messageOf(error),
				isTransient: false,
				origin: 'n8n',
			});
		});
	const count = async () => await helpers.getProcessedDataCount(scope, OPTIONS);
	return {
		add: async (texts, maxEntries = MAX_REMEMBERED) => {
			const options = { ...OPTIONS, maxEntries };
			return await access(async () => {
				const { new: added } = await helpers.checkProcessedAndRecord(texts, scope, options);
				return added.map(String);
			});
		},
		// In parts, so that the process can do other work in between.
		remove: async (texts) =>
			await access(async () => {
				if (texts.length === 0) return;
				const size = Math.max(1, Math.floor(MAX_COMPARISONS / Math.max(1, await count())));
				for (const part of chunk(texts, size)) await helpers.removeProcessed(part, scope, OPTIONS);
			}),
		clear: async () =>
			await access(async () => await helpers.clearAllProcessedItems(scope, OPTIONS)),
		count: async () => await access(count),
	};
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
