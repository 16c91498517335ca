import type { INodeProperties } from 'n8n-workflow';
import { InvalidInput } from '../../core/service/errors';
import { onScreenOnly } from '../../core/service/resolution';
import { type Fields, MAY_BE_BLANK } from '../../host/forms/fields';
import type { TimeValue } from '../../host/forms/fieldValue';
import { shownWhere } from '../../host/forms/shownWhere';
import { DAY_MINUTES, minuteOfDay } from '../../core/values/dates';
import { isUnset, parseList, quoted } from '../../core/values/values';
import type { CallingHours } from '../callTime';
import { timeZone } from './timeZone';

const WEEK = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

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
		options: WEEK.map((name) => ({ name, value: name.toLowerCase() })),
		default: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'],
		required: true,
		description:
			'The days on which people may be called. An expression can return a list of English names, or text such as Mon-Fri, Sun.',
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
		type: 'resourceLocator',
		default: { mode: 'list', value: '' },
		description:
			"The time zone of the people to call. If it's empty, it's that of their 'Country', where the time must be the same everywhere, as in India. Find it by a country, a city, or an abbreviation such as IST. An expression can return one per item.",
		modes: [
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				placeholder: 'That of the country',
				typeOptions: { searchListMethod: 'searchTimeZones', searchable: true },
			},
			{
				displayName: 'By Name',
				name: 'id',
				type: 'string',
				placeholder: 'e.g. Asia/Kolkata',
			},
		],
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
	const days = daysIn(form.textOrList('callingDays'));
	const [start, end] = [form.clock('callingFrom'), form.clock('callingUntil')];
	const from = timeOfDay('Calling From', start);
	const to = timeOfDay('Calling Until', end);
	const zone = timeZone(form.text('timeZone', MAY_BE_BLANK), country);
	if (to <= from) throw endsTooEarly(start, end);
	const isScheduled = form.has(outside.name) && form.choice(outside.name, '') === 'schedule';
	return { days, from, to, zone, outside: isScheduled ? 'schedule' : 'notPlaced' };
}

/** Such as 9:00 to 6:00 for an evening. Hours that end on the next day would call people at night. */
function endsTooEarly(from: TimeValue, until: TimeValue): InvalidInput {
	return new InvalidInput(
		`'Calling Until' must be later than 'Calling From' (got ${quoted(from)} to ${quoted(until)})`,
		onScreenOnly(
			'Enter times such as 09:00 and 18:00, or 9 am and 6 pm. For the whole day, enter 00:00 and 24:00.',
		),
	);
}

const MIN_DAY_NAME_LENGTH = 3;

/** Chosen days, or text such as `Mon-Wed, Sat`. */
function daysIn(given: string | string[]): Set<number> {
	const resolution = onScreenOnly(
		'Choose the days on which people may be called, or let an expression return them, such as Mon-Wed, Sat.',
	);
	const days = new Set<number>();
	for (const part of parseList(given)) {
		const [first = 0, last = first, ...more] = part.split(/[-–]/).map(dayNumber);
		if (first === 0 || last === 0 || more.length > 0) {
			const what = `'Calling Days' must list weekdays (got ${quoted(part)})`;
			throw new InvalidInput(what, resolution);
		}
		days.add(first);
		for (let day = first; day !== last; days.add(day)) day = (day % WEEK.length) + 1;
	}
	if (days.size === 0) throw new InvalidInput("'Calling Days' is empty", resolution);
	return days;
}

/** From 1 for Monday. 0 if it isn't a day. */
function dayNumber(written: string): number {
	const name = written.trim().toLowerCase();
	if (name.length < MIN_DAY_NAME_LENGTH) return 0;
	return WEEK.findIndex((day) => day.toLowerCase().startsWith(name)) + 1;
}

function timeOfDay(field: string, value: TimeValue): number {
	// The hours have a time zone of their own, and a date has another one.
	const resolution = onScreenOnly(
		'Enter a time such as 09:00, 9am, or 6:30 pm. If an expression returns a date, end it with .toFormat("HH:mm"). For times of a sheet, format the column as text in the sheet.',
	);
	if (isUnset(value)) {
		throw new InvalidInput(`'${field}' is empty`, resolution);
	}
	const minute = minuteOfDay(value);
	if (minute <= DAY_MINUTES) return minute;
	throw new InvalidInput(`'${field}' must be a time of day (got ${quoted(value)})`, resolution);
}
