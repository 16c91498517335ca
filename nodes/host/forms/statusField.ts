import omit from 'lodash/omit';
import startCase from 'lodash/startCase';
import type { ILoadOptionsFunctions, INodeListSearchResult, INodeProperties } from 'n8n-workflow';
import { PICKED, statusKey } from '../../core/calls/callEnd';
import { OUTCOMES } from '../../core/calls/callRecord';
import { type ListEntry, locatorField, matching } from './locatorFields';

/** A status is selected, or entered, because a service may have any. */
export function statusField(
	field: Pick<INodeProperties, 'displayName' | 'name' | 'description'>,
	searchListMethod: 'searchStatus' | 'searchStatuses' | 'searchUnreached',
): INodeProperties {
	const list = { searchListMethod, placeholder: 'Select a status, or type another...' };
	return omit(locatorField(field, list, 'picked', 'By Name'), 'required');
}

const USUAL = [...OUTCOMES].map(([value, outcome]) => ({ name: startCase(outcome), value }));

export const searchStatus = listOf(USUAL);

const NOT_ANSWERED_OR_FAILED = { name: 'Not Answered or Failed', value: 'not_picked, failed' };

export const searchStatuses = listOf([...USUAL, NOT_ANSWERED_OR_FAILED]);

/** Of people who are called again. Those who answered aren't. */
export const searchUnreached = listOf([
	NOT_ANSWERED_OR_FAILED,
	...USUAL.filter(({ value }) => value !== PICKED),
]);

/** As chosen from the list. */
export const UNREACHED = {
	mode: 'list',
	value: NOT_ANSWERED_OR_FAILED.value,
	cachedResultName: NOT_ANSWERED_OR_FAILED.name,
} as const;

/**
 * The keys of the statuses that a user may mean: the text itself, because a service may have any status, and for names in
 * the list, such as "Answered or Failed", also their values.
 */
export function statusKeysMeant(text: string): string[] {
	const keys = text.split(/ or /i).map(statusKey);
	const named = USUAL.filter(({ name }) => keys.includes(statusKey(name)));
	return [statusKey(text), ...named.map(({ value }) => statusKey(value))];
}

/** Lists the entries that match the typed filter, and the filter itself, unless it's one of them. */
function listOf(entries: readonly ListEntry[]) {
	return async function (this: ILoadOptionsFunctions, filter = ''): Promise<INodeListSearchResult> {
		const typed = filter.trim();
		const key = statusKey(typed);
		const isExact = entries.some(({ name, value }) => [name, value].map(statusKey).includes(key));
		const other = typed === '' || isExact ? [] : [{ name: typed, value: typed }];
		return await Promise.resolve({ results: [...matching(entries, typed), ...other] });
	};
}

/** A filter of calls. */
export const optedOutFilter: INodeProperties = {
	displayName: 'Opted Out',
	name: 'optedOut',
	type: 'options',
	options: [
		{ name: 'No', value: 'false', description: 'The agent captured that the person accepts calls' },
		{ name: 'Unknown', value: 'null', description: 'Nothing clear was captured' },
		{ name: 'Yes', value: 'true', description: 'The person asked for no more calls' },
	],
	default: 'true',
	description:
		"Only calls with this opted_out. It's decided by the value that the agent captured, never by the summary or the transcript.",
};
