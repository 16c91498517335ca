import { type Additions, listDndNumbers } from '../service/endpoints';
import { isSameId } from '../service/envelope';
import { OutcomeUnknown } from '../service/errors';
import { LIMITS } from '../service/limits';
import { MAX_READINGS, type PagedList, pagesByMeta } from '../service/paging';
import { type Explanation, onScreenOnly } from '../service/resolution';
import type { Account } from '../profile/serviceProfile';
import { digitsIn } from '../phone/written';
import type { JsonObject } from '../values/json';
import { asText } from '../values/values';
import type { Limiter } from '../values/keyedMutex';

export type DndListRequest = {
	agentUuid: string;
	/** Digits that an entry's number must contain. */
	phone?: string | undefined;
	/** Infinity for every entry. If omitted, the list is probably one page. */
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
 * @throws InvalidInput if the profile lacks something, before anything is sent
 */
export function dndList(
	{ client, profile }: Account,
	{ agentUuid: agent, phone, limit, additions, limiter }: DndListRequest,
): PagedList<number> {
	// With a limit, the largest useful page.
	const place = profile.place('dnd.list', 'pageSize');
	const isSized = place === 'needed' || (place === 'optional' && limit !== undefined);
	const pageSize = isSized ? Math.min(limit ?? Infinity, LIMITS.dndEntriesPerPage) : undefined;
	const queryFor = (page?: number) =>
		profile.request('dnd.list', { agent, phone, pageSize, page }).query;
	const firstQuery = queryFor();
	return pagesByMeta({
		request: async (page) => {
			const query = page === undefined ? firstQuery : queryFor(page);
			return await listDndNumbers(client, query, additions);
		},
		limiter,
		loopAdvice: profile.ignoredParameter('dnd.list', 'page'),
		check: (entries) => {
			if (entries.every((entry) => isSameId(entry.agent_uuid, agent))) return;
			throw new OutcomeUnknown(
				'The service returned numbers of another agent than the requested one',
				onScreenOnly(profile.ignoredParameter('dnd.list', 'agent')),
			);
		},
	});
}

export function isListShown({ profile }: Account): boolean {
	return profile.part('dnd.list') !== undefined;
}

/**
 * Requires the digits for which the list was searched, because a service ignores a parameter that it doesn't know.
 *
 * @throws OutcomeUnknown if an entry doesn't have them
 */
export function requireContained(
	{ profile }: Account,
	entries: JsonObject[],
	digits: string,
): void {
	const wanted = digitsIn(digits).replace(/^0+/, '');
	if (entries.every(({ phone }) => digitsIn(asText(phone)).includes(wanted))) return;
	throw new OutcomeUnknown(
		"The service returned numbers without the digits in 'Phone Contains'",
		onScreenOnly(profile.ignoredParameter('dnd.list', 'phone')),
	);
}
