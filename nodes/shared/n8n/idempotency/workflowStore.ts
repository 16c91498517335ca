import type { IExecuteFunctions } from 'n8n-workflow';
import { NotSent } from '../../api/errors';
import { onScreenOnly } from '../../api/resolution';
import type { DeduplicationStore } from '../../deduplicationStore';
import { runExclusive } from '../../keyedMutex';
import { createList, type ListOwner, listName } from '../../numberLists/numberLists';
import { openStore, type StoreUse } from './nodeStore';
import { withWorkflowLock } from './workflowLock';

/** By workflow: throws if the lock of this process has ended. */
const locks = new Map<string | undefined, () => void>();

/**
 * n8n's deduplication store of this workflow, which all of its nodes share. It has the numbers that nodes remember over
 * all executions, so that one node can forget those of the others. Only one user may work with it at a time, in all
 * processes of n8n ({@link runExclusiveOnWorkflow}).
 */
export function openWorkflowStore(context: IExecuteFunctions, use: StoreUse): DeduplicationStore {
	const { id } = context.getWorkflow();
	return openStore(context, 'workflow', use, () => locks.get(id)?.());
}

/**
 * Waits for other users of this workflow's store, in all processes of n8n.
 *
 * @throws NotSent if they take too long, or n8n's database is unavailable
 */
export async function runExclusiveOnWorkflow<T>(
	context: IExecuteFunctions,
	use: StoreUse,
	run: () => Promise<T>,
): Promise<T> {
	const { id } = context.getWorkflow();
	const withLock = async () =>
		await withWorkflowLock(context, use, async (requireLock) => {
			locks.set(id, requireLock);
			return await run().finally(() => locks.delete(id));
		});
	return await runExclusive(JSON.stringify(['numbers', id]), withLock);
}

/** Waits for other pushes of this workflow in this process that remember their numbers. */
export async function runExclusivePush<T>(
	context: IExecuteFunctions,
	run: () => Promise<T>,
): Promise<T> {
	return await runExclusive(JSON.stringify(['pushes', context.getWorkflow().id]), run);
}

/** The same store. Each access waits for other users. */
export function withExclusiveAccess(
	context: IExecuteFunctions,
	use: StoreUse,
	store: DeduplicationStore,
): DeduplicationStore {
	const exclusive = async <T>(run: () => Promise<T>) =>
		await runExclusiveOnWorkflow(context, use, run);
	return {
		add: async (texts, maxEntries) =>
			await exclusive(async () => await store.add(texts, maxEntries)),
		remove: async (texts) => await exclusive(async () => await store.remove(texts)),
		clear: async () => await exclusive(async () => await store.clear()),
		count: async () => await exclusive(async () => await store.count()),
	};
}

/**
 * Creates this node's list of numbers unless it exists.
 *
 * @returns its name, and how many texts the store contains
 * @throws NotSent if the store isn't usable
 */
export async function openNumberList(
	store: DeduplicationStore,
	owner: ListOwner,
): Promise<{ name: string; texts: number }> {
	if (!(await createList(store, owner))) throw storeChanged();
	return { name: listName(owner), texts: await store.count() };
}

function storeChanged(): NotSent {
	return new NotSent(
		'Another node has changed the numbers that n8n remembers for this workflow, so nothing was sent',
		onScreenOnly(
			"Set 'Scope' of each Remove Duplicates node in this workflow to 'Node'. Then execute DND List > Forget once, with 'All Numbers'.",
		),
		undefined,
		false,
		'n8n',
	);
}
