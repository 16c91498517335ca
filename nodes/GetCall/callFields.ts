import type { INodeProperties } from 'n8n-workflow';
import { READS_AT_ONCE } from '../shared/api/limits';
import { outputFields } from '../shared/n8n/forms/outputFields';
import {
	additionalQueryParameters,
	concurrencyField,
	optionsCollection,
} from '../shared/n8n/forms/options';

export const callIdField: INodeProperties = {
	displayName: 'Call ID',
	name: 'callId',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. 6f1c2a34-9b1e-4c55-8f0a-2d7f3c1b9e00',
	description: 'The ID of the call: the call_id that Place Call and Call Completed Trigger return',
};

export const callOutputFields = outputFields(
	'simplified',
	'The outcome, people, times, summary, and captured data',
	'call_id, status, summary',
);

export function callOptionsField(...members: INodeProperties[]): INodeProperties {
	return optionsCollection(
		additionalQueryParameters,
		concurrencyField(READS_AT_ONCE, 'How many requests to send at the same time'),
		...members,
	);
}
