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
/** A time in India in November 2026. The 20th is a Friday. */
const nov = (time: string) => `2026-11-${time.length === 8 ? `${time}:00` : time}+05:30`;

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

describe('the next opening', () => {
	const night = { from: 22 * 60, to: 6 * 60 };
	const berlin = { days: EVERY_DAY, zone: 'Europe/Berlin' };
	const week = { first: '2026-11-23', last: '2026-11-29' };
	const whole = { days: new Set([1]), from: 0, to: 24 * 60 };

	test.each<[string, Partial<CallingHours>, from: string, opening: string]>([
		['within', {}, nov('20T12:00'), nov('20T12:00')],
		['the first minute', {}, nov('20T09:00'), nov('20T09:00')],
		['the second before', {}, nov('20T08:59:59'), nov('20T09:00')],
		['the last second', {}, nov('20T17:59:59'), nov('20T17:59:59')],
		['the end', {}, nov('20T18:00'), nov('23T09:00')],
		['over midnight', night, nov('21T05:59'), nov('21T05:59')],
		['the end after midnight', night, nov('21T06:00'), nov('23T22:00')],
		['a whole day', whole, nov('23T23:59:59'), nov('23T23:59:59')],
		['after a whole day', whole, nov('24T00:00'), nov('30T00:00')],
		[
			'after midnight, on an excepted date',
			{ ...night, except: [{ first: '2026-11-21', last: '2026-11-21' }] },
			nov('21T01:00'),
			nov('23T22:00'),
		],
		[
			'after midnight, if the hours start on an excepted date',
			{ ...night, except: [{ first: '2026-11-20', last: '2026-11-20' }] },
			nov('21T01:00'),
			nov('23T22:00'),
		],
		['after excepted dates', { except: [week] }, nov('20T22:00'), nov('30T09:00')],
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
			'midnight that the clocks skip',
			{ days: EVERY_DAY, zone: 'Africa/Cairo', from: 0, to: 120 },
			'2027-04-29T12:00:00+02:00',
			'2027-04-30T01:00:00+03:00',
		],
		[
			'half an hour that the clocks skip',
			{ days: EVERY_DAY, zone: 'Australia/Lord_Howe', from: 135, to: 180 },
			'2026-10-04T01:00:00+10:30',
			'2026-10-04T02:30:00+11:00',
		],
		[
			'an hour before midnight that comes back with the clocks',
			{ days: EVERY_DAY, zone: 'America/Santiago', from: 23 * 60 + 15, to: 23 * 60 + 45 },
			'2027-04-03T23:50:00-03:00',
			'2027-04-03T23:15:00-04:00',
		],
		[
			'hours that the clocks skip, a week later',
			{ ...berlin, days: new Set([7]), from: 120, to: 150 },
			'2027-03-27T12:00:00+01:00',
			'2027-04-04T02:00:00+02:00',
		],
	])('%s', (_what, over, from, expected) => {
		const hours = { ...WORKING_HOURS, ...over };
		const { planned } = callTime(settingsOf({ hours }), at(from));
		expect(planned.toMillis()).toBe(at(expected).toMillis());
	});

	test('within a year is required', () => {
		const except = [week, { first: '2026-01-01', last: '2028-12-31' }];
		const settings = settingsOf({ hours: { ...WORKING_HOURS, except } });
		expect(messageOf(() => requirePossibleTime(settings, at(nov('20T20:00'))))).toBe(
			`'Calling Hours' leave no time to call within a year, because 'Calling Hours Except On' has "2026-11-23 to 2026-11-29, 2026-01-01 to 2028-12-31". Remove dates from 'Calling Hours Except On'.`,
		);
	});
});

const NOON = nov('20T12:00');
const EVENING = nov('20T19:00');
const NEXT_OPENING = nov('23T09:00');

describe('a call goes', () => {
	const hours = WORKING_HOURS;
	const limited = { isLimited: true };
	const TUESDAY = '2026-11-24T10:00:00Z';

	test.each<
		[string, Partial<TimeSettings>, now: string, planned: string, sent: string | undefined]
	>([
		['now', {}, EVENING, EVENING, undefined],
		['at a date', { scheduledAt: TUESDAY }, NOON, TUESDAY, TUESDAY],
		[
			'at a time of day, on the day that the service chooses',
			{ scheduledAt: '17:00' },
			NOON,
			nov('20T17:00'),
			'17:00',
		],
		['now, within the hours', { hours }, NOON, NOON, undefined],
		['now, in the evening', { hours }, EVENING, NEXT_OPENING, NEXT_OPENING],
		['later, within', { hours, scheduledAt: TUESDAY }, EVENING, TUESDAY, TUESDAY],
		[
			'later, outside',
			{ hours, scheduledAt: nov('24T20:00') },
			NOON,
			nov('25T09:00'),
			nov('25T09:00'),
		],
		[
			'at a time of day of today',
			{ hours, scheduledAt: '17:00' },
			NOON,
			nov('20T17:00'),
			nov('20T17:00'),
		],
		// Tomorrow would be a Saturday.
		['at a time of tomorrow', { hours, scheduledAt: '10:00' }, NOON, NEXT_OPENING, NEXT_OPENING],
		// It's the current minute, so the service would use the next day.
		['at the current minute', { hours, scheduledAt: '12:00' }, NOON, NEXT_OPENING, NEXT_OPENING],
		[
			'at a time of day in India, for a person elsewhere',
			{ hours: { ...WORKING_HOURS, zone: 'America/New_York' }, scheduledAt: '10:00' },
			NOON,
			'2026-11-23T09:00:00-05:00',
			'2026-11-23T09:00:00-05:00',
		],
		['now, with a limit', limited, EVENING, EVENING, undefined],
		[
			'at a time of day with a limit, on a certain day',
			{ ...limited, scheduledAt: '18:00' },
			EVENING,
			nov('21T18:00'),
			nov('21T18:00'),
		],
	])('%s', (_when, over, now, planned, sent) => {
		const time = callTime(settingsOf(over), at(now));
		expect(time.scheduledAt).toBe(sent);
		expect(time.planned.toMillis()).toBe(at(planned).toMillis());
	});
});

test.each([undefined, nov('20T22:00'), '21:00'])(
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
	test.each([
		['at the same moment', NOON],
		['a second ago, in another zone', '2026-11-20T06:29:59Z'],
	])('%s is rejected', (_what, scheduledAt) => {
		const message = /^'Date and Time' is in the past \(20 November 2026, 1/;
		const settings = settingsOf({ scheduledAt, hours: WORKING_HOURS });
		for (const over of [settings, { ...settings, hours: undefined }]) {
			expect(messageOf(() => callTime(over, at(NOON)))).toMatch(message);
		}
		expect(messageOf(() => requirePossibleTime(settings, at(NOON)))).toMatch(message);
	});

	test('a second later is accepted', () => {
		const scheduledAt = nov('20T12:00:01');
		expect(callTime(settingsOf({ scheduledAt }), at(NOON)).scheduledAt).toBe(scheduledAt);
	});

	test('is shown in the zone of the workflow, in English whatever the locale of the machine', () => {
		Settings.defaultLocale = 'de';
		try {
			const scheduledAt = '2026-05-01T08:00:00+05:30';
			const settings = settingsOf({ scheduledAt, schedule: scheduleIn('UTC') });
			expect(messageOf(() => callTime(settings, at(NOON)))).toBe(
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
	const later = nov('20T12:02');

	test.each<[string, Partial<TimeSettings>]>([
		['alone', {}],
		['with hours', { hours: WORKING_HOURS }],
		['with a limit', { isLimited: true }],
	])('after the time of day of the first one places no call on the next day: %s', (_what, over) => {
		expect(() => callTime(settings(over), at(later), at(NOON))).toThrow('is in the past');
		const { planned } = callTime(settings(over), at(NOON), at(NOON));
		expect(planned.toMillis()).toBe(at(nov('20T12:01')).toMillis());
	});

	test.each([undefined, nov('20T17:59:55')])(
		'after the hours have ended is for their next opening (%s)',
		(scheduledAt) => {
			const wanted = settingsOf({ scheduledAt, hours: WORKING_HOURS });
			const before = at(nov('20T17:59:50'));
			expect(callTime(wanted, before, before).scheduledAt).toBe(scheduledAt);
			expect(callTime(wanted, at(EVENING), before).scheduledAt).toBe(NEXT_OPENING);
		},
	);
});
