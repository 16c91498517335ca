import type { INodeProperties } from 'n8n-workflow';
import { type Fields, MAY_BE_BLANK } from '../../shared/n8n/forms/fields';
import { shownOnlyAt, textInTools } from '../../shared/n8n/tools/textInTools';
import { type Schedule, scheduledAt } from '../request/scheduledAt';
import type { CallField } from './callDraft';

const whenToCall: INodeProperties[] = textInTools(
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
);

const timeInIndia: INodeProperties = {
	displayName: 'Time in India',
	name: 'scheduledTime',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. 18:30',
	description: 'A 24-hour time in Indian Standard Time (IST)',
};

const dateAndTime: INodeProperties = {
	displayName: 'Date and Time',
	name: 'scheduledAt',
	type: 'dateTime',
	default: '',
	required: true,
	description:
		'A time that you pick is in the time zone of this workflow. An expression must return a date, or text with a UTC offset such as 2027-01-31T18:30:00+05:30.',
};

const timeZoneNotice: INodeProperties = {
	displayName:
		"A time that you pick is in the time zone of this workflow, wherever the person is. To see or change it, open <b>Settings > Timezone</b> in the workflow's menu.",
	name: 'timeZoneNotice',
	type: 'notice',
	default: '',
};

export const when: CallField = {
	properties: [
		...whenToCall,
		shownOnlyAt(timeInIndia, 'when', 'timeOfDay'),
		shownOnlyAt(dateAndTime, 'when', 'dateTime'),
		shownOnlyAt(timeZoneNotice, 'when', 'dateTime'),
	],
	addTo(draft, fields) {
		const time = readTime(fields);
		if (time === undefined) return;
		draft.schedule = { ...time, zone: draft.zone };
		draft.set('scheduled_at', draft.take(scheduledAt(draft.schedule)));
	},
};

/** The field that has the time, depending on 'When to Call'. A model enters the time there. */
function readTime(form: Fields): Omit<Schedule, 'zone'> | undefined {
	const chosen = form.choiceOrText('when', MAY_BE_BLANK);
	if (/^now$/i.test(chosen)) return undefined;
	if (chosen === 'timeOfDay') {
		const value = form.text('scheduledTime', MAY_BE_BLANK);
		return { field: 'Time in India', value, picked: false };
	}
	if (chosen === 'dateTime') {
		const value = form.time('scheduledAt', MAY_BE_BLANK);
		return { field: 'Date and Time', value, picked: form.expression('scheduledAt') === '' };
	}
	return { field: 'When to Call', value: chosen, picked: false };
}
