import type { DeduplicationScope } from 'n8n-workflow';
import chunk from 'lodash/chunk';
import { NotSent } from '../../core/service/errors';
import { pause } from '../../core/values/clock';
import { MAX_REMEMBERED, type TextList } from '../../core/claims/claims';
import { type Limiter, runExclusive } from '../../core/values/keyedMutex';
import { clock } from '../clock';
import type { CallerRun } from '../caller/caller';
import { cancelSignal } from '../execution/cancel';
import { messageOf } from '../../core/values/values';

const OPTIONS = { mode: 'entries' } as const;

/**
 * To remove a text, n8n compares it with those before it, and moves those after it. This many comparisons take less than 0.2
 * seconds.
 */
const MAX_COMPARISONS = 20_000_000;

/** Moving this many texts takes as long as a comparison. */
const MOVES_PER_COMPARISON = 20;

/** These are removed together from any list. */
const FEW_TEXTS = MAX_COMPARISONS / MAX_REMEMBERED;

/** Pauses between attempts to use a list. n8n's database may be locked, or restart. */
export const DATABASE_DELAYS_MS = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000] as const;

/** The text of the error if n8n's database is unavailable. */
export type StoreUse = { message: string; description: string };

/** @throws NotSent if n8n's database is unavailable */
export async function useDatabase<T>(
	{ message, description }: StoreUse,
	run: () => Promise<T>,
): Promise<T> {
	return await run().catch((error: unknown) => {
		throw new NotSent(message, description, {
			originalMessage: messageOf(error),
			isTransient: false,
			origin: 'n8n',
		});
	});
}

/**
 * n8n's deduplication store. n8n reads and writes the list as a whole, so only one user of a process may work with it at a
 * time.
 *
 * @param scope `node`: what is claimed for its executions. `workflow`: what its nodes claim over all executions, so that one can
 * forget what the others claimed
 */
export function openTextList(
	{ context }: CallerRun,
	scope: DeduplicationScope,
	use: StoreUse,
): TextList {
	const { helpers } = context;
	const key = `remembered texts of ${context.getWorkflow().id}`;
	const access: Limiter = async (action) =>
		await useDatabase(use, async () => await runExclusive(key, action));
	const count = async () => await helpers.getProcessedDataCount(scope, OPTIONS);
	const clear = async () => await helpers.clearAllProcessedItems(scope, OPTIONS);
	const remove = async (texts: string[], areAdded: boolean) => {
		// To count it, n8n reads the whole list.
		const length = texts.length > FEW_TEXTS ? await count() : MAX_REMEMBERED;
		if (areAdded && length === texts.length) {
			await clear();
			return;
		}
		// In order, the texts before one are those that stay. In parts, so that the process can do other work in between.
		const comparisons = Math.max(1, length - texts.length + length / MOVES_PER_COMPARISON);
		const size = Math.max(FEW_TEXTS, Math.floor(MAX_COMPARISONS / comparisons));
		for (const part of chunk(texts, size)) await helpers.removeProcessed(part, scope, OPTIONS);
	};
	return {
		add: async (texts, maxEntries = MAX_REMEMBERED) =>
			await access(async () => {
				const options = { ...OPTIONS, maxEntries };
				const { new: added } = await helpers.checkProcessedAndRecord(texts, scope, options);
				return added.map(String);
			}),
		remove: async (texts, areAdded = false) =>
			await access(async () => await remove(texts, areAdded)),
		clear: async () => await access(clear),
		count: async () => await access(count),
	};
}

/** Repeats an access to a list that fails, until the execution is stopped. n8n may have done it, although it reported an error. */
export function repeatOnList(run: CallerRun): Limiter {
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
