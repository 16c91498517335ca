import type { INodeProperties } from 'n8n-workflow';
import { agentField } from '../shared/n8n/agentField';
import { shownOnlyAt, textInTools } from '../shared/n8n/textInTools';
import { toolDescriptionField } from '../shared/n8n/toolDescription';
import { COUNTRIES, withoutAccents } from './request/countries';
import {
	additionalDataFields,
	callSettingsField,
	dataExtractionField,
	greetingField,
	optionsField,
} from './detailFields';
import {
	finishedStatusesField,
	waitLimitField,
	waitLimitUnitField,
	WAYS_OF_WAITING,
} from './wait/waitFields';

const countryFields = textInTools(
	{
		displayName: 'Country',
		name: 'countryCode',
		type: 'options',
		options: [
			{ name: '(Choose a Country)', value: '' },
			// The editor searches these names: the code and the spelling without accents are found as well.
			...COUNTRIES.map(({ code, name }) => {
				const plain = withoutAccents(name);
				const label = plain === name ? code : `${code}, ${plain}`;
				return { name: `${name} (${label})`, value: code };
			}),
		],
		default: '',
		required: true,
		description:
			'The country of the phone number. Type to search; an expression must give the two-letter code, such as IN.',
	},
	{
		placeholder: 'e.g. IN',
		description:
			'The two-letter code of the country that the phone number belongs to, such as IN for India',
	},
);

const whoFields: INodeProperties[] = [
	agentField,
	...countryFields,
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
	...textInTools(
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
			placeholder: 'e.g. 2027-01-31T18:30:00+05:30',
			description:
				'When the person is called: “now”, a 24-hour time in India such as 18:30, or a date and time with its offset such as 2027-01-31T18:30:00+05:30',
		},
	),
	shownOnlyAt(
		{
			displayName: 'Time in India',
			name: 'scheduledTime',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. 18:30',
			description: 'A 24-hour time in Indian Standard Time (IST)',
		},
		'when',
		'timeOfDay',
	),
	shownOnlyAt(
		{
			displayName: 'Date and Time',
			name: 'scheduledAt',
			type: 'dateTime',
			default: '',
			required: true,
			description:
				'A time that you pick is in the time zone of this workflow. An expression must give a date, or text with its offset such as 2027-01-31T18:30:00+05:30.',
		},
		'when',
		'dateTime',
	),
	shownOnlyAt(
		{
			displayName:
				'A time that you pick counts by the clocks of this workflow’s time zone, wherever the person is: see Settings → Timezone in the workflow’s menu.',
			name: 'timeZoneNotice',
			type: 'notice',
			default: '',
		},
		'when',
		'dateTime',
	),
];

const waiting = { waitForCompletion: ['webhook', 'reading'] };

/** The wait stood here in earlier versions of this form: it is shown only where a saved workflow waits. */
const earlierWaitFields: INodeProperties[] = [
	{
		displayName: 'Wait for Completion',
		name: 'waitForCompletion',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'Off', value: 'off', description: 'Go on as soon as the calls are placed' },
			...WAYS_OF_WAITING,
		],
		default: 'off',
		description: 'Whether to go on only when the calls are over, with their results',
		displayOptions: { show: { '/waitForCompletion': ['webhook', 'reading'] } },
	},
	...[waitLimitField, waitLimitUnitField, finishedStatusesField].map((field) => ({
		...field,
		displayOptions: { show: waiting },
	})),
];

/** What the person sees, from top to bottom. */
export const callFields: INodeProperties[] = [
	toolDescriptionField(
		'Places a real phone call: an AI agent dials the number and talks to the person who answers, now or at the time that is given. A call cannot be taken back: use this only when the call is wanted, and once for each person. Answers with the call ID; how the conversation went is read later by that ID.',
	),
	...whoFields,
	...whenFields,
	greetingField,
	dataExtractionField,
	...additionalDataFields,
	callSettingsField,
	optionsField,
	...earlierWaitFields,
];
