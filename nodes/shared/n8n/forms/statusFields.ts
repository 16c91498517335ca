import omit from 'lodash/omit';
import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';
import { LISTED_OUTCOMES } from '../../calls/callRecord';
import { locatorField } from './locatorFields';

/** A field for a status that is selected, or entered, because a service may have any. */
function field(name: string, displayName: string, description: string, example: string) {
	const list = {
		searchListMethod: `search${displayName}`,
		placeholder: 'Select a status, or type another...',
	};
	const texts = { displayName, name, description };
	return omit(locatorField(texts, list, example, 'By Name'), 'required');
}

export const statusField = field(
	'status',
	'Status',
	"Calls with this status. Type one that isn't in the list: it's sent to the service as it is.",
	'picked',
);

export const statusesField = field(
	'statuses',
	'Statuses',
	"Only calls that ended with this status. Type one that isn't in the list, or several, separated by commas.",
	'picked, not_picked',
);

/** The entries that match the typed filter, and the filter itself, unless it's one of them. */
const offering = (entries: ReadonlyArray<{ name: string; value: string }>) =>
	async function (this: ILoadOptionsFunctions, filter = ''): Promise<INodeListSearchResult> {
		const typed = filter.trim();
		const words = typed.toLowerCase();
		const isExact = entries.some(({ name, value }) => [name.toLowerCase(), value].includes(words));
		const found = entries.filter(({ name, value }) =>
			`${name} ${value}`.toLowerCase().includes(words),
		);
		const other = typed === '' || isExact ? [] : [{ name: typed, value: typed }];
		return await Promise.resolve({ results: [...found, ...other] });
	};

export const searchStatus = offering(LISTED_OUTCOMES);

export const searchStatuses = offering([
	...LISTED_OUTCOMES,
	{ name: 'Not Answered or Failed', value: 'not_picked, failed' },
]);
