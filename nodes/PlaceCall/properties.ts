import type { INodeProperties } from 'n8n-workflow';
import { agentField } from '../shared/n8n/agentField';
import { OBSERVED_OUTCOMES } from '../shared/calls/completion';
import { COUNTRIES, withoutAccents } from './request/countries';
import {
	additionalDataFields,
	callSettingsField,
	dataExtractionField,
	optionsField,
} from './detailFields';

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

const waiting = { waitForCompletion: ['webhook', 'reading'] };

const waitFields: INodeProperties[] = [
	{
		displayName: 'Wait for Completion',
		name: 'waitForCompletion',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'Off', value: 'off', description: 'Go on as soon as the calls are placed' },
			{
				name: 'By Completion Webhook',
				value: 'webhook',
				description:
					'The service reports each call, and the execution sleeps until all are over. The agent needs post-call analysis.',
			},
			{
				name: 'By Reading the Call',
				value: 'reading',
				description: 'The calls are read again and again until all are over',
			},
		],
		default: 'off',
		description: 'Whether to go on only when the calls are over, with their results',
	},
	{
		displayName:
			'The service has to reach this n8n from outside, and n8n has to reach its own address. While it sleeps, the execution survives a restart.',
		name: 'webhookWaitNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { waitForCompletion: ['webhook'] } },
	},
	{
		displayName:
			'The execution stays in memory while it waits, and ends with n8n when n8n is restarted. For long waits use the completion webhook.',
		name: 'readingWaitNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { waitForCompletion: ['reading'] } },
	},
	{
		displayName: 'Time Limit',
		name: 'waitLimit',
		type: 'number',
		noDataExpression: true,
		typeOptions: { minValue: 1 },
		default: 2,
		description:
			'How long to wait, from the moment at which the last call is due. Calls that are still open then come out with timed_out set to true.',
		displayOptions: { show: waiting },
	},
	{
		displayName: 'Unit',
		name: 'waitLimitUnit',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'Seconds', value: 'seconds' },
			{ name: 'Minutes', value: 'minutes' },
			{ name: 'Hours', value: 'hours' },
			{ name: 'Days', value: 'days' },
		],
		default: 'hours',
		description: 'The unit of the time limit',
		displayOptions: { show: waiting },
	},
	{
		displayName: 'Finished Statuses',
		name: 'finishedStatuses',
		type: 'string',
		noDataExpression: true,
		default: OBSERVED_OUTCOMES.join(', '),
		description:
			'A call that is read with one of these is over; one that was picked, as soon as its record also says why it ended or holds a summary or an analysis. Seen so far are picked, not_picked and failed; add what your account shows besides, and take out what it shows while a call is still going on.',
		displayOptions: { show: waiting },
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
