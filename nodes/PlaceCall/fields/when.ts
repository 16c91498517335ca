import type { INodeProperties } from 'n8n-workflow';
import { InvalidInput } from '../../core/service/errors';
import { givenAs } from '../../core/service/modelFormats';
import type { Fields } from '../../host/forms/fields';
import { shownOnlyAt, textInTools } from '../../host/forms/shownWhere';
import { withLatinDigits } from '../../core/values/text';
import { isUnset, quoted } from '../../core/values/values';
import type { Schedule } from '../callTime';
import {
	DAY_MINUTES,
	hasOffset,
	minuteOfDay,
	parseTime,
	withOffset,
} from '../../core/values/dates';

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
			"When the service places the call. The node gets the call ID immediately in all cases. A scheduled call can't be canceled from n8n, not even by stopping the execution.",
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
	description:
		'A time in Indian Standard Time (IST), such as 18:30 or 6:30 pm. Seconds are ignored. If it has passed today, the call is placed tomorrow.',
};

const dateAndTime: INodeProperties = {
	displayName: 'Date and Time',
	name: 'scheduledAt',
	type: 'dateTime',
	default: '',
	required: true,
	description:
		'A time that you pick is in the time zone of this workflow (Settings > Timezone in its menu). An expression must return a date, or text with a UTC offset such as 2027-01-31T18:30:00+05:30.',
};

export const when: INodeProperties[] = [
	...whenToCall,
	shownOnlyAt(timeInIndia, 'when', 'timeOfDay'),
	shownOnlyAt(dateAndTime, 'when', 'dateTime'),
];

/** `picked`: in the editor, in the workflow's time zone. */
type EnteredTime = { field: Schedule['field']; value: unknown; picked: boolean };

/** Undefined to call now. */
export function readSchedule(form: Fields, zone: string): Schedule | undefined {
	const entered = enteredTime(form);
	if (entered === undefined) return undefined;
	return { at: scheduledAt(entered, zone), field: entered.field, zone };
}

/** The field that has the time, depending on 'When to Call'. A model enters the time there. */
function enteredTime(form: Fields): EnteredTime | undefined {
	const chosen = form.text('when');
	if (/^now$/i.test(chosen)) return undefined;
	if (chosen === 'timeOfDay') {
		const value = form.clock('scheduledTime');
		return { field: 'Time in India', value, picked: false };
	}
	if (chosen === 'dateTime') {
		const value = form.time('scheduledAt');
		return { field: 'Date and Time', value, picked: form.expression('scheduledAt') === '' };
	}
	return { field: 'When to Call', value: chosen, picked: false };
}

const WALL_CLOCK = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;

/** `scheduled_at` of the request: `HH:MM` in IST, or ISO 8601 with offset. */
function scheduledAt({ field, value, picked }: EnteredTime, zone: string): string {
	if (isUnset(value)) {
		throw new InvalidInput(
			`'${field}' is empty`,
			givenAs(field, "Enter a time, or set 'When to Call' to 'Now'."),
		);
	}
	const text = withLatinDigits(String(value));
	// The service reads a time of day as Indian time, so 'Date and Time' takes none, and 'Time in India' nothing else.
	const minute = minuteOfDay(typeof value === 'number' ? value : text.replace(INDIAN_TIME, ''));
	if (minute < DAY_MINUTES && field !== 'Date and Time') return clockTime(minute);
	const at = parseTime(value, zone);
	// Only a picked time is certainly in the zone of the workflow.
	const isClear = typeof value === 'object' || hasOffset(text) || (picked && WALL_CLOCK.test(text));
	const isDate = at.isValid && isClear && at.year > SPREADSHEET_EPOCH;
	if (isDate && field !== 'Time in India') return withOffset(at);
	const [kind, advice] = EXPECTED[field];
	throw new InvalidInput(
		`'${field}' must be ${kind} (got ${quoted(value)})`,
		givenAs(field, advice),
	);
}

/** Its zone, if it's written. */
const INDIAN_TIME = / ?\bIST$/i;

/** Spreadsheets store a time without a date as one of 1899, 1900, or 1904. */
const SPREADSHEET_EPOCH = 1904;

/** `HH:MM` */
function clockTime(minute: number): string {
	return [Math.floor(minute / 60), minute % 60]
		.map((part) => String(part).padStart(2, '0'))
		.join(':');
}

/** What each field takes, and what to do about another value. */
const EXPECTED: Record<Schedule['field'], [kind: string, advice: string]> = {
	'Date and Time': [
		'a date and time with a UTC offset',
		// n8n reads other text in the time zone of its process, as in a container without TZ, UTC.
		"Select one, or enter one such as 2027-01-31T18:30:00+05:30. For text such as 2027-01-31 18:30, an expression can end with .toDateTime(), which uses the workflow's time zone. For other dates of a sheet, use an expression such as {{ DateTime.fromFormat($json.date, 'dd/MM/yyyy HH:mm') }}, and format the column as text in the sheet.",
	],
	'Time in India': [
		'a time of day',
		`Enter a time such as 18:30 or 6:30 pm. If an expression returns a date, set 'When to Call' to 'At a Date and Time', or end it with .toFormat("HH:mm"). For times of a sheet, format the column as text in the sheet.`,
	],
	'When to Call': [
		'a time',
		'Use a 24-hour time in India such as 18:30, or a date and time with its offset such as 2027-01-31T18:30:00+05:30.',
	],
};
