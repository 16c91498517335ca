import type { ApiClient } from '../service/client';
import { listCalls } from '../service/endpoints';
import { OutcomeUnknown } from '../service/errors';
import { onScreenOnly } from '../service/resolution';
import {
	entriesOf,
	linkedNext,
	onlyListIn,
	readsFirstPageOnly,
	requiredForList,
	totalIn,
} from '../calls/callList';
import { outlineOf, valueAt } from '../values/json';
import type { ApiMapping, MappingName } from '../profile/apiMapping';

/**
 * Reads the first page, and checks the paths whose mistakes would go unnoticed: to the list, its total, and its next page.
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
	const { length: count } = entriesOf(body, mapping);
	const total = totalIn(body, mapping);
	const totalPath = mapping.optional('callListTotalPath');
	if (totalPath !== undefined && total === undefined)
		throw notFitting('callListTotalPath', totalPath);
	const isLinked = ['cursor', 'nextLink'].includes(mapping.required('callListPaging'));
	if (!isLinked || linkedNext(response, mapping).length > 0) return undefined;
	const cursorPath = mapping.required('callListCursorPath');
	if (valueAt(body, cursorPath) !== undefined) return undefined;
	if (total !== undefined && total > count) throw notFitting('callListCursorPath', cursorPath);
	return `the first response has nothing at "${cursorPath}", so it's the last page or the path is wrong`;

	function notFitting(field: MappingName, path: string): OutcomeUnknown {
		return new OutcomeUnknown(
			`The response doesn't fit the setting "${path}"`,
			onScreenOnly(`${mapping.resolution(field)} The response contains ${outlineOf(body)}.`),
		);
	}
}
