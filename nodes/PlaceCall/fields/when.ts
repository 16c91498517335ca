/** When a call is placed: at once or at a time, within which hours, and how often. From these fields, `callTime.ts` decides. */
import get from 'lodash/get';
import invoke from 'lodash/invoke';
import upperFirst from 'lodash/upperFirst';
import { IANAZone } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import { countryName } from '../../core/phone/countries';
import { InvalidInput } from '../../core/service/errors';
import { enter } from '../../core/service/modelFormats';
import {
	DAY_MINUTES,
	hasOffset,
	minuteOfDay,
	parseTime,
	withOffset,
} from '../../core/values/dates';
import { withLatinDigits } from '../../core/values/text';
import { isUnset, quoted } from '../../core/values/values';
import { type Fields, MAY_BE_BLANK } from '../../host/forms/fields';
import type { TimeValue } from '../../host/forms/fieldValue';
import { shownOnlyAt, shownWhere, textInTools } from '../../host/forms/shownWhere';
import type { CallingHours, Schedule } from '../callTime';

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
			"When the service places the call. A scheduled call can't be canceled from n8n, not even by stopping the execution.",
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
		'A time in India, such as 18:30 or 6:30 pm. If it has passed today, the call is placed tomorrow.',
};

const dateAndTime: INodeProperties = {
	displayName: 'Date and Time',
	name: 'scheduledAt',
	type: 'dateTime',
	default: '',
	required: true,
	description:
		'In the time zone of this workflow. An expression must return a date, or text with a UTC offset such as 2027-01-31T18:30:00+05:30.',
};

export const when: INodeProperties[] = [
	...whenToCall,
	shownOnlyAt(timeInIndia, 'when', 'timeOfDay'),
	shownOnlyAt(dateAndTime, 'when', 'dateTime'),
];

const TIME_ADVICE =
	'Enter a time such as 18:30 or 6:30 pm. In n8n, end an expression that returns a date with .toFormat("HH:mm"), and format times of a sheet as text in the sheet.';

/** What each field takes, and what to do about another value. */
const EXPECTED: Record<Schedule['field'], [kind: string, advice: string]> = {
	'Time in India': ['a time of day', TIME_ADVICE],
	'Date and Time': [
		'a date and time with a UTC offset',
		// n8n reads other text in the time zone of its process, as in a container without TZ, UTC.
		"Select one, or enter one such as 2027-01-31T18:30:00+05:30. In n8n, format dates of a sheet as text, and use an expression such as {{ DateTime.fromFormat($json.date, 'dd/MM/yyyy HH:mm') }}.",
	],
	'When to Call': ['a time', enter('When to Call')],
};

/**
 * Undefined to call now. The service reads a time of day as Indian time, so 'Date and Time' takes none, and 'Time in India'
 * nothing else. A model enters either in 'When to Call'.
 *
 * @param zone the time zone of the workflow
 */
export function readSchedule(form: Fields, zone: string): Schedule | undefined {
	const chosen = form.text('when');
	if (/^now$/i.test(chosen)) return undefined;
	switch (chosen) {
		case 'timeOfDay': {
			const value = form.time('scheduledTime') ?? '';
			return scheduled('Time in India', value, clockTime(value));
		}
		case 'dateTime': {
			const value = form.time('scheduledAt') ?? '';
			const isPicked = form.expression('scheduledAt') === '';
			return scheduled('Date and Time', value, dateIn(value, isPicked, zone));
		}
		default:
			return scheduled('When to Call', chosen, clockTime(chosen) ?? dateIn(chosen, false, zone));
	}
}

function scheduled(field: Schedule['field'], value: TimeValue, at: string | undefined): Schedule {
	if (at !== undefined) return { at, field };
	if (isUnset(value)) {
		throw new InvalidInput(`'${field}' is empty`, enter(field));
	}
	const [kind, advice] = EXPECTED[field];
	const message = `'${field}' must be ${kind} (got ${quoted(value)})`;
	throw new InvalidInput(message, advice);
}

/** `HH:MM` */
function clockTime(value: TimeValue): string | undefined {
	const minute = minuteOfDay(value);
	if (!(minute < DAY_MINUTES)) return undefined;
	const parts = [Math.floor(minute / 60), minute % 60];
	return parts.map((part) => String(part).padStart(2, '0')).join(':');
}

/** ISO 8601 with an offset. Only a time that was picked is certainly in the time zone of the workflow. */
function dateIn(value: TimeValue, isPicked: boolean, zone: string): string | undefined {
	const text = withLatinDigits(String(value));
	const isClear = typeof value === 'object' || hasOffset(text) || (isPicked && text.includes(':'));
	const at = parseTime(value, zone);
	return isClear && at.isValid ? withOffset(at) : undefined;
}

const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

const whenAllowed: INodeProperties = {
	displayName: 'Calling Hours',
	name: 'callingHours',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'Any Time', value: 'anyTime' },
		{
			name: 'Within Hours',
			value: 'within',
			description: 'Only on certain days, at certain hours',
		},
	],
	default: 'anyTime',
	description:
		"When people may be called, in their time zone. The service's own retries and callbacks don't follow these hours.",
};

const hours: INodeProperties[] = [
	{
		displayName: 'Calling Days',
		name: 'callingDays',
		type: 'multiOptions',
		options: DAYS.map((value) => ({ name: upperFirst(value), value })),
		default: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'],
		required: true,
		description:
			'The days on which people may be called. An expression can return them as text such as monday, tuesday.',
	},
	{
		displayName: 'Calling From',
		name: 'callingFrom',
		type: 'string',
		default: '09:00',
		required: true,
		placeholder: 'e.g. 9:00 am',
		description: 'The time at which calling starts, such as 09:00 or 9am. Seconds are ignored.',
	},
	{
		displayName: 'Calling Until',
		name: 'callingUntil',
		type: 'string',
		default: '18:00',
		required: true,
		placeholder: 'e.g. 6:30 pm',
		description:
			'The time at which calling ends, such as 18:30 or 6:30 pm. No call is placed at this time or later. Seconds are ignored.',
	},
	{
		displayName: 'Time Zone',
		name: 'timeZone',
		type: 'string',
		default: '',
		placeholder: 'e.g. Asia/Kolkata',
		description:
			"The time zone of the people to call, such as Europe/London. Needed only if their 'Country' has several.",
	},
];

const outside: INodeProperties = {
	displayName: 'Outside Calling Hours',
	name: 'outsideCallingHours',
	type: 'options',
	options: [
		{
			name: 'Do Not Place',
			value: 'notPlaced',
			description:
				'Return the item with placed set to false and the time in next_opening, for a later execution',
		},
		{
			name: 'Schedule for the Next Opening',
			value: 'schedule',
			description: "The service places the call when 'Calling Hours' start again",
		},
	],
	default: 'schedule',
	description: "What to do with a call outside 'Calling Hours'",
};

const shownWithin = (field: INodeProperties) =>
	shownWhere(field, { [whenAllowed.name]: ['within'] });

export const callingHours: INodeProperties[] = [whenAllowed, ...hours.map(shownWithin)];

/** Only of *Place*, because *Ask and Wait* schedules no call. */
export const outsideCallingHours = shownWithin(outside);

/** @throws InvalidInput if one of the fields is invalid */
export function readCallingHours(form: Fields, country: string): CallingHours | undefined {
	if (form.choice(whenAllowed.name, 'anyTime') !== 'within') return undefined;
	const [start, end] = [form.time('callingFrom') ?? '', form.time('callingUntil') ?? ''];
	const days = new Set(form.choices('callingDays').map((day) => DAYS.indexOf(day) + 1));
	if (days.size === 0) {
		throw new InvalidInput(
			"'Calling Days' is empty",
			'Choose the days on which people may be called.',
		);
	}
	const from = timeOfDay('Calling From', start);
	const to = timeOfDay('Calling Until', end);
	const zone = timeZone(form.text('timeZone', MAY_BE_BLANK), country);
	const isScheduled = form.has(outside.name) && form.choice(outside.name, '') === 'schedule';
	if (to > from) return { days, from, to, zone, isScheduled };
	// Such as 9:00 to 6:00 for an evening. Hours that end on the next day would call people at night.
	throw new InvalidInput(
		`'Calling Until' must be later than 'Calling From' (got ${quoted(start)} to ${quoted(end)})`,
		'Enter times such as 09:00 and 18:00, or 9 am and 6 pm. For the whole day, enter 00:00 and 24:00.',
	);
}

/** Not a date, which may have another time zone than the hours. */
function timeOfDay(field: string, value: TimeValue): number {
	const minute = minuteOfDay(value);
	if (minute <= DAY_MINUTES) return minute;
	throw new InvalidInput(`'${field}' must be a time of day (got ${quoted(value)})`, TIME_ADVICE);
}

/** Abbreviations such as IST are ambiguous, Etc/GMT+5 means UTC-5, and the SystemV zones are JavaScript's own. */
const CLEAR_ZONE = /^(?:utc|(?!etc\/|systemv\/)[a-z]+\/.+)$/i;

/**
 * The entered time zone, or without one, that of the country.
 *
 * @throws InvalidInput if the country has several, because another one could place calls at night
 */
function timeZone(entered: string, country: string): string {
	if (!isUnset(entered)) {
		if (CLEAR_ZONE.test(entered) && IANAZone.isValidZone(entered)) return entered;
		throw new InvalidInput(
			`'Time Zone' must be the name of a time zone (got ${quoted(entered)})`,
			"Enter the time zone of the people to call, such as Asia/Kolkata or Europe/London, or leave it empty to use that of their 'Country'.",
		);
	}
	const zone = onlyZoneOf(country);
	if (zone !== undefined) return zone;
	throw new InvalidInput(
		`'Time Zone' is empty, which is only possible in a country with one time zone (got ${quoted(countryName(country))})`,
		'Enter the time zone of the people to call, such as Europe/Berlin, or let an expression return it.',
	);
}

/**
 * Undefined if a country has several time zones. As JavaScript knows them: older versions have a property instead of the
 * method, and the older name of India's.
 */
export function onlyZoneOf(country: string): string | undefined {
	const locale: unknown = new Intl.Locale(`und-${country}`);
	const zones: unknown = invoke(locale, 'getTimeZones') ?? get(locale, 'timeZones', []);
	const names: unknown[] = Array.isArray(zones) ? zones : [];
	const [zone] = names;
	if (typeof zone !== 'string' || names.length > 1) return undefined;
	return zone === 'Asia/Calcutta' ? 'Asia/Kolkata' : zone;
}
