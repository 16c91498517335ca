import { DateTime } from 'luxon';
import { callWith, messageOf } from '../callForm';

const FIELDS = {
	'Date and Time': { when: 'dateTime', name: 'scheduledAt' },
	'Time in India': { when: 'timeOfDay', name: 'scheduledTime' },
} as const;

type Setting = { field?: keyof typeof FIELDS | 'When to Call'; picked?: boolean; zone?: string };

/** `scheduled_at` of the call with this value, from an expression or the date picker. */
function schedule(
	value: unknown,
	{ field = 'Date and Time', picked = false, zone = 'Asia/Kolkata' }: Setting = {},
): string | undefined {
	if (field === 'When to Call') return callWith({ when: value }, zone).request.scheduled_at;
	const { when, name } = FIELDS[field];
	const expressions = picked ? {} : { [name]: '={{ $json.at }}' };
	return callWith({ when, [name]: value }, zone, expressions).request.scheduled_at;
}

const messageFor = (value: unknown, over: Setting = {}) => messageOf(() => schedule(value, over));

const ISO = '2026-11-20T18:30:00+05:30';

test('a model may write now in any form', () => {
	expect(schedule(' Now ', { field: 'When to Call' })).toBeUndefined();
});

test.each(['Time in India', 'When to Call'] as const)("a time of day in '%s'", (field) => {
	for (const [value, sent] of [
		['18:30', '18:30'],
		['00:00', '00:00'],
		['23:59', '23:59'],
		[' 9:05 ', '09:05'],
		['9am', '09:00'],
		['6:30 PM', '18:30'],
		['12 a.m.', '00:00'],
		['18:30:00', '18:30'],
		['6:30:00 PM', '18:30'],
		['9.30am', '09:30'],
		['6.30', '06:30'],
		['१८:३०', '18:30'],
		['18:30 IST', '18:30'],
		['0.7708333333', '18:30'],
	]) {
		expect(schedule(value, { field })).toBe(sent);
	}
	for (const value of ['24:00', '12:60', '13 pm', '0.30', '9.3', '1830', 'noon', 'IST']) {
		const message = / must be a time( of day)? \(got ".*such as 18:30/;
		expect(messageFor(value, { field })).toMatch(message);
	}
});

test.each<[unknown, string]>([
	[0.77, '18:29'],
	[0.25, '06:00'],
	[DateTime.fromISO(ISO, { setZone: true }), ISO],
	[DateTime.fromISO(ISO, { zone: 'Asia/Kolkata' }), ISO],
])('%p of an expression in Time in India is sent as %s', (value, sent) => {
	expect(schedule(value, { field: 'Time in India' })).toBe(sent);
});

test.each<[what: string, value: unknown, sent: string]>([
	['with an offset', ISO, ISO],
	['without seconds', '2026-11-20T18:30+05:30', ISO],
	['with milliseconds', '2026-11-20T18:30:00.250+05:30', ISO],
	['in UTC', '2026-11-20T13:00:00Z', '2026-11-20T13:00:00+00:00'],
	['with a space instead of the T', '2026-11-20 18:30:00+05:30', ISO],
	['without separators', '20261120T183000+0530', ISO],
	['with a short offset', '2026-11-20T18:30:00+0530', ISO],
	[
		'as a DateTime, which keeps its own zone',
		DateTime.fromISO('2026-11-20T18:30:00', { zone: 'Europe/Berlin' }),
		'2026-11-20T18:30:00+01:00',
	],
	[
		'as a DateTime in UTC and another locale',
		DateTime.utc(2026, 11, 20, 18, 30).setLocale('ar-EG'),
		'2026-11-20T18:30:00+00:00',
	],
	['as a date, in the zone of the workflow', new Date('2026-11-20T13:00:00Z'), ISO],
])('a time %s is sent as %s', (_what, value, sent) => {
	expect(schedule(value)).toBe(sent);
});

test.each([
	['2026-11-20T18:30:00', 'Asia/Kolkata', ISO],
	['2026-07-20T18:30:00', 'America/New_York', '2026-07-20T18:30:00-04:00'],
	['2026-11-20 18:30', 'UTC', '2026-11-20T18:30:00+00:00'],
	['2027-03-28T03:30:00', 'Europe/Berlin', '2027-03-28T03:30:00+02:00'],
])('%s picked in %s is sent as %s', (value, zone, sent) => {
	expect(schedule(value, { picked: true, zone })).toBe(sent);
});

const isNoDate = (value: string) =>
	`'Date and Time' must be a date and time with a UTC offset (got "${value}"). Select one, or enter one such as 2027-01-31T18:30:00+05:30.`;
const isEmpty = "'Date and Time' is empty. Enter a time, or set 'When to Call' to 'Now'.";
const isNoTime = (value: string) =>
	`'Time in India' must be a time of day (got "${value}"). Enter a time such as 18:30 or 6:30 pm. For times of a sheet, format the column as text in the sheet.`;
const inIndia: Setting = { field: 'Time in India' };

test.each<[value: unknown, setting: Setting, message: string]>([
	['   ', {}, isEmpty],
	[null, {}, isEmpty],
	['31/12/2027 17:00', {}, isNoDate('31/12/2027 17:00')],
	['18:30', {}, isNoDate('18:30')],
	['6 o clock', inIndia, isNoTime('6 o clock')],
	['0.25', inIndia, isNoTime('0.25')],
	[9.3, inIndia, isNoTime('9.3')],
	[46_354.77, inIndia, isNoTime('46354.77')],
	[46_354.77, {}, isNoDate('46354.77')],
	['1899-12-30T18:30:00.000Z', inIndia, isNoTime('1899-12-30T18:30:00.000Z')],
	[new Date('1899-12-30T18:30:00.000Z'), {}, isNoDate('1899-12-30T18:30:00.000Z')],
	[
		DateTime.fromISO('2027-01-31T18:30', { zone: 'America/New_York' }),
		inIndia,
		`'Time in India' must be a time in India (got "2027-01-31T18:30:00-05:00", America/New_York). For the time of day in this date, end the expression with .toFormat("HH:mm"). For its moment, set 'When to Call' to 'At a Date and Time'.`,
	],
	[
		new Date('2027-01-31T18:30:00Z'),
		{ ...inIndia, zone: 'UTC' },
		`'Time in India' must be a time in India (got "2027-01-31T18:30:00+00:00", UTC)`,
	],
	[[ISO], inIndia, "'Time in India' must be a time of day (got a list)"],
	['2027-12-31 17:00', inIndia, isNoTime('2027-12-31 17:00')],
	[
		'soon',
		{ field: 'When to Call' },
		`'When to Call' must be a time (got "soon"). Use a 24-hour time in India such as 18:30, or a date and time with its offset such as 2027-01-31T18:30:00+05:30.`,
	],
	['2026-11-20T18:30:00', {}, isNoDate('2026-11-20T18:30:00')],
	...['2026-02-30T10:00:00', '2026-02-30T10:00:00+05:30', '2026-11-20T25:00:00Z', '2026-11-20']
		.flatMap((value) => [true, false].map((picked) => ({ value, picked })))
		.map(({ value, picked }): [unknown, Setting, string] => [value, { picked }, isNoDate(value)]),
	[DateTime.invalid('unparsable'), {}, 'must be a date and time with a UTC offset (got '],
	[new Date('nonsense'), {}, 'must be a date and time with a UTC offset (got '],
])('%p with %j is rejected', (value, setting, message) => {
	expect(messageFor(value, setting)).toContain(message);
});
