import type { INodeProperties } from 'n8n-workflow';
import { parseCount } from '../../core/service/parseIds';
import type { Explanation } from '../../core/service/explanation';
import { counted } from '../../core/values/values';
import type { Fields } from './fields';

export const limitFields: INodeProperties[] = [
	{
		displayName: 'Return All',
		name: 'returnAll',
		type: 'boolean',
		default: false,
		description: 'Whether to return all results or only up to a given limit',
	},
	{
		displayName: 'Limit',
		name: 'limit',
		type: 'number',
		typeOptions: { minValue: 1, numberPrecision: 0 },
		default: 50,
		description: 'Max number of results to return',
		displayOptions: { show: { returnAll: [false] } },
	},
];

/** For a model, if entries may be missing. */
export const NOT_COMPLETE = 'Do not treat this list as complete.';

/**
 * For a model, which may not know the limit.
 *
 * @param filters the labels of fields by which it can narrow the list
 */
export function limitHint(limit: number, entry: string, filters: string): Explanation {
	return {
		message: `The list ends at the limit of ${counted(limit, entry)}, and there may be more`,
		resolution: `${NOT_COMPLETE} For the others, use a higher 'Limit', or narrow the list by ${filters}.`,
	};
}

/** Infinity for all results. */
export function readLimit(form: Fields): number {
	if (form.switch('returnAll', false)) return Infinity;
	const resolution = "Enter a whole number of at least 1, or turn on 'Return All'.";
	return parseCount(form.number('limit', undefined), 'Limit', resolution);
}
