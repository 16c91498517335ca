import { DateTime } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import { forEveryone } from '../../shared/api/resolution';
import { withOffset } from '../../shared/clock';
import { givenAs } from '../../shared/modelForms';
import { type Fields, MAY_BE_BLANK } from '../../shared/n8n/forms/fields';
import { shownOnlyAt, textInTools } from '../../shared/n8n/tools/textInTools';
import { type Checked, isUnset, problem, quoted } from '../../shared/values';
import type { Schedule } from '../callTime';
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
		draft.set('scheduled_at', draft.take(scheduledAtOf(draft.schedule)));
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

const TIME_OF_DAY = /^([01]?\d|2[0-3]):[0-5]\d$/;
const WALL_CLOCK = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;
const OFFSET = /^[^T]*T[^Z+-]*(Z|[+-]\d{2}(:?\d{2})?)$/i;
const COMMON_FORM = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

/** `scheduled_at` of the request: `HH:MM` in IST, or ISO 8601 with offset. */
function scheduledAtOf(schedule: Schedule): Checked<string> {
	const { field, value, zone } = schedule;
	if (DateTime.isDateTime(value)) return moment(schedule, value);
	if (value instanceof Date) {
		return moment(schedule, DateTime.fromJSDate(value, { zone }));
	}

	if (isUnset(value)) {
		return problem(
			`'${field}' is empty`,
			givenAs(field, "Enter a time, or set 'When to Call' to 'Now'."),
		);
	}

	const text = String(value)
		.trim()
		.replace(/^(\d{4}-\d{2}-\d{2}) /, '$1T');
	if (TIME_OF_DAY.test(text)) {
		// This field is in the workflow's time zone, but the service reads a time of day as Indian time.
		return field === 'Date and Time'
			? notUnderstood(schedule, WITHOUT_DATE)
			: { value: text.padStart(5, '0') };
	}
	if (WALL_CLOCK.test(text)) {
		return field === 'Time in India' ? notUnderstood(schedule) : wallClock(schedule, text);
	}
	if (!OFFSET.test(text)) return notUnderstood(schedule);
	const at = DateTime.fromISO(text, { setZone: true });
	// Rare forms of ISO 8601, such as 20270131T183000+0530, are converted, because the service may not know them.
	return moment(schedule, at, COMMON_FORM.test(text) ? text : undefined);
}

/** Sends a time as entered if it's in the common form. Otherwise, converts it. */
function moment(schedule: Schedule, at: DateTime, written?: string): Checked<string> {
	return at.isValid ? { value: written ?? withOffset(at) } : notUnderstood(schedule);
}

/** A date and time without an offset. Unambiguous from the date picker, ambiguous from an expression. */
function wallClock(schedule: Schedule, text: string): Checked<string> {
	const { field, value, zone, picked } = schedule;
	const at = DateTime.fromISO(text, { zone });
	if (!at.isValid) return notUnderstood(schedule);
	if (!picked) {
		return problem(
			`'${field}' needs a UTC offset (got ${quoted(value)})`,
			givenAs(
				field,
				`Add the offset, such as ${withOffset(at)}, or end the expression with .toDateTime(), which uses the workflow's time zone (${zone}).`,
			),
		);
	}
	// Luxon would move a time that the clocks skip.
	if (withOffset(at).slice(0, 16) !== text.slice(0, 16)) {
		return problem(
			`'${field}' is a time that doesn't exist in ${zone}, because the clocks go forward (got ${quoted(value)})`,
			forEveryone('Choose an earlier or later time.'),
		);
	}
	// In the hour that occurs twice, Luxon's choice depends on today's date, so always use the first one.
	return moment(schedule, at.getPossibleOffsets()[0] ?? at);
}

/** What each field takes, and what to do about another value. */
const EXPECTED: Record<Schedule['field'], [kind: string, advice: string]> = {
	'Date and Time': [
		'a date and time',
		'Select one, or enter one with its UTC offset, such as 2027-01-31T18:30:00+05:30.',
	],
	'Time in India': ['a 24-hour time', 'Enter a time such as 18:30.'],
	'When to Call': [
		'a time',
		'Use a 24-hour time in India such as 18:30, or a date and time with its offset such as 2027-01-31T18:30:00+05:30.',
	],
};

const WITHOUT_DATE = "Select the date, too, or set 'When to Call' to 'At a Time of Day in India'.";

function notUnderstood({ field, value }: Schedule, otherAdvice?: string): Checked<string> {
	const [kind, advice] = EXPECTED[field];
	return problem(
		`'${field}' must be ${kind} (got ${quoted(value)})`,
		givenAs(field, otherAdvice ?? advice),
	);
}
