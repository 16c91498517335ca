import { listCalls, type Additions } from '../api/endpoints';
import { OutcomeUnknown } from '../api/errors';
import type { Query, QueryValue } from '../api/http';
import type { Turn } from '../inTurn';
import {
	isJsonObject,
	type JsonObject,
	type JsonValue,
	numberIn,
	outlineOf,
	valueAt,
} from '../json';
import { readParts, type Part } from '../api/paging';
import type { ApiClient } from '../api/client';
import type { MappingName, ApiMapping } from '../apiMapping';
import { queryOf, withValue } from '../apiMapping/placeValues';

export type CallListRequest = {
	query: Query;
	/** Infinity for every call. */
	limit: number;
	/** Calls asked for at once; the service's own number where it is not set. */
	pageSize?: number | undefined;
	additions?: Additions;
	inTurn?: Turn;
};

/** Makes an address of a path or a query alone; nothing is sent there. */
const ANY_BASE = 'https://base.invalid';

/** How a service gives its call list, as the credential says. */
type CallListForm = {
	path: string;
	/** Takes the key of each call where they stand in an object. */
	keyName: string | undefined;
	itemPath: string | undefined;
	totalPath: string | undefined;
	paging: string;
	/** Parameter that chooses the part; none where the list comes at once or the answer gives an address. */
	positionName: string;
	cursorPath: string;
	/** What to do where the credential turns out to be wrong about some of it. */
	advice: ApiMapping['advice'];
};

/** The fields of the credential that reading so many calls needs. */
export function neededForList(
	{ limit, pageSize }: Pick<CallListRequest, 'limit' | 'pageSize'>,
	details: ApiMapping,
): MappingName[] {
	const sized: MappingName[] = pageSize === undefined ? [] : ['callListPageSizeName'];
	if (isFirstPartAlone(limit, details)) return sized;
	const paging = details.optional('callListPaging');
	const hasName = paging !== 'whole' && paging !== 'nextAddress';
	const hasPlace = paging === 'cursor' || paging === 'nextAddress';
	return [
		'callListPath',
		'callListPaging',
		...(hasName ? (['callListPageName'] as const) : []),
		...(hasPlace ? (['callListCursorPath'] as const) : []),
		...sized,
	];
}

/** Where the list stands and how it is paged is open: without it a limited list is what the first answer holds. */
export function isFirstPartAlone(limit: number, details: ApiMapping): boolean {
	return limit !== Infinity && details.optional('callListPath') === undefined;
}

/**
 * The calls that the filters find. Without the list's place in the answer, which is open, those of the first answer,
 * where it holds one list of calls and nothing else could be meant.
 *
 * @throws MissingMapping before anything is sent
 * @throws OutcomeUnknown where the answer shows no list of calls
 */
export async function readCalls(
	client: ApiClient,
	{ query, limit, pageSize, additions = {}, inTurn }: CallListRequest,
	details: ApiMapping,
): Promise<JsonObject[]> {
	details.require(neededForList({ limit, pageSize }, details));
	const sized =
		pageSize === undefined
			? query
			: withValue(query, details.required('callListPageSizeName'), pageSize);
	const read = async (position: Query | undefined, signal?: AbortSignal) => {
		const answer = await listCalls(client, { ...sized, ...position }, additions, signal);
		return answer.body;
	};
	if (isFirstPartAlone(limit, details))
		return onlyListIn(await read(undefined), details).slice(0, limit);

	const form = readForm(details);
	const sameAgain = `${details.advice('callListPaging', 'callListPageName')} The service seems not to know the parameter.`;
	const entries = await readParts<Query, JsonValue>(
		{ ask: read, read: (body, position, found) => partOf(body, form, position, found) },
		{ limit, inTurn, sameAgain },
	);
	return entries.map(asRecord);
}

function readForm(details: ApiMapping): CallListForm {
	return {
		path: details.required('callListPath'),
		keyName: details.optional('callListKeyName'),
		itemPath: details.optional('callListItemPath'),
		totalPath: details.optional('callListTotalPath'),
		paging: details.required('callListPaging'),
		positionName: details.optional('callListPageName') ?? '',
		cursorPath: details.optional('callListCursorPath') ?? '',
		advice: (...names) => details.advice(...names),
	};
}

function partOf(
	body: JsonValue,
	form: CallListForm,
	position: Query | undefined,
	found: number,
): Part<Query> {
	const entries = entriesOf(body, form);
	const total = totalIn(body, form, entries.length);
	const together = found + entries.length;
	if (total !== undefined && together >= total) return { entries };
	const next = nextPosition(body, form, position, together);
	if (next === undefined) return { entries };
	if (total === undefined || entries.length === 0) return { entries, next };
	const parts = Math.ceil((total - together) / entries.length);
	return { entries, next, further: positionsAfter(next, form, entries.length, parts) };
}

/** Less than the answer itself holds is no total, such as -1 for one that the service has not counted. */
function totalIn(body: JsonValue, form: CallListForm, held: number): number | undefined {
	if (form.totalPath === undefined) return undefined;
	const total = numberIn(valueAt(body, form.totalPath));
	return total !== undefined && total >= held ? total : undefined;
}

/** Where positions are numbers, those of the later parts show before the next one is there. */
function* positionsAfter(
	next: Query,
	{ paging, positionName }: CallListForm,
	length: number,
	parts: number,
): Generator<Query> {
	if (paging === 'cursor' || paging === 'nextAddress') return;
	const step = paging === 'offset' ? length : 1;
	for (let part = 1; part < parts; part++)
		yield { [positionName]: Number(next[positionName]) + part * step };
}

function entriesOf(
	body: JsonValue,
	{ path, keyName, itemPath, advice }: CallListForm,
): JsonValue[] {
	const list = valueAt(body, path);
	const inEntry = (entry: JsonValue) =>
		itemPath === undefined ? entry : (valueAt(entry, itemPath) ?? entry);
	if (Array.isArray(list)) return list.map(inEntry);
	if (isJsonObject(list) && keyName !== undefined) {
		return Object.entries(list).map(([key, entry]) => ({
			...asRecord(inEntry(entry)),
			[keyName]: key,
		}));
	}
	const resolution = isJsonObject(list)
		? `An object is there. If it has the calls, each under a key: ${advice('callListKeyName')}`
		: advice('callListPath');
	throw new OutcomeUnknown(
		`The answer holds no list of calls at “${path}”`,
		`${resolution} The answer holds ${outlineOf(body)}.`,
	);
}

/** The calls of an answer that holds one list of them. By `call_id`, which the document gives each call, they are known. */
function onlyListIn(body: JsonValue, details: ApiMapping): JsonObject[] {
	const lists = listsIn(body);
	const ofCalls = lists.map(callsOf).filter((calls) => calls.length > 0);
	const [calls = []] = ofCalls;
	const isEmpty = lists.length === 1 && lists[0]?.length === 0;
	if (ofCalls.length === 1 || isEmpty) return calls;
	throw new OutcomeUnknown(
		ofCalls.length > 1
			? 'The answer holds more than one list of calls'
			: 'The answer shows no list of calls',
		`${details.advice('callListPath', 'callListPaging')} Ask whoever provides your service. The answer holds ${outlineOf(body)}.`,
	);
}

/** Lists that stand in no other list. */
function listsIn(body: JsonValue): JsonValue[][] {
	const lists: JsonValue[][] = [];
	const queue: JsonValue[] = [body];
	for (let at = 0; at < queue.length; at++) {
		const value = queue[at] ?? null;
		if (Array.isArray(value)) lists.push(value);
		else if (isJsonObject(value)) for (const inner of Object.values(value)) queue.push(inner);
	}
	return lists;
}

/** None where an entry is no call. */
function callsOf(list: JsonValue[]): JsonObject[] {
	const calls = list.map(callIn);
	const known = calls.filter((call) => call !== undefined);
	return known.length === list.length ? known : [];
}

/** An entry that is a call, or that holds one and no other. */
function callIn(entry: JsonValue): JsonObject | undefined {
	if (!isJsonObject(entry)) return undefined;
	const [call, other] = [entry, ...Object.values(entry)]
		.filter(isJsonObject)
		.filter(({ call_id: callId }) => callId !== undefined && callId !== null);
	return other === undefined || call === entry ? call : undefined;
}

function nextPosition(
	body: JsonValue,
	{ paging, cursorPath, positionName, advice }: CallListForm,
	position: Query | undefined,
	found: number,
): Query | undefined {
	const at = (value: QueryValue) => ({ [positionName]: value });
	const last = position?.[positionName];
	if (paging === 'pageFromZero') return at(Number(last ?? 0) + 1);
	if (paging === 'pageFromOne') return at(Number(last ?? 1) + 1);
	if (paging === 'offset') return at(found);
	if (paging === 'whole') return undefined;
	const cursor = valueAt(body, cursorPath);
	if (typeof cursor !== 'number' && (typeof cursor !== 'string' || cursor === '')) return undefined;
	return paging === 'nextAddress' ? queryIn(String(cursor), cursorPath, advice) : at(cursor);
}

/** Only the parameters are taken from an address: the token goes nowhere but to Base URL. */
function queryIn(address: string, place: string, advice: CallListForm['advice']): Query {
	if (!URL.canParse(address, ANY_BASE)) {
		throw new OutcomeUnknown(
			`The answer holds no address of the next part at “${place}”`,
			advice('callListPaging', 'callListCursorPath'),
		);
	}
	const pairs = [...new URL(address, ANY_BASE).searchParams];
	return queryOf(pairs.map(([name, value]) => ({ name, value })));
}

function asRecord(value: JsonValue): JsonObject {
	return isJsonObject(value) ? value : { value };
}
