import fc from 'fast-check';
import { DateTime, Settings } from 'luxon';
import {
	callTime,
	requirePossibleTime,
	type CallingHours,
	type TimeSettings,
} from '../../../nodes/PlaceCall/callTime';
import { NotPlaced } from '../../../nodes/PlaceCall/notPlaced';
import { messageOf } from './callForm';

const at = (iso: string) => DateTime.fromISO(iso, { setZone: true });

const WORKING_HOURS: CallingHours = {
	days: new Set([1, 2, 3, 4, 5]),
	from: 9 * 60,
	to: 18 * 60,
	zone: 'Asia/Kolkata',
	except: [],
	outside: 'schedule',
};
const EVERY_DAY = new Set([1, 2, 3, 4, 5, 6, 7]);

const settingsOf = (over: Partial<TimeSettings> = {}): TimeSettings => ({
	scheduledAt: undefined,
	schedule: over.scheduledAt === undefined ? undefined : scheduleIn('Asia/Kolkata'),
	hours: undefined,
	isLimited: false,
	...over,
});
const scheduleIn = (zone: string) => ({
	field: 'Date and Time' as const,
	value: undefined,
	zone,
	picked: false,
});

/** Whether a moment is within the hours, by their definition. */
function isOpen({ days, from, to, zone, except }: CallingHours, moment: DateTime): boolean {
	const local = moment.setZone(zone);
	const minute = local.hour * 60 + local.minute;
	const isExcepted = (day: DateTime) =>
		except.some(({ first, last }) => {
			const date = day.toISODate() ?? '';
			return date >= first && date <= last;
		});
	const startsOn = (day: DateTime) => days.has(day.weekday) && !isExcepted(day);
	if (from < to) return minute >= from && minute < to && startsOn(local);
	if (minute >= from) return startsOn(local);
	return minute < to && !isExcepted(local) && startsOn(local.minus({ days: 1 }));
}

/** The first minute within the hours, by trying each one. */
function byTheMinute(hours: CallingHours, from: DateTime): number | undefined {
	if (isOpen(hours, from)) return from.toMillis();
	let minute = Math.floor(from.toMillis() / 60_000) + 1;
	for (const end = minute + 17 * 24 * 60; minute < end; minute++) {
		const moment = DateTime.fromMillis(minute * 60_000, { zone: hours.zone });
		if (isOpen(hours, moment)) return moment.toMillis();
	}
	return undefined;
}

const someHours = fc
	.record({
		days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 7 }),
		from: fc.integer({ min: 0, max: 95 }),
		to: fc.integer({ min: 0, max: 96 }),
		zone: fc.constantFrom(
			'Asia/Kolkata',
			'Europe/Berlin',
			'America/New_York',
			'America/Santiago',
			'Africa/Cairo',
			'Australia/Lord_Howe',
			'Asia/Kathmandu',
			'UTC',
		),
	})
	.filter(({ from, to }) => from !== to)
	.map(
		({ days, from, to, zone }): CallingHours => ({
			days: new Set(days),
			from: from * 15,
			to: to * 15,
			zone,
			except: [],
			outside: 'schedule',
		}),
	);
/** Mostly near clock changes in Berlin, New York, Santiago, Cairo, and on Lord Howe Island. */
const someMoment = fc
	.oneof(
		fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2028-01-01') }),
		fc
			.tuple(
				fc.constantFrom(
					'2027-03-28',
					'2026-10-25',
					'2027-03-14',
					'2026-11-01',
					'2027-04-04',
					'2026-09-06',
					'2027-04-30',
					'2026-10-30',
					'2026-10-04',
				),
				fc.integer({ min: -86_400_000, max: 2 * 86_400_000 }),
			)
			.map(([day, off]) => Date.parse(day) + off),
	)
	.map((ms) => DateTime.fromMillis(ms, { zone: 'utc' }));

/** Ranges in the days after a moment, as offset and length in days. */
const someRanges = fc.array(fc.tuple(fc.integer({ min: -1, max: 5 }), fc.nat({ max: 2 })), {
	maxLength: 2,
});

describe('the next opening', () => {
	test('is the first minute within the hours, in every zone, across every clock change, and with exceptions', () => {
		fc.assert(
			fc.property(someHours, someMoment, someRanges, (weekly, moment, ranges) => {
				const dateAfter = (days: number) =>
					moment.setZone(weekly.zone).plus({ days }).toISODate() ?? '';
				const except = ranges.map(([offset, length]) => ({
					first: dateAfter(offset),
					last: dateAfter(offset + length),
				}));
				const hours = { ...weekly, except };
				const { planned } = callTime(settingsOf({ hours }), moment);
				expect(planned.toMillis()).toBe(byTheMinute(hours, moment));
			}),
			{ numRuns: 200 },
		);
	});

	const night = { from: 22 * 60, to: 6 * 60 };
	const berlin = { days: EVERY_DAY, zone: 'Europe/Berlin' };
	const christmas = { first: '2026-12-25', last: '2027-01-03' };
	const whole = { days: new Set([1]), from: 0, to: 24 * 60 };

	test.each<[string, Partial<CallingHours>, from: string, opening: string]>([
		['within', {}, '2026-11-20T12:00:00+05:30', '2026-11-20T12:00:00+05:30'],
		['the first minute', {}, '2026-11-20T09:00:00+05:30', '2026-11-20T09:00:00+05:30'],
		['the second before', {}, '2026-11-20T08:59:59+05:30', '2026-11-20T09:00:00+05:30'],
		['the last second', {}, '2026-11-20T17:59:59+05:30', '2026-11-20T17:59:59+05:30'],
		['the end', {}, '2026-11-20T18:00:00+05:30', '2026-11-23T09:00:00+05:30'],
		['over midnight', night, '2026-11-21T05:59:00+05:30', '2026-11-21T05:59:00+05:30'],
		['the end after midnight', night, '2026-11-21T06:00:00+05:30', '2026-11-23T22:00:00+05:30'],
		['a whole day', whole, '2026-11-23T23:59:59+05:30', '2026-11-23T23:59:59+05:30'],
		['after a whole day', whole, '2026-11-24T00:00:00+05:30', '2026-11-30T00:00:00+05:30'],
		[
			'a time that the clocks skip',
			{ ...berlin, from: 150, to: 300 },
			'2027-03-28T01:00:00+01:00',
			'2027-03-28T03:00:00+02:00',
		],
		[
			'hours that come back with the clocks',
			{ ...berlin, from: 90, to: 135 },
			'2026-10-25T02:20:00+02:00',
			'2026-10-25T02:00:00+01:00',
		],
		[
			'hours that the clocks skip, a week later',
			{ ...berlin, days: new Set([7]), from: 120, to: 150 },
			'2027-03-27T12:00:00+01:00',
			'2027-04-04T02:00:00+02:00',
		],
		[
			'after a range of excepted dates',
			{ except: [christmas] },
			'2026-12-24T22:00:00+05:30',
			'2027-01-04T09:00:00+05:30',
		],
	])('%s', (_what, over, from, expected) => {
		const hours = { ...WORKING_HOURS, ...over };
		const { planned } = callTime(settingsOf({ hours }), at(from));
		expect(planned.toMillis()).toBe(at(expected).toMillis());
	});

	test('within a year is required', () => {
		const year = { first: '2026-01-01', last: '2028-12-31' };
		const read = (...except: CallingHours['except']) =>
			requirePossibleTime(
				settingsOf({ hours: { ...WORKING_HOURS, except } }),
				at('2026-11-20T20:00:00+05:30'),
			);
		expect(messageOf(() => read(christmas, year))).toBe(
			`'Calling Hours' leave no time to call within a year, because 'Calling Hours Except On' has "2026-12-25 to 2027-01-03, 2026-01-01 to 2028-12-31". Remove dates from 'Calling Hours Except On'.`,
		);
	});
});

const NOON = '2026-11-20T12:00:00+05:30';
const EVENING = '2026-11-20T19:00:00+05:30';
const NEXT_OPENING = '2026-11-23T09:00:00+05:30';
const IN_NEW_YORK = { ...WORKING_HOURS, zone: 'America/New_York' };

describe('a call goes', () => {
	type Case = [
		string,
		over: Partial<TimeSettings>,
		now: string,
		sent: string | undefined,
		planned: string,
	];
	const hours = WORKING_HOURS;
	const limited = { isLimited: true };

	test.each<Case>([
		['now', {}, EVENING, undefined, EVENING],
		[
			'at a date',
			{ scheduledAt: '2026-11-24T10:00:00Z' },
			NOON,
			'2026-11-24T10:00:00Z',
			'2026-11-24T10:00:00Z',
		],
		[
			'at a time of day, on the day that the service chooses',
			{ scheduledAt: '17:00' },
			NOON,
			'17:00',
			'2026-11-20T17:00:00+05:30',
		],
		['now, within the hours', { hours }, NOON, undefined, NOON],
		['now, in the evening', { hours }, EVENING, NEXT_OPENING, NEXT_OPENING],
		[
			'later, within',
			{ hours, scheduledAt: '2026-11-24T10:00:00Z' },
			EVENING,
			'2026-11-24T10:00:00Z',
			'2026-11-24T10:00:00Z',
		],
		[
			'later, outside',
			{ hours, scheduledAt: '2026-11-24T20:00:00+05:30' },
			NOON,
			'2026-11-25T09:00:00+05:30',
			'2026-11-25T09:00:00+05:30',
		],
		[
			'at a time of day of today',
			{ hours, scheduledAt: '17:00' },
			NOON,
			'2026-11-20T17:00:00+05:30',
			'2026-11-20T17:00:00+05:30',
		],
		// Tomorrow would be a Saturday.
		[
			'at a time of day of tomorrow',
			{ hours, scheduledAt: '10:00' },
			NOON,
			NEXT_OPENING,
			NEXT_OPENING,
		],
		// It's the current minute, so the service would use the next day.
		[
			'at the time of day that it is',
			{ hours, scheduledAt: '12:00' },
			NOON,
			NEXT_OPENING,
			NEXT_OPENING,
		],
		[
			'at a time of day in India, for a person elsewhere',
			{ hours: IN_NEW_YORK, scheduledAt: '10:00' },
			NOON,
			'2026-11-23T09:00:00-05:00',
			'2026-11-23T09:00:00-05:00',
		],
		['now, with a limit', limited, EVENING, undefined, EVENING],
		[
			'at a time of day with a limit, on a certain day',
			{ ...limited, scheduledAt: '18:00' },
			EVENING,
			'2026-11-21T18:00:00+05:30',
			'2026-11-21T18:00:00+05:30',
		],
	])('%s', (_when, over, now, sent, planned) => {
		const time = callTime(settingsOf(over), at(now));
		expect(time.scheduledAt).toBe(sent);
		expect(time.planned.toMillis()).toBe(at(planned).toMillis());
	});

	test('at any requested and any sending time, within the hours and not before its time', () => {
		const somewhen = fc.option(fc.integer({ min: 1, max: 3 * 86_400_000 }), { nil: undefined });
		fc.assert(
			fc.property(someHours, someMoment, somewhen, (some, now, ahead) => {
				const wanted = ahead === undefined ? now : now.plus(ahead);
				const scheduledAt = ahead === undefined ? undefined : (wanted.toISO() ?? undefined);
				const { planned, scheduledAt: sent } = callTime(
					settingsOf({ hours: some, scheduledAt }),
					now,
				);
				expect(isOpen(some, planned)).toBe(true);
				expect(planned >= wanted).toBe(true);
				expect(sent === undefined ? now : at(sent)).toEqual(
					sent === undefined ? planned : at(sent),
				);
				if (sent !== undefined) expect(Math.abs(+at(sent) - +planned)).toBeLessThan(1_000);
			}),
			{ numRuns: 300 },
		);
	});
});

test.each([undefined, '2026-11-20T22:00:00+05:30', '21:00'])(
	"a call outside the hours isn't placed if set: %p",
	(scheduledAt) => {
		const hours = { ...WORKING_HOURS, outside: 'notPlaced' as const };
		const decide = () => callTime(settingsOf({ hours, scheduledAt }), at(EVENING));
		expect(decide).toThrow(NotPlaced);
		expect(decide).toThrow("The call wasn't placed, because it's outside the calling hours");
		// Checks before the first call don't keep it back, because other items are placed.
		requirePossibleTime(settingsOf({ hours, scheduledAt }), at(EVENING));
	},
);

describe('a time that has passed', () => {
	const pastMessage = (scheduledAt: string, now: string, over: Partial<TimeSettings> = {}) =>
		messageOf(() => callTime(settingsOf({ scheduledAt, ...over }), at(now)));

	test.each([
		['at the same moment', NOON],
		['a second ago', '2026-11-20T11:59:59+05:30'],
		['in another zone', '2026-11-20T06:00:00Z'],
	])('%s is rejected', (_what, scheduledAt) => {
		const message = /^'Date and Time' is in the past \(20 November 2026, 1/;
		expect(pastMessage(scheduledAt, NOON)).toMatch(message);
		expect(pastMessage(scheduledAt, NOON, { hours: WORKING_HOURS })).toMatch(message);
		const settings = settingsOf({ scheduledAt, hours: WORKING_HOURS });
		expect(messageOf(() => requirePossibleTime(settings, at(NOON)))).toMatch(message);
	});

	test('a second later is accepted', () => {
		const scheduledAt = '2026-11-20T12:00:01+05:30';
		expect(callTime(settingsOf({ scheduledAt }), at(NOON)).scheduledAt).toBe(scheduledAt);
	});

	test('is shown in the zone of the workflow, in English whatever the locale of the machine', () => {
		Settings.defaultLocale = 'de';
		try {
			const schedule = scheduleIn('UTC');
			expect(pastMessage('2026-05-01T08:00:00+05:30', NOON, { schedule })).toBe(
				"'Date and Time' is in the past (1 May 2026, 02:30, UTC). Choose a later time, or set 'When to Call' to 'Now'.",
			);
		} finally {
			Settings.defaultLocale = 'en';
		}
	});
});

describe('a later attempt', () => {
	const settings = (over: Partial<TimeSettings> = {}) =>
		settingsOf({ scheduledAt: '12:01', ...over });
	const later = '2026-11-20T12:02:00+05:30';

	test.each<[string, Partial<TimeSettings>]>([
		['alone', {}],
		['with hours', { hours: WORKING_HOURS }],
		['with a limit', { isLimited: true }],
	])('after the time of day of the first one places no call on the next day: %s', (_what, over) => {
		expect(() => callTime(settings(over), at(later), at(NOON))).toThrow('is in the past');
		const { planned } = callTime(settings(over), at(NOON), at(NOON));
		expect(planned.toMillis()).toBe(at('2026-11-20T12:01:00+05:30').toMillis());
	});

	test('after its time and the hours is for their next opening', () => {
		const scheduledAt = '2026-11-20T17:59:30+05:30';
		const late = settingsOf({ scheduledAt, hours: WORKING_HOURS });
		expect(callTime(late, at(EVENING), at(NOON)).scheduledAt).toBe(NEXT_OPENING);
	});

	test('after the hours have ended is for their next opening', () => {
		const settingsNow = settingsOf({ hours: WORKING_HOURS });
		const before = at('2026-11-20T17:59:50+05:30');
		expect(callTime(settingsNow, before, before).scheduledAt).toBeUndefined();
		expect(callTime(settingsNow, at(EVENING), before).scheduledAt).toBe(NEXT_OPENING);
	});
});
