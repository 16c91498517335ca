import type { DeduplicationScope } from 'n8n-workflow';
import chunk from 'lodash/chunk';
import { NotSent } from '../../core/service/errors';
import { onScreenOnly } from '../../core/service/resolution';
import { pause } from '../../core/values/clock';
import { type DeduplicationStore, findByAdding, MAX_REMEMBERED } from '../../core/ledger/store';
import { type Limiter, runExclusive } from '../../core/values/keyedMutex';
import { clock } from '../clock';
import type { CallerRun } from '../caller/caller';
import { cancelSignal } from '../execution/cancel';
import { messageOf } from '../../core/values/values';

const OPTIONS = { mode: 'entries' } as const;

/** n8n compares each text to remove with the whole list. This many comparisons take about half a second. */
const MAX_COMPARISONS = 50_000_000;

/** These are removed together from any list. */
const FEW_TEXTS = MAX_COMPARISONS / MAX_REMEMBERED;

/** Pauses between attempts to use the store. n8n's database may be locked, or restart. */
export const DATABASE_DELAYS_MS = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000] as const;

/** The text of the error if n8n's database is unavailable. */
export type StoreUse = { message: string; description: string };

/** @throws NotSent if n8n's database is unavailable */
export async function useDatabase<T>(
	{ message, description }: StoreUse,
	run: () => Promise<T>,
): Promise<T> {
	return await run().catch((error: unknown) => {
		throw new NotSent(message, onScreenOnly(description), {
			originalMessage: messageOf(error),
			isTransient: false,
			origin: 'n8n',
		});
	});
}

/**
 * n8n's deduplication store: one JSON list of fingerprints in n8n's database. n8n reads and writes the list as a whole, so
 * only one user of a process may work with it at a time.
 *
 * @param scope `node`: its notes. `workflow`: the numbers that its nodes remember over all executions, so that one can forget
 * those of the others
 */
export function openStore(
	run: CallerRun,
	scope: DeduplicationScope,
	use: StoreUse,
): DeduplicationStore {
	const { context } = run;
	const { helpers } = context;
	const key = `remembered texts of ${context.getWorkflow().id}`;
	const access: Limiter = async (action) =>
		await useDatabase(use, async () => await runExclusive(key, action));
	const count = async () => await helpers.getProcessedDataCount(scope, OPTIONS);
	// In parts, so that the process can do other work in between.
	const remove = async (texts: string[]) => {
		if (texts.length === 0) return;
		// To count it, n8n reads the whole list.
		const length = texts.length > FEW_TEXTS ? await count() : MAX_REMEMBERED;
		const size = Math.max(1, Math.floor(MAX_COMPARISONS / Math.max(1, length)));
		for (const part of chunk(texts, size)) await helpers.removeProcessed(part, scope, OPTIONS);
	};
	const add = async (texts: string[], maxEntries?: number) => {
		const options = { ...OPTIONS, ...(maxEntries !== undefined && { maxEntries }) };
		const { new: added } = await helpers.checkProcessedAndRecord(texts, scope, options);
		return added.map(String);
	};
	// Without a maximum, so that n8n drops no other text.
	const lookUp = {
		add,
		remove: async (texts: string[]) => await repeatOnStore(run)(async () => await remove(texts)),
	};
	return {
		add: async (texts, maxEntries = MAX_REMEMBERED) =>
			await access(async () => await add(texts, maxEntries)),
		find: async (texts, sign) => await access(async () => await findByAdding(lookUp, texts, sign)),
		remove: async (texts) => await access(async () => await remove(texts)),
		clear: async () =>
			await access(async () => await helpers.clearAllProcessedItems(scope, OPTIONS)),
		count: async () => await access(count),
	};
}

/** Repeats an access to the store that fails, until the execution is stopped. n8n may have done it, although it reported an error. */
export function repeatOnStore(run: CallerRun): Limiter {
	const signal = cancelSignal(run);
	return async (access) => {
		let result = access();
		for (const delay of DATABASE_DELAYS_MS) {
			const hasFailed = await result.then(
				() => false,
				() => true,
			);
			if (!hasFailed || !(await pause(clock, delay, signal))) break;
			result = access();
		}
		return await result;
	};
}
