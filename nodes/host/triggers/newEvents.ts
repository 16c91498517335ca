import partition from 'lodash/partition';
import type { IExecuteFunctions } from 'n8n-workflow';
import { runExclusive } from '../../core/values/keyedMutex';
import { nodeKey } from '../ledger/openStore';

/** Two texts for each event. n8n reads and writes all of them for each execution. */
const MAX_EVENTS = 5_000;
const OPTIONS = { mode: 'entries', maxEntries: 2 * MAX_EVENTS } as const;

/**
 * Records events in n8n's deduplication store, which n8n writes immediately. Runs in `execute()` of a trigger, as the
 * last step that can fail.
 *
 * A retry passes the events that its own execution has recorded, because a crash may have ended it right after that. It
 * doesn't pass those that another execution has recorded since. So each event is recorded with the start of its
 * execution, which n8n passes on to the retries.
 *
 * @returns the keys that no other execution has recorded. In a test in the editor all of them, and none is recorded.
 */
export async function newEvents(
	context: IExecuteFunctions,
	keys: readonly string[],
): Promise<ReadonlySet<string>> {
	const { helpers } = context;
	const mode = context.getMode();
	if (mode === 'manual' || keys.length === 0) return new Set(keys);
	const startedAt = context.getExecutionContext()?.establishedAt ?? context.getExecutionId();
	const ownText = (key: string) => JSON.stringify([key, startedAt]);
	// n8n writes the whole list, so that two executions at the same time would undo each other's record.
	return await runExclusive(nodeKey(context), async () => {
		const texts = keys.flatMap((key) => [key, ownText(key)]);
		const recorded = await helpers.checkProcessedAndRecord(texts, 'node', OPTIONS);
		const added = new Set(recorded.new);
		const isRetried = (key: string) => mode === 'retry' && !added.has(ownText(key));
		const [passed, ofOthers] = partition(keys, (key) => added.has(key) || isRetried(key));
		// A retry would treat them as its own.
		const undone = ofOthers.map(ownText).filter((text) => added.has(text));
		if (undone.length > 0) await helpers.removeProcessed(undone, 'node', OPTIONS);
		return new Set(passed);
	});
}
