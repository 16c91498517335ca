import partition from 'lodash/partition';
import type { IExecuteFunctions } from 'n8n-workflow';
import { openStore, type StoreUse } from '../ledger/openStore';

/** Two texts for each event. n8n reads and writes all of them for each execution. */
const MAX_TEXTS = 10_000;

const USE: StoreUse = {
	message: "n8n can't record that this event started the workflow, so it wasn't passed on",
	description:
		"Retry this execution. If that doesn't help, ask your n8n administrator to check n8n's database.",
};

/**
 * Records events in n8n's deduplication store, which n8n writes immediately. Runs in `execute()` of a trigger, as the
 * last step that can fail.
 *
 * A retry passes the events that its own execution has recorded, because a crash may have ended it right after that. It
 * doesn't pass those that another execution has recorded since. So each event is recorded with the start of its
 * execution, which n8n passes on to the retries.
 *
 * @returns the keys that no other execution has recorded. In a test in the editor all of them, and none is recorded.
 * @throws NotSent if n8n's database is unavailable
 */
export async function newEvents(
	context: IExecuteFunctions,
	keys: readonly string[],
): Promise<ReadonlySet<string>> {
	const mode = context.getMode();
	if (mode === 'manual' || keys.length === 0) return new Set(keys);
	const store = openStore(context, 'node', USE);
	const startedAt = context.getExecutionContext()?.establishedAt ?? context.getExecutionId();
	const ownText = (key: string) => JSON.stringify([key, startedAt]);
	const texts = keys.flatMap((key) => [key, ownText(key)]);
	const added = new Set(await store.add(texts, MAX_TEXTS));
	const isRetried = (key: string) => mode === 'retry' && !added.has(ownText(key));
	const [passed, ofOthers] = partition(keys, (key) => added.has(key) || isRetried(key));
	// A retry would treat them as its own.
	await store.remove(ofOthers.map(ownText).filter((text) => added.has(text)));
	return new Set(passed);
}
