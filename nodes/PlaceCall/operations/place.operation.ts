import type { INodeProperties } from 'n8n-workflow';
import type { Operation } from '../../shared/n8n/run/operations';
import { shownOnlyAt, textInTools } from '../../shared/n8n/tools/textInTools';
import {
	additionalDataField,
	callOptions,
	callSettingsField,
	dataExtractionField,
	greetingField,
} from '../detailFields';
import { placeCalls } from '../placeCalls';
import { waitField } from '../wait/waitFields';
import { personNameField, whoFields } from '../recipientFields';

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
				'When the service places the call. The node gets the call ID immediately in all cases.',
		},
		{
			placeholder: 'e.g. 2027-01-31T18:30:00+05:30',
			description:
				'When to call: "now", a 24-hour time in India such as 18:30, or a date and time with its offset such as 2027-01-31T18:30:00+05:30',
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
				'A time that you pick is in the time zone of this workflow. An expression must return a date, or text with a UTC offset such as 2027-01-31T18:30:00+05:30.',
		},
		'when',
		'dateTime',
	),
	shownOnlyAt(
		{
			displayName:
				"A time that you pick is in the time zone of this workflow, wherever the person is. To see or change it, open <b>Settings > Timezone</b> in the workflow's menu.",
			name: 'timeZoneNotice',
			type: 'notice',
			default: '',
		},
		'when',
		'dateTime',
	),
];

const webhookUrlField: INodeProperties = {
	displayName: 'Webhook URL',
	name: 'webhookUrl',
	type: 'string',
	default: '',
	placeholder: 'e.g. https://n8n.example.com/webhook/call-completed',
	description:
		"The URL to which the service posts the result when the call is completed. The agent needs post-call analysis. 'Wait for Completion' by webhook uses its own URL instead.",
};

export const place: Operation = {
	value: 'place',
	name: 'Place',
	action: 'Place call',
	description: 'Call a person, now or later',
	fields: [
		...whoFields,
		personNameField,
		...whenFields,
		greetingField,
		dataExtractionField,
		additionalDataField,
		callSettingsField,
		callOptions(waitField, webhookUrlField),
	],
	toolDescription:
		'Places a real phone call: an AI agent calls the number and talks to the person who answers, now or at the given time. A call cannot be undone. Use this only if the call is wanted, and once for each person. Returns the call ID. Use the ID to read the result of the conversation later.',

	async execute(run) {
		return await placeCalls(run);
	},
};
