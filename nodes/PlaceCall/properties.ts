import type { INodeProperties } from 'n8n-workflow';
import { agentField } from '../shared/n8n/agentField';
import { COUNTRIES, withoutAccents } from './request/countries';
import {
	additionalDataFields,
	callSettingsField,
	dataExtractionField,
	optionsField,
} from './detailFields';
import { waitFields } from './wait/waitFields';

const countryField: INodeProperties = {
	displayName: 'Country',
	name: 'countryCode',
	type: 'options',
	// The editor searches these names: the code and the spelling without accents are found as well.
	options: COUNTRIES.map(({ code, name }) => {
		const plain = withoutAccents(name);
		const label = plain === name ? code : `${code}, ${plain}`;
		return { name: `${name} (${label})`, value: code };
	}),
	default: '',
	required: true,
	description:
		'The country of the phone number. Type to search; an expression must give the two-letter code, such as IN.',
};

const whoFields: INodeProperties[] = [
	agentField,
	countryField,
	{
		displayName: 'Phone Number',
		name: 'phoneNumber',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. 9876543210',
		description:
			'The number to call, as people write it. Spaces, hyphens, dots and parentheses are taken out, and so is the code of the chosen country where it stands in front (+91, 0091).',
	},
	{
		displayName: 'Person Name',
		name: 'personName',
		type: 'string',
		default: '',
		placeholder: 'e.g. Asha Rao',
		description: 'The name of the person called, for the agent to use',
	},
];

const whenFields: INodeProperties[] = [
	{
		displayName: 'When to Call',
		name: 'when',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'Now', value: 'now' },
			{ name: 'At a Time of Day in India', value: 'timeOfDay' },
			{ name: 'At a Date and Time', value: 'dateTime' },
		],
		default: 'now',
		description:
			'Whether the service calls at once or later. The call ID comes back at once either way.',
	},
	{
		displayName: 'Time in India',
		name: 'scheduledTime',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. 18:30',
		description: 'A 24-hour time in Indian Standard Time (IST)',
		displayOptions: { show: { when: ['timeOfDay'] } },
	},
	{
		displayName: 'Date and Time',
		name: 'scheduledAt',
		type: 'dateTime',
		default: '',
		required: true,
		description:
			'A time that you pick is in the time zone of this workflow. An expression must give a date, or text with its offset such as 2027-01-31T18:30:00+05:30.',
		displayOptions: { show: { when: ['dateTime'] } },
	},
];

/** What the person sees, from top to bottom. */
export const callFields: INodeProperties[] = [
	...whoFields,
	...whenFields,
	...additionalDataFields,
	dataExtractionField,
	callSettingsField,
	...waitFields,
	optionsField,
];
