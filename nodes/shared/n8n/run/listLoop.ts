import once from 'lodash/once';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';
import type { JsonObject } from '../../json';
import type { Limiter } from '../../keyedMutex';
import { asItems, forEachItem, readEachItem } from './itemLoop';

/** The list of an item. Items with the same key have the same list. */
export type ListPlan = { key: unknown; read: (limiter: Limiter) => Promise<JsonObject[]> };

/** A list that is read once for all its items. */
type SharedList = { read: () => Promise<JsonObject[]>; items: Array<{ item: number }> };

/**
 * Reads a list for each item, with at most `concurrency` requests in flight. Items with the same list share one
 * reading. Its entries are returned once, paired with all these items.
 */
export async function forEachList(
	context: IExecuteFunctions,
	plan: (index: number) => Promise<ListPlan>,
	concurrency: number,
): Promise<INodeExecutionData[]> {
	const plans = await readEachItem(
		context,
		async (index) => await plan(index).catch((failure: unknown) => ({ failure })),
	);
	const lists = new Map<string, SharedList>();
	const limiter = pLimit(concurrency);
	const reads = plans.map((planned, item) => {
		if ('failure' in planned) {
			return async (): Promise<never> => {
				throw planned.failure;
			};
		}
		const name = JSON.stringify(planned.key);
		const list = lists.get(name) ?? {
			read: once(async () => await planned.read(limiter)),
			items: [],
		};
		lists.set(name, list);
		const isFirst = list.items.length === 0;
		list.items.push({ item });
		return async () => {
			// A failure fails every item with this list.
			const entries = await list.read();
			if (!isFirst) return [];
			return asItems(entries).map((entry) => ({ ...entry, pairedItem: list.items }));
		};
	});
	return await forEachItem(context, async (index) => (await reads[index]?.()) ?? [], {
		concurrency,
	});
}
