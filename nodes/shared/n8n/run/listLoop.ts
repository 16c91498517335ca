import once from 'lodash/once';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';
import type { JsonObject } from '../../json';
import type { Limiter } from '../../keyedMutex';
import { asItems, forEachItem, readEachItem } from './itemLoop';

/** The list of an item. Items with the same key have the same list. */
export type ListPlan = { key: unknown; read: (limiter: Limiter) => Promise<JsonObject[]> };

/**
 * Reads a list for each item, with at most `concurrency` requests in flight. Items with the same list share one
 * reading. Its entries are returned once, paired with all these items.
 */
export async function forEachList(
	context: IExecuteFunctions,
	plan: (index: number) => Promise<ListPlan>,
	concurrency: number,
): Promise<INodeExecutionData[]> {
	const limiter = pLimit(concurrency);
	const lists = new Map<string, { read: () => Promise<JsonObject[]>; items: number[] }>();
	const planned = async (index: number) => {
		const { key, read } = await plan(index);
		const name = JSON.stringify(key);
		const list = lists.get(name) ?? { read: once(async () => await read(limiter)), items: [] };
		lists.set(name, list);
		list.items.push(index);
		return async () => {
			// A failure fails every item with this list.
			const entries = await list.read();
			if (list.items[0] !== index) return [];
			const pairedItem = list.items.map((item) => ({ item }));
			return asItems(entries).map((entry) => ({ ...entry, pairedItem }));
		};
	};
	// All items are planned before the first list is read, so that each list knows its items.
	const reads = await readEachItem(context, async (index) => {
		const failing = (error: unknown) => async (): Promise<never> => {
			throw error;
		};
		return await planned(index).catch(failing);
	});
	return await forEachItem(context, async (index) => (await reads[index]?.()) ?? [], {
		concurrency,
	});
}
