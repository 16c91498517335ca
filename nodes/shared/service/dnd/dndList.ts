import { listDndNumbers, type Additions } from '../endpoints';
import { OutcomeUnknown } from '../core/explained';
import type { Query } from '../core/http';
import { asText } from '../core/identifiers';
import type { OpenDetails } from '../openDetails';
import { readParts, type Part } from '../core/paging';
import { phoneKey } from './phoneMatch';
import type { Service } from '../core/service';
import { isJsonObject, type JsonObject, type JsonValue } from '../types';

export type DndListRequest = {
	agentUuid: string;
	/** Digits that an entry's number must contain. */
	phone?: string | undefined;
	/** Infinity for every entry. */
	limit: number;
	/** At most 100; the service's own number where it is not set. */
	pageSize?: number | undefined;
	additions?: Additions;
};

const PAGE_NAME = 'dndListPageName';

/**
 * The entries of an agent's list, page by page as `meta` tells.
 *
 * @throws MissingOpenDetail before anything is sent
 */
export async function readDndList(
	service: Service,
	{ agentUuid, phone, limit, pageSize, additions = {} }: DndListRequest,
	details: OpenDetails,
): Promise<JsonObject[]> {
	const query: Query = { [details.required('dndListAgentName')]: agentUuid };
	if (phone !== undefined) query[details.required('dndListPhoneName')] = phone;
	if (pageSize !== undefined) query[details.required('dndListPerPageName')] = pageSize;
	const entries = await readParts<number>(
		async (page) => {
			const position = page === undefined ? {} : { [details.required(PAGE_NAME)]: page };
			const { body } = await listDndNumbers(service, { ...query, ...position }, additions);
			return partOf(body, page);
		},
		limit,
		'Open the credential and check “List: Name of the Page Parameter”: the service seems not to know the parameter.',
	);
	return entries.map((entry) => (isJsonObject(entry) ? entry : { value: entry }));
}

/** Counting on from `current_page` works whichever number the service gives its first page. */
function partOf(body: JsonValue, asked: number | undefined): Part<number> {
	const { data, meta } = isJsonObject(body) ? body : {};
	if (!Array.isArray(data)) {
		throw new OutcomeUnknown(
			'The answer holds no list of numbers',
			'Nothing was changed by this read. Check Base URL in the credential.',
		);
	}
	const { current_page: current, total_pages: pages } = isJsonObject(meta) ? meta : {};
	const here = typeof current === 'number' ? current : (asked ?? 1);
	return typeof pages === 'number' && here < pages
		? { entries: data, next: here + 1 }
		: { entries: data };
}

export type DndCheck = {
	listed: boolean;
	/** The entry of this number. */
	entry: JsonObject | null;
	/** Entries that contain the same digits among others. */
	similar: JsonObject[];
};

/** The filter matches parts of numbers, so the entries found are compared digit by digit. */
export function findEntry(phone: string, entries: JsonObject[]): DndCheck {
	const key = phoneKey(phone);
	const entry = entries.find((candidate) => phoneKey(asText(candidate.phone)) === key) ?? null;
	return {
		listed: entry !== null,
		entry,
		similar: entries.filter((candidate) => candidate !== entry),
	};
}
