import { READS_AT_ONCE } from '../shared/api/limits';
import type { INodeProperties } from 'n8n-workflow';
import { campaignField } from '../shared/n8n/forms/locatorFields';
import {
	additionalQueryParameters,
	concurrencyField,
	developerSettings,
} from '../shared/n8n/forms/options';
import { outputFields } from '../shared/n8n/forms/outputFields';
import { toolDescriptionFields } from '../shared/n8n/tools/toolDescription';

const form: INodeProperties[] = [
	{ ...campaignField, description: 'The campaign whose progress to get' },
	...outputFields(
		'simplified',
		'One flat record with calls by status, contacts, lists, connect rate, and attempts per contact',
		'status, connect_rate',
	),
	developerSettings(
		additionalQueryParameters,
		concurrencyField(READS_AT_ONCE, 'How many campaigns to read at the same time'),
	),
];

/** The form, from top to bottom. */
export const statusFields: INodeProperties[] = [
	...toolDescriptionFields(
		'Gets the progress of a calling campaign: its status, its contact lists, and their call counts. Calls nobody and changes nothing.',
		form,
	),
	...form,
];
