import type { JsonObject } from '../json';
import { plainText } from '../values';

export const FILTER_FIELDS = ['status', 'agent_uuid', 'campaign_id'] as const;

/** Values of the calls that start the workflow. An empty list accepts all. */
export type CompletionFilters = Record<(typeof FILTER_FIELDS)[number], string[]>;

export function isWanted(record: JsonObject, filters: CompletionFilters): boolean {
	return Object.entries(filters).every(([field, wanted]) => {
		if (wanted.length === 0) return true;
		return [record[field]].flat().some((one) => wanted.includes(plainText(one)));
	});
}
