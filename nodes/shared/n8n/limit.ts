import type { INodeProperties } from 'n8n-workflow';
import { parseCount } from '../api/identifiers';
import type { Parameters } from './parameters';

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

/** Infinity for all results. */
export function readLimit(parameters: Parameters, index: number): number {
	if (parameters.boolean('returnAll', index)) return Infinity;
	const todo = 'Enter how many results to return, from 1 on, or turn on Return All.';
	return parseCount(parameters.value('limit', index), 'Limit', todo);
}
