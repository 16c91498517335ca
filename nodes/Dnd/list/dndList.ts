import type { ApiClient } from '../../shared/api/client';
import { type Additions, listDndNumbers } from '../../shared/api/endpoints';
import { OutcomeUnknown } from '../../shared/api/errors';
import { isSameId } from '../../shared/api/envelope';
import { LIMITS } from '../../shared/api/limits';
import { MAX_READINGS, positionsFrom, type Page, type PagedList } from '../../shared/api/paging';
import { type Explanation, onScreenOnly } from '../../shared/api/resolution';
import type { ApiMapping } from '../../shared/apiMapping';
import { queryOf } from '../../shared/apiMapping/placeValues';
import {
	asRecord,
	isJsonObject,
	type JsonObject,
	type JsonValue,
	numberIn,
	outlineOf,
} from '../../shared/json';
import type { Limiter } from '../../shared/keyedMutex';

export type DndListRequest = {
	agentUuid: string;
	/** Digits that an entry's number must contain. */
	phone?: string | undefined;
	/** Infinity for every entry. If omitted, the list is probably one page. Only a second one needs the page parameter. */
	limit?: number;
	/** At most 100. By default the largest useful one, if the credential has its parameter and a limit is set. */
	pageSize?: number | undefined;
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
 * The entries of an agent's list, by the page numbers of `meta`. The document doesn't say whether they count from 0 or 1,
 * so the first response decides.
 *
 * @throws InvalidInput if the API mapping lacks a value, before anything is sent
 */
export function dndList(
	client: ApiClient,
	{ agentUuid, phone, limit, pageSize, additions, limiter }: DndListRequest,
	mapping: ApiMapping,
): PagedList<number> {
	const isSized = limit !== undefined && mapping.optional('dndListPerPageName') !== undefined;
	const size = pageSize ?? (isSized ? Math.min(limit, LIMITS.dndEntriesPerPage) : undefined);
	const values = [
		{ detail: 'dndListAgentName' as const, value: agentUuid },
		...(phone === undefined ? [] : [{ detail: 'dndListPhoneName' as const, value: phone }]),
		...(size === undefined ? [] : [{ detail: 'dndListPerPageName' as const, value: size }]),
	];
	mapping.require([
		...(limit === undefined ? [] : (['dndListPageName'] as const)),
		...values.map(({ detail }) => detail),
	]);
	const filters = values.map(({ detail, value }) => ({ name: mapping.required(detail), value }));
	const checkName = (name: 'dndListPageName' | 'dndListAgentName') =>
		`${mapping.resolution(name)} The service probably doesn't know this parameter.`;

	let firstPage = 0;
	/** How much larger the page number is in `meta` than in the request. Known from the second page on. */
	let shift: number | undefined;

	const read = async (page: number | undefined, signal: AbortSignal): Promise<Page<number>> => {
		const selected =
			page === undefined
				? []
				: [{ name: mapping.required('dndListPageName'), value: page - (shift ?? 0) }];
		const query = queryOf([...filters, ...selected]);
		const { body } = await listDndNumbers(client, query, additions, signal);
		const meta = isJsonObject(body) && isJsonObject(body.meta) ? body.meta : {};
		const shownPage = numberIn(meta.current_page);
		if (page !== undefined) {
			const off = (shownPage ?? page) - page;
			if (off > 0 && shift === undefined) {
				// The service may count from 1 in `meta`, but from 0 in the request.
				shift = off;
				return await read(page, signal);
			}
			if (off !== 0) {
				throw new OutcomeUnknown(
					'The service returned another page than requested',
					onScreenOnly(checkName('dndListPageName')),
				);
			}
			shift ??= 0;
		}
		const total = numberIn(meta.total_count);
		const entries = entriesOf(body, total);
		if (!entries.every((entry) => isSameId(entry.agent_uuid, agentUuid))) {
			throw new OutcomeUnknown(
				'The service returned numbers of another agent than the requested one',
				onScreenOnly(checkName('dndListAgentName')),
			);
		}
		const pages = numberIn(meta.total_pages);
		const isOnlyPage = pages === undefined ? entries.length === 0 : pages < 2;
		if (isOnlyPage) return { entries, total, next: () => [] };
		const thisPage = page ?? shownPage;
		if (thisPage === undefined || pages === undefined) return { entries, total, next: unknownEnd };
		if (page === undefined) firstPage = thisPage;
		const left = firstPage + pages - 1 - thisPage;
		const known = shift === undefined ? Math.min(1, left) : left;
		return { entries, total, saysNext: true, next: () => positionsFrom(thisPage + 1, known) };
	};

	return { read, keyOf, limiter, loopAdvice: checkName('dndListPageName') };
}

/** A number that is removed and added again is a new entry. */
function keyOf({ id, phone, created_at: createdAt }: JsonObject): string | undefined {
	return id === undefined ? undefined : JSON.stringify([id, phone, createdAt]);
}

/** Some services write an empty list as null. */
function entriesOf(body: JsonValue, total: number | undefined): JsonObject[] {
	const data = isJsonObject(body) ? body.data : undefined;
	if (Array.isArray(data)) return data.map(asRecord);
	if (data === null && total === 0) return [];
	throw new OutcomeUnknown(
		'The response has no list of numbers',
		onScreenOnly(
			`Check 'Base URL' in the credential. According to its documentation, the service returns the list in data. The response has ${outlineOf(body)}.`,
		),
	);
}

function unknownEnd(): never {
	throw new OutcomeUnknown(
		"The response doesn't show whether the list has more pages",
		onScreenOnly(
			'According to its documentation, the service returns meta with current_page and total_pages. Ask your service provider.',
		),
	);
}
