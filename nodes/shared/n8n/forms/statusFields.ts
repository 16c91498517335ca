import omit from 'lodash/omit';
import startCase from 'lodash/startCase';
import type { ILoadOptionsFunctions, INodeListSearchResult, INodeProperties } from 'n8n-workflow';
import { OUTCOMES } from '../../calls/callRecord';
import { locatorField } from './locatorFields';

/** A status is selected, or entered, because a service may have any. */
export function statusField(
	field: Pick<INodeProperties, 'displayName' | 'name' | 'description'>,
	searchListMethod: 'searchStatus' | 'searchStatuses',
): INodeProperties {
	const list = { searchListMethod, placeholder: 'Select a status, or type another...' };
	return omit(locatorField(field, list, 'picked', 'By Name'), 'required');
}

const USUAL = [...OUTCOMES].map(([value, { outcome }]) => ({ name: startCase(outcome), value }));

export const searchStatus = listOf(USUAL);

export const searchStatuses = listOf([
	...USUAL,
	{ name: 'Not Answered or Failed', value: 'not_picked, failed' },
]);

/** Lists the entries that match the typed filter, and the filter itself, unless it's one of them. */
function listOf(entries: ReadonlyArray<{ name: string; value: string }>) {
	return async function (this: ILoadOptionsFunctions, filter = ''): Promise<INodeListSearchResult> {
		const typed = filter.trim();
		const words = typed.toLowerCase();
		const isExact = entries.some(({ name, value }) => [name.toLowerCase(), value].includes(words));
		const found = entries.filter(({ name, value }) =>
			`${name} ${value}`.toLowerCase().includes(words),
		);
		const other = typed === '' || isExact ? [] : [{ name: typed, value: typed }];
		return await Promise.resolve({ results: [...found, ...other] });
	};
}
