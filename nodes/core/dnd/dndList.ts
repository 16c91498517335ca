import type { ApiClient } from '../service/client';
import { type Additions, listDndNumbers } from '../service/endpoints';
import { isSameId } from '../service/envelope';
import { OutcomeUnknown } from '../service/errors';
import { LIMITS } from '../service/limits';
import { MAX_READINGS, type PagedList, pagesByMeta } from '../service/paging';
import { type Explanation, onScreenOnly } from '../service/resolution';
import type { ApiMapping, MappingName } from '../profile/apiMapping';
import { queryOf } from '../profile/placeValues';
import type { Limiter } from '../values/keyedMutex';

export type DndListRequest = {
	agentUuid: string;
	/** Digits that an entry's number must contain. */
	phone?: string | undefined;
	/** Infinity for every entry. If omitted, the list is probably one page. Only a second one needs the page parameter. */
	limit?: number;
	additions?: Additions;
	limiter?: Limiter;
};

/** The error if a decision is about numbers that aren't on the list, and the list keeps changing. */
export const DND_LIST_KEEPS_CHANGING: Explanation = {
	message: `Numbers may be missing, because the do-not-disturb list changed in each of ${MAX_READINGS} readings, or has fewer numbers than the service counts`,
	resolution: {
		onScreen:
			'Execute the node again when fewer numbers are added and removed. No number was treated as not listed.',
		forModel: 'Try again later. No number was treated as not listed.',
	},
};

/**
 * The entries of an agent's list.
 *
 * @throws InvalidInput if the API mapping lacks a value, before anything is sent
 */
export function dndList(
	client: ApiClient,
	{ agentUuid, phone, limit, additions, limiter }: DndListRequest,
	mapping: ApiMapping,
): PagedList<number> {
	// With a limit, the largest useful page.
	const isSized = limit !== undefined && mapping.optional('dndListPerPageName') !== undefined;
	const size = isSized ? Math.min(limit, LIMITS.dndEntriesPerPage) : undefined;
	const values: Array<{ detail: MappingName; value: string | number }> = [
		{ detail: 'dndListAgentName', value: agentUuid },
		...(phone === undefined ? [] : [{ detail: 'dndListPhoneName' as const, value: phone }]),
		...(size === undefined ? [] : [{ detail: 'dndListPerPageName' as const, value: size }]),
	];
	const pageName = 'dndListPageName';
	mapping.require([
		...(limit === undefined ? [] : ([pageName] as const)),
		...values.map(({ detail }) => detail),
	]);
	const query = queryOf(
		values.map(({ detail, value }) => ({ name: mapping.required(detail), value })),
	);
	return pagesByMeta({
		request: async (page) => {
			const selected = page === undefined ? {} : { [mapping.required(pageName)]: page };
			return await listDndNumbers(client, { ...query, ...selected }, additions);
		},
		limiter,
		loopAdvice: mapping.ignoredParameter(pageName),
		check: (entries) => {
			if (entries.every((entry) => isSameId(entry.agent_uuid, agentUuid))) return;
			throw new OutcomeUnknown(
				'The service returned numbers of another agent than the requested one',
				onScreenOnly(mapping.ignoredParameter('dndListAgentName')),
			);
		},
	});
}
