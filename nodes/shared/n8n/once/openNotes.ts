import sumBy from 'lodash/sumBy';
import type { IExecuteFunctions } from 'n8n-workflow';
import { BoundedMap } from '../../boundedMap';
import { pause } from '../../clock';
import { noLimit, runExclusive } from '../../keyedMutex';
import { clock } from '../http/accountClient';
import { cancelSignal, isCanceled } from '../run/cancel';
import { originOf } from './executionOrigin';
import { AttemptState, Notes } from './notes';
import { nodeKey, openStore, type StoreUse } from './rememberedTexts';

const USE: StoreUse = {
	message: "n8n can't record the request before sending it, so it wasn't sent",
	description:
		"Try again. If that doesn't help, ask your n8n administrator to check n8n's database.",
};

/** Attempts in this process. Without the state of an older one, its notes stay in n8n's database. */
const MAX_ATTEMPTS = 1_000;

/** A sub-execution shares the state of its parent, because a retry of the parent runs all of them again. */
const attempts = new BoundedMap<{ node: string; state: AttemptState }>(MAX_ATTEMPTS);

/**
 * Undefined if the execution can't be retried: MCP clients, and n8n before 2.20.
 *
 * @throws NotSent if n8n can't read the parent execution
 */
export async function openNotes(context: IExecuteFunctions): Promise<Notes | undefined> {
	const origin = await originOf(context);
	if (origin === undefined) return undefined;
	const node = nodeKey(context);
	const key = JSON.stringify([node, origin.executionId]);
	const isFirstAttempt = !origin.isSubExecution && context.getMode() !== 'retry';
	const state = attempts.get(key)?.state ?? new AttemptState();
	attempts.set(key, { node, state });
	const notes = new Notes(
		{
			store: openStore(context, 'node', USE, noLimit),
			origin,
			isFirstAttempt,
			exclusive: async (run) => await runExclusive(node, run),
			running: () => sumBy(attempts.all(), (one) => (one.node === node ? one.state.uses.size : 0)),
			pause: async (ms) => await pause(clock, ms, cancelSignal(context)),
		},
		state,
	);
	// n8n stores an execution before it calls this. It stores a stopped execution without the records of its nodes.
	context.onExecutionFinish?.(async () => {
		if (!origin.isSubExecution) attempts.delete(key);
		if (isFirstAttempt && !isCanceled(context)) await notes.clear();
	});
	return notes;
}

/**
 * Call this before n8n stores an execution that waits.
 *
 * @returns removes the notes, to be called when n8n has stored the execution with its records. Never throws: notes that
 * stay only take space.
 */
export async function notesOfWaiting(context: IExecuteFunctions): Promise<() => Promise<void>> {
	const notes = await openNotes(context).catch(() => undefined);
	const own = notes?.own();
	return async () => await notes?.clear(own).catch(() => undefined);
}
