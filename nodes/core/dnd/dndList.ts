import { type Additions, listDndNumbers } from '../service/endpoints';
import { isSameId } from '../service/envelope';
import { unusable } from '../service/errors';
import { LIMITS } from '../service/limits';
import { MAX_READINGS, type Page, type PagedList, positionsFrom } from '../service/paging';
import type { Explanation } from '../service/explanation';
import type { Account } from '../profile/serviceProfile';
import { digitsIn } from '../phone/written';
import {
	asRecord,
	isJsonObject,
	type JsonObject,
	type JsonValue,
	numberIn,
	outlineOf,
} from '../values/json';
import { asText, plainText } from '../values/values';
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

const KEEPS_CHANGING: Explanation = {
	message: `Numbers may be missing, because the do-not-disturb list changed in each of ${MAX_READINGS} readings, or has fewer numbers than the service counts`,
	resolution:
		'Try again when fewer numbers are added and removed. No number was treated as not listed.',
};

/**
 * The entries of an agent's list, by the page numbers of the documented `meta`. The document doesn't say whether they count
 * from 0 or 1, so the first response decides.
 *
 * @throws InvalidInput if the profile lacks something, before anything is sent
 */
export function dndList(
	{ client, profile }: Account,
	{ agentUuid: agent, phone, limit, additions, limiter }: DndListRequest,
): PagedList<number> {
	// With a limit, the largest useful page.
	const need = profile.needOf('dnd.list', 'pageSize');
	const isSized = need === 'needed' || (need === 'optional' && limit !== undefined);
	const pageSize = isSized ? Math.min(limit ?? Infinity, LIMITS.dndEntriesPerPage) : undefined;
	const queryFor = (page?: number) =>
		profile.request('dnd.list', { agent, phone, pageSize, page }).query;
	const firstQuery = queryFor();
	const loopAdvice = profile.ignoredParameter('dnd.list', 'page');
	let firstPage: number | undefined;

	const read = async (page?: number): Promise<Page<number>> => {
		const query = page === undefined ? firstQuery : queryFor(page);
		const { body } = await listDndNumbers(client, { query }, additions);
		const meta = isJsonObject(body) && isJsonObject(body.meta) ? body.meta : {};
		const shownPage = numberIn(meta.current_page);
		if (page !== undefined && shownPage !== undefined && shownPage !== page) {
			throw unusable('The service returned another page than requested', loopAdvice);
		}
		const total = numberIn(meta.total_count);
		const entries = entriesIn(body, total);
		if (!entries.every((entry) => isSameId(entry.agent_uuid, agent))) {
			throw unusable(
				'The service returned numbers of another agent than the requested one',
				profile.ignoredParameter('dnd.list', 'agent'),
			);
		}
		if (page === undefined) firstPage = shownPage;
		const pages = numberIn(meta.total_pages);
		const isOnlyPage = pages === undefined ? entries.length === 0 : pages < 2;
		if (isOnlyPage) return { entries, total, next: () => [] };
		if (firstPage === undefined || pages === undefined) return { entries, total, next: unknownEnd };
		const next = (page ?? firstPage) + 1;
		const left = firstPage + pages - next;
		return { entries, total, saysNext: true, next: () => positionsFrom(next, left) };
	};

	const keyOf = ({ id }: JsonObject) => plainText(id) || undefined;
	return { read, keyOf, limiter, loopAdvice, keepsChanging: KEEPS_CHANGING };
}

/**
 * The entries in `data`. Some services write an empty list as null.
 *
 * @throws OutcomeUnknown if it has none
 */
function entriesIn(body: JsonValue, total?: number): JsonObject[] {
	const data = isJsonObject(body) ? body.data : undefined;
	if (Array.isArray(data)) return data.map(asRecord);
	if (data === null && total === 0) return [];
	throw unusable(
		'The response has no list',
		`In n8n, check 'Base URL' in the credential. According to its documentation, the service returns the list in data, and the response has ${outlineOf(body)}.`,
	);
}

function unknownEnd(): never {
	throw unusable(
		"The response doesn't show whether the list has more pages",
		'According to its documentation, the service returns meta with current_page and total_pages. Ask your service provider.',
	);
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
	throw unusable(
		"The service returned numbers without the digits in 'Phone Contains'",
		profile.ignoredParameter('dnd.list', 'phone'),
	);
}
