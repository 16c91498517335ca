import { listCalls, type Additions } from '../endpoints';
import { OutcomeUnknown } from '../core/explained';
import type { Query } from '../core/http';
import { listPlaces, valueAt } from '../core/jsonPath';
import type { OpenDetails } from '../openDetails';
import { readParts, type Part } from '../core/paging';
import type { Service } from '../core/service';
import { isJsonObject, type JsonObject, type JsonValue } from '../types';

export type CallListRequest = {
	query: Query;
	/** Infinity for every call. */
	limit: number;
	/** Calls asked for at once; the service's own number where it is not set. */
	pageSize?: number | undefined;
	additions?: Additions;
};

/** How a service gives its call list, as the credential says. */
type CallListForm = {
	path: string;
	itemPath: string | undefined;
	totalPath: string | undefined;
	paging: string;
	/** Parameter that chooses the part; none where the list comes at once. */
	positionName: string;
	cursorPath: string;
};

/**
 * The calls that the filters find. Without the list's place in the answer, which is open, the
 * answer comes as it is.
 *
 * @throws MissingOpenDetail before anything is sent
 */
export async function readCalls(
	service: Service,
	{ query, limit, pageSize, additions = {} }: CallListRequest,
	details: OpenDetails,
): Promise<JsonObject[]> {
	const sized =
		pageSize === undefined ? {} : { [details.required('callListPageSizeName')]: pageSize };
	const read = async (position: Query = {}) => {
		const answer = await listCalls(service, { ...query, ...sized, ...position }, additions);
		return answer.body;
	};
	const complete = limit === Infinity;
	if (!complete && details.optional('callListPath') === undefined) return [asRecord(await read())];

	const form = readForm(details);
	const entries = await readParts<Query>(
		async (position, found) => partOf(await read(position), form, position, found),
		limit,
		'Open the credential and check “Way of Paging” and “Name of the Page, Position or Cursor Parameter”: the service seems not to know the parameter.',
	);
	return entries.map((entry) => asRecord(callIn(entry, form.itemPath)));
}

function readForm(details: OpenDetails): CallListForm {
	const path = details.required('callListPath');
	const paging = details.required('callListPaging');
	return {
		path,
		itemPath: details.optional('callListItemPath'),
		totalPath: details.optional('callListTotalPath'),
		paging,
		positionName: paging === 'whole' ? '' : details.required('callListPageName'),
		cursorPath: paging === 'cursor' ? details.required('callListCursorPath') : '',
	};
}

function partOf(
	body: JsonValue,
	form: CallListForm,
	position: Query | undefined,
	found: number,
): Part<Query> {
	const entries = valueAt(body, form.path);
	if (!Array.isArray(entries)) throw noList(body, form.path);
	const total = form.totalPath === undefined ? undefined : valueAt(body, form.totalPath);
	if (typeof total === 'number' && found + entries.length >= total) return { entries };
	const next = nextPosition(body, form, position?.[form.positionName], found + entries.length);
	return next === undefined ? { entries } : { entries, next: { [form.positionName]: next } };
}

function nextPosition(
	body: JsonValue,
	{ paging, cursorPath }: CallListForm,
	position: string | number | boolean | undefined,
	found: number,
): string | number | undefined {
	if (paging === 'pageFromZero') return Number(position ?? 0) + 1;
	if (paging === 'pageFromOne') return Number(position ?? 1) + 1;
	if (paging === 'offset') return found;
	if (paging !== 'cursor') return undefined;
	const cursor = valueAt(body, cursorPath);
	return (typeof cursor === 'string' && cursor !== '') || typeof cursor === 'number'
		? cursor
		: undefined;
}

function callIn(entry: JsonValue, itemPath: string | undefined): JsonValue {
	return itemPath === undefined ? entry : (valueAt(entry, itemPath) ?? entry);
}

function asRecord(value: JsonValue): JsonObject {
	return isJsonObject(value) ? value : { value };
}

function noList(body: JsonValue, path: string): OutcomeUnknown {
	const places = listPlaces(body);
	return new OutcomeUnknown(
		`The answer holds no list of calls at “${path}”`,
		`Open the credential and correct “Place of the List in the Answer”. The answer holds lists at: ${places.length > 0 ? places.join(', ') : 'no place'}.`,
	);
}
