import type { INodeProperties } from 'n8n-workflow';
import type { Additions } from '../shared/api/endpoints';
import { READS_AT_ONCE } from '../shared/api/limits';
import { parseCallId } from '../shared/api/parseIds';
import { MAY_BE_BLANK, type Fields } from '../shared/n8n/forms/fields';
import { outputFields } from '../shared/n8n/forms/outputFields';
import {
	additionalQueryParameters,
	concurrencyField,
	developerSettings,
	readAdditions,
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
	'call_id, outcome, summary',
);

export function requestSettings(...members: INodeProperties[]): INodeProperties {
	return developerSettings(
		additionalQueryParameters,
		concurrencyField(READS_AT_ONCE, 'How many requests to send at the same time'),
		...members,
	);
}

export function readCallFields(form: Fields): { callId: string; additions: Additions } {
	return {
		callId: parseCallId(form.textOrNumber('callId', MAY_BE_BLANK)),
		additions: readAdditions(form.collection('developerSettings')),
	};
}
