import type { ApiClient } from '../api/client';
import { listCalls } from '../api/endpoints';
import { OutcomeUnknown } from '../api/errors';
import { onScreenOnly } from '../api/resolution';
import {
	entriesOf,
	linkedNext,
	onlyListIn,
	readsFirstPageOnly,
	requiredForList,
	totalIn,
} from '../calls/callList';
import { isJsonObject, type JsonValue, outlineOf, valueAt } from '../json';
import type { ApiMapping, MappingName } from './index';

/**
 * Reads the first page, and checks that each path of the API mapping leads somewhere in it. A wrong path may otherwise go
 * unnoticed.
 *
 * @returns why a path couldn't be checked. Undefined if all could.
 * @throws InvalidInput if the API mapping lacks a value, before anything is sent
 * @throws OutcomeUnknown that names the first wrong path
 */
export async function testCallList(
	client: ApiClient,
	mapping: ApiMapping,
): Promise<string | undefined> {
	const limit = 1;
	const sizeName = mapping.optional('callListPageSizeName');
	mapping.require(requiredForList({ limit, pageSize: undefined }, mapping));
	const query = sizeName === undefined ? {} : { [sizeName]: limit };
	const response = await listCalls(client, { query });
	const { body } = response;
	if (readsFirstPageOnly(limit, mapping)) {
		onlyListIn(body, mapping);
		return undefined;
	}
	const entries = entriesOf(body, mapping);
	const list = valueAt(body, mapping.required('callListPath'));
	const total = totalIn(body, mapping);
	const hasCall = (path: string) => {
		const calls = Object.values(list ?? {}).map((entry: JsonValue) => valueAt(entry, path) ?? null);
		return calls.length === 0 || calls.some(isJsonObject);
	};
	const isLinked = ['cursor', 'nextLink'].includes(mapping.required('callListPaging'));
	const hasNext = !isLinked || linkedNext(response, mapping).length > 0;
	const isLast = total === undefined || total <= entries.length;
	const paths: Array<[MappingName, (path: string) => boolean]> = [
		['callListKeyName', () => !Array.isArray(list)],
		['callListItemPath', hasCall],
		['callListTotalPath', () => total !== undefined],
		['callListCursorPath', (path) => hasNext || isLast || valueAt(body, path) !== undefined],
	];
	for (const [field, fits] of paths) {
		const path = mapping.optional(field);
		if (path === undefined || fits(path)) continue;
		throw new OutcomeUnknown(
			`The response doesn't fit the setting "${path}"`,
			onScreenOnly(`${mapping.resolution(field)} The response contains ${outlineOf(body)}.`),
		);
	}
	const cursorPath = mapping.optional('callListCursorPath');
	const isUnclear = !hasNext && cursorPath !== undefined && valueAt(body, cursorPath) === undefined;
	return isUnclear
		? `the first response has nothing at "${cursorPath}", so it's the last page or the path is wrong`
		: undefined;
}
