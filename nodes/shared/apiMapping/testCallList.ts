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
	sized,
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
	const pageSize = mapping.optional('callListPageSizeName') === undefined ? undefined : limit;
	mapping.require(requiredForList({ limit, pageSize }, mapping));
	const query = sized({}, pageSize, mapping);
	const listPath = () => mapping.optional('callListPath');
	const response = await listCalls(client, { query }, { listPath });
	const { body } = response;
	if (readsFirstPageOnly(limit, mapping)) {
		onlyListIn(body, mapping);
		return undefined;
	}
	const missing = (message: string, field: MappingName): OutcomeUnknown =>
		new OutcomeUnknown(
			message,
			onScreenOnly(`${mapping.resolution(field)} The response contains ${outlineOf(body)}.`),
		);
	const entries = entriesOf(body, mapping);
	const path = mapping.required('callListPath');
	const list = valueAt(body, path);
	if (Array.isArray(list) && mapping.optional('callListKeyName') !== undefined) {
		throw missing(`The calls are in a list at "${path}", so they have no keys`, 'callListKeyName');
	}
	const itemPath = mapping.optional('callListItemPath');
	if (itemPath !== undefined && entries.length > 0) {
		const wrapped = Object.values(list ?? {});
		const isFound = wrapped.some((entry: JsonValue) =>
			isJsonObject(valueAt(entry, itemPath) ?? null),
		);
		if (!isFound) throw missing(`No entry has a call at "${itemPath}"`, 'callListItemPath');
	}
	const totalPath = mapping.optional('callListTotalPath');
	const total = totalIn(body, mapping);
	if (totalPath !== undefined && total === undefined) {
		throw missing(`The response has no number at "${totalPath}"`, 'callListTotalPath');
	}
	const cursorPath = mapping.optional('callListCursorPath');
	const isLinked = ['cursor', 'nextLink'].includes(mapping.required('callListPaging'));
	if (!isLinked || cursorPath === undefined) return undefined;
	const next = linkedNext(response, mapping);
	if (next.length > 0) return undefined;
	if (valueAt(body, cursorPath) !== undefined) return undefined;
	if (total !== undefined && total > entries.length) {
		throw missing(`The response has nothing at "${cursorPath}"`, 'callListCursorPath');
	}
	return `the first response has nothing at "${cursorPath}", so it's the last page or the path is wrong`;
}
