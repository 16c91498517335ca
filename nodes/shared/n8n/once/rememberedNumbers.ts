import type { IExecuteFunctions } from 'n8n-workflow';
import { MAX_REMEMBERED, removeAll, type DeduplicationStore } from '../../deduplicationStore';
import { runExclusive } from '../../keyedMutex';
import { openStore, type StoreUse } from './nodeStore';

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
