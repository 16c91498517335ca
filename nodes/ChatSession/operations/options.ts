import type { INodeProperties } from 'n8n-workflow';
import {
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField,
} from '../../shared/n8n/options';

export function optionsOf(...options: INodeProperties[]): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options,
	};
}

export const requestOptions = optionsOf(
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField(1, 'How many requests are under way at the same time'),
);
