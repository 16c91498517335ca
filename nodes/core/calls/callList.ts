import { type Additions, listCalls } from '../service/endpoints';
import { isRejection, type OutcomeUnknown, ServiceRejection, unusable } from '../service/errors';
import type { Query } from '../service/http';
import { MAX_READINGS, type Page, type PagedList, positionsFrom } from '../service/paging';
import { type Part, positionOf } from '../profile/schema';
import { listAt } from '../profile/template';
import { type Account, lacks, type ServiceProfile, type ValuesOf } from '../profile/serviceProfile';
import {
	asRecord,
	isJsonObject,
	type JsonObject,
	type JsonValue,
	numberIn,
	outlineOf,
	valueAt,
} from '../values/json';
import type { Limiter } from '../values/keyedMutex';
import { isUnset, plainText } from '../values/values';
import { type CallFilters, filterValues, requireMatching } from './callListQuery';

const RUN_AGAIN = 'Run this again while fewer calls are placed.';

type CallListRequest = {
	filters?: CallFilters;
	/** Time zone for dates without an offset. */
	zone?: string;
	/** Infinity for every call. */
	limit: number;
	additions?: Additions;
	limiter?: Limiter | undefined;
	/** What to keep of each call with an ID, to save memory. Everything by default. Must keep what `keyOf` reads. */
	compact?: (call: JsonObject) => JsonObject;
	/** What to do if a decision needs every call, and the list keeps changing. */
	ifChanging?: string;
};

/** Whether to return only the calls of the first response, because the profile doesn't show the list. */
export function readsFirstPageOnly(limit: number, { profile }: Account): boolean {
	return limit !== Infinity && profile.part('calls')?.list === undefined;
}

type ShownList = Part<'calls'> & { list: string; next: NonNullable<Part<'calls'>['next']> };

/** @throws InvalidInput if the profile doesn't show the whole list */
export function requireWholeList({ profile }: Account): ShownList {
	const part = profile.required('calls');
	const { list, next } = part;
	if (list === undefined || next === undefined) throw lacks('calls', ['"list"', '"next"']);
	return { ...part, list, next };
}

/** Calls per request of a service that needs a number. Another one has a size of its own, which it may not exceed. */
const PAGE_SIZE = 50;

/**
 * The query of the call list.
 *
 * @param zone time zone for dates without an offset
 * @param more other values of the request
 * @throws InvalidInput for an invalid value, or a value for which the profile has no place
 */
export function callListQuery(
	filters: CallFilters,
	profile: ServiceProfile,
	zone: string,
	more: ValuesOf<'calls'> = {},
): Query {
	const part = profile.part('calls');
	const { byPlaceholder, documented } = filterValues(filters, { form: part?.dates, zone });
	const pageSize = profile.needOf('calls', 'pageSize') === 'needed' ? PAGE_SIZE : undefined;
	const values = { pageSize, ...more, ...byPlaceholder };
	// A service shows its first calls without a profile.
	const isShown = part !== undefined || !Object.values(values).every(isUnset);
	return { ...(isShown && profile.request('calls', values).query), ...documented };
}

/**
 * The calls that match the filters, according to the profile. A position is what the response or the profile's `{page}` has. If
 * the profile doesn't show the list, the calls of the first response, which must have exactly one list of calls.
 *
 * Throws OutcomeUnknown if a call doesn't match a filter.
 *
 * @throws InvalidInput for an invalid filter, or if the profile lacks something, before anything is sent
 */
export function callList(account: Account, request: CallListRequest): PagedList<string | number> {
	const { client, profile } = account;
	const { filters = {}, zone = 'utc', limit, additions, limiter } = request;
	const { compact = (call: JsonObject) => call, ifChanging = RUN_AGAIN } = request;
	const shown = readsFirstPageOnly(limit, account) ? undefined : requireWholeList(account);
	const placeholder = positionOf(shown?.next);
	const queryFor = (position?: string | number) =>
		callListQuery(filters, profile, zone, placeholder && { [placeholder]: position });
	const firstQuery = queryFor();
	const pageOf = (position: string | number | undefined): { query: Query } | { search: string } => {
		if (position === undefined) return { query: firstQuery };
		return placeholder === undefined ? { search: String(position) } : { query: queryFor(position) };
	};
	return {
		keyOf,
		limiter,
		keepsChanging: {
			message: `Calls may be missing, because the call list changed in each of ${MAX_READINGS} readings, or has fewer calls than its total`,
			resolution: `${ifChanging} ${profile.resolution('calls', 'total')}`,
		},
		loopAdvice: `${profile.resolution('calls', 'next')} The service may not support the parameter, or return its last page again if "total" isn't set.`,
		read: async (position) => {
			const page = listCalls(client, pageOf(position), additions);
			const mayBeAfterLast = position !== undefined && shown && isCounted(shown);
			const { body } = await (mayBeAfterLast ? page.catch(rejectedPage(profile)) : page);
			const calls = shown ? entriesOf(body, shown, profile) : onlyListIn(body, profile);
			requireMatching(calls, filters, (one) => profile.ignoredParameter('calls', one));
			const entries = calls.map((call) => (keyOf(call) === undefined ? call : compact(call)));
			const next = shown ? pagesAfter(body, position, calls.length, shown, profile) : LAST_PAGE;
			return { entries, ...next };
		},
	};
}

/** Whether only an empty page shows where the list ends. */
function isCounted({ next, total }: ShownList): boolean {
	return firstOf(next) !== undefined && total === undefined;
}

/** Some services reject the page after the last one instead of returning an empty one. */
function rejectedPage(profile: ServiceProfile) {
	return (error: unknown): never => {
		const isOfPage = error instanceof ServiceRejection && !error.isTransient;
		if (!isOfPage || isRejection(error, 'invalid_api_token')) throw error;
		const { originalMessage, origin, status } = error;
		throw unusable(
			'The service rejected a page of the call list after the first one',
			`${profile.resolution('calls', 'total', 'next')} Without "total", the node also requests the page after the last one, which your service may reject.`,
			{ originalMessage, origin, status },
		);
	};
}

type NextPages = Omit<Page<string | number>, 'entries'>;

const LAST_PAGE: NextPages = { next: () => [] };

/**
 * What a response shows of the pages after it.
 *
 * @param position of its page. Undefined for the first.
 * @param length entries of its page
 */
function pagesAfter(
	body: JsonValue,
	position: string | number | undefined,
	length: number,
	shown: ShownList,
	profile: ServiceProfile,
): NextPages {
	const total = totalIn(body, shown);
	const { next } = shown;
	const first = firstOf(next);
	if (first === undefined)
		return { total, saysNext: true, next: () => linkedNext(body, shown, profile) };
	if (length === 0) return { ...LAST_PAGE, total };
	const step = typeof next === 'object' && 'offset' in next ? length : 1;
	const here = Number(position ?? first);
	// If all pages are as long as this one. Without a total, only the next page is known.
	const left = Math.ceil((total ?? 0) / length) - (here - first) / step - 1;
	return { total, next: () => positionsFrom(here + step, Math.max(1, Math.ceil(left)), step) };
}

/** The first page number or offset. Undefined if the response shows the next page. */
function firstOf(next: ShownList['next']): number | undefined {
	if (next === 'none') return undefined;
	if ('page' in next) return next.page;
	return 'offset' in next ? next.offset : undefined;
}

/** A redial may have the ID of its first call, so the key includes the time. */
function keyOf({ call_id: callId, created_at: createdAt }: JsonObject): string | undefined {
	const id = plainText(callId);
	return id === '' ? undefined : JSON.stringify([id, createdAt]);
}

/** What to do if the profile doesn't show the whole list, or shows another one. */
export function whereIsTheList({ profile }: Account, ...entries: string[]): string {
	return profile.resolution('calls', 'list', ...entries);
}

/**
 * The calls at the path of the profile. Some services write an empty list as null.
 *
 * @throws OutcomeUnknown if it has none, or an entry has no call
 */
export function entriesOf(
	body: JsonValue,
	shown: ShownList,
	profile: ServiceProfile,
): JsonObject[] {
	const { key: keyName, entry: entryPath } = shown;
	const list = listAt(body, shown.list);
	const inEntry = (entry: JsonValue) => {
		const call = entryPath === undefined ? entry : valueAt(entry, entryPath);
		if (call !== undefined) return asRecord(call);
		throw noList(`An entry of the list has no "${entryPath}"`, body, profile, 'entry');
	};
	if (Array.isArray(list)) return list.map(inEntry);
	if (list === null && totalIn(body, shown) === 0) return [];
	if (isJsonObject(list) && keyName !== undefined) {
		return Object.entries(list).map(([key, entry]) => ({ ...inEntry(entry), [keyName]: key }));
	}
	const entries = isJsonObject(list) ? ['list', 'key'] : ['list'];
	throw noList(`The response has no list of calls at "${shown.list}"`, body, profile, ...entries);
}

/** The number of matching calls, if the profile has a path to it. */
function totalIn(body: JsonValue, { total }: ShownList): number | undefined {
	return total === undefined ? undefined : numberIn(valueAt(body, total));
}

/** To read a link without a host. */
const ANY_HOST = 'https://voice.example.com';

/** Values that end a list. No page after the first begins at 0. */
const NO_CURSORS = new Set<JsonValue>([false, '', 0, -1, '0', '-1']);

/**
 * The cursor of the next page in the response, or the query of the link to it, if it has one.
 *
 * @throws OutcomeUnknown if the value there isn't one. It isn't the end of the list, because calls would be missing.
 */
function linkedNext(
	body: JsonValue,
	{ next }: ShownList,
	profile: ServiceProfile,
): Array<string | number> {
	if (next === 'none' || 'page' in next || 'offset' in next) return [];
	const path = 'link' in next ? next.link : next.cursor;
	const cursor = valueAt(body, path) ?? false;
	if (NO_CURSORS.has(typeof cursor === 'string' ? cursor.trim() : cursor)) return [];
	const isText = typeof cursor === 'string' || typeof cursor === 'number';
	if (isText && positionOf(next) !== undefined) return [cursor];
	const link = plainText(cursor);
	const search = URL.canParse(link, ANY_HOST) ? new URL(link, ANY_HOST).search : '';
	if (search !== '') return [search];
	throw unusable(
		`The value at "${path}" in the response isn't a cursor or link to the next page`,
		profile.resolution('calls', 'next'),
	);
}

/**
 * The calls of a response with exactly one list of calls.
 *
 * @throws OutcomeUnknown if the response has none or several
 */
export function onlyListIn(body: JsonValue, profile: ServiceProfile): JsonObject[] {
	const lists = listsIn(body);
	const ofCalls = lists.filter(isListOfCalls);
	const [only = []] = ofCalls;
	const isEmpty = lists.length > 0 && lists.every((list) => list.length === 0);
	if (ofCalls.length === 1 || isEmpty) return only;
	const message = "The response doesn't have exactly one list of calls";
	throw noList(message, body, profile, 'list', 'next');
}

/** Lists that aren't inside another list. */
function listsIn(value: JsonValue): JsonValue[][] {
	if (Array.isArray(value)) return [value];
	return isJsonObject(value) ? Object.values(value).flatMap(listsIn) : [];
}

function isListOfCalls(list: JsonValue[]): list is JsonObject[] {
	const isCall = (entry: JsonValue) => isJsonObject(entry) && !isUnset(entry.call_id);
	return list.length > 0 && list.every(isCall);
}

function noList(
	message: string,
	body: JsonValue,
	profile: ServiceProfile,
	...entries: string[]
): OutcomeUnknown {
	return unusable(
		message,
		`${profile.resolution('calls', ...entries)} The response contains ${outlineOf(body)}.`,
	);
}
