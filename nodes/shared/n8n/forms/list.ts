import once from 'lodash/once';
import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';
import pLimit from 'p-limit';
import { parseCount } from '../../api/parseIds';
import type { Limiter } from '../../keyedMutex';
import type { JsonObject } from '../../json';
import type { Fields } from './fields';
import { asItems, forEachItem, readEachItem } from '../run/itemLoop';

export const limitFields: INodeProperties[] = [
	{
		displayName: 'Return All',
		name: 'returnAll',
		type: 'boolean',
		default: false,
		description: 'Whether to return all results or only up to a given limit',
	},
	{
		displayName: 'Limit',
		name: 'limit',
		type: 'number',
		typeOptions: { minValue: 1, numberPrecision: 0 },
		default: 50,
		description: 'Max number of results to return',
		displayOptions: { show: { returnAll: [false] } },
	},
];

/** For lists whose missing entries could cause a wrong decision. */
export function requireCompleteField(entry: string): INodeProperties {
	return {
		displayName: 'Require Complete List',
		name: 'requireComplete',
		type: 'boolean',
		default: true,
		description: `Whether to stop if any ${entry} may be missing from the list, for example before you decide who to call. A list with several pages is read at least twice.`,
	};
}

/** A hint in the editor, if a list that was read without that option changed or is too short. */
export function listChangedHint(entries: string): string {
	return `The list changed while it was read, or has fewer ${entries} than the service counts, so ${entries} may be missing or repeated. To stop the workflow instead, turn on 'Require Complete List' in 'Options'.`;
}

/** Infinity for all results. */
export function readLimit(form: Fields): number {
	if (form.switch('returnAll', false)) return Infinity;
	const resolution = {
		onScreen: "Enter a whole number of at least 1. To return all results, turn on 'Return All'.",
		forModel: 'Send a whole number of at least 1.',
	};
	return parseCount(form.number('limit', undefined), 'Limit', resolution);
}

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
