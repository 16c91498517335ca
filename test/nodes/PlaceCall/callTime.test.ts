import fc from 'fast-check';
import { DateTime, Settings } from 'luxon';
import { callTime, type CallingHours, type TimeSettings } from '../../../nodes/PlaceCall/callTime';

const at = (iso: string) => DateTime.fromISO(iso, { setZone: true });
/** A time in India in November 2026. The 20th is a Friday. */
const nov = (time: string) => `2026-11-${time.length === 8 ? `${time}:00` : time}+05:30`;

const WORKING_HOURS: CallingHours = {
	days: new Set([1, 2, 3, 4, 5]),
	from: 9 * 60,
	to: 18 * 60,
	zone: 'Asia/Kolkata',
	outside: 'schedule',
};
const LIMIT = { calls: 1, period: 'day' as const };
const EVERY_DAY = new Set([1, 2, 3, 4, 5, 6, 7]);

type Setting = Partial<TimeSettings> & { scheduledAt?: string | undefined; zone?: string };

const settingsOf = ({ scheduledAt: at, zone = 'Asia/Kolkata', hours, limit }: Setting = {}) => ({
	schedule: at === undefined ? undefined : { at, field: 'Date and Time' as const, zone },
	hours,
	limit,
});

/** Whether a moment is within the hours, by their definition. */
function isOpen({ days, from, to, zone }: CallingHours, moment: DateTime): boolean {
	const local = moment.setZone(zone);
	const minute = local.hour * 60 + local.minute;
	return minute >= from && minute < to && days.has(local.weekday);
}

const QUARTER_MS = 15 * 60_000;

/** The first moment within the hours, by trying each quarter of an hour. */
function byTheQuarter(hours: CallingHours, from: DateTime): number | undefined {
	if (isOpen(hours, from)) return from.toMillis();
	let quarter = Math.floor(from.toMillis() / QUARTER_MS) + 1;
	for (const end = quarter + 8 * 24 * 4; quarter < end; quarter++) {
		const moment = DateTime.fromMillis(quarter * QUARTER_MS, { zone: hours.zone });
		if (isOpen(hours, moment)) return moment.toMillis();
	}
	return undefined;
}

const someHours = fc
	.record({
		days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 7 }),
		from: fc.integer({ min: 0, max: 95 }),
		to: fc.integer({ min: 0, max: 96 }),
		// Without clock changes, which have tests of their own.
		zone: fc.constantFrom('Asia/Kolkata', 'Asia/Kathmandu', 'America/Phoenix', 'UTC'),
	})
	.filter(({ from, to }) => from < to)
	.map(
		({ days, from, to, zone }): CallingHours => ({
			days: new Set(days),
			from: from * 15,
			to: to * 15,
			zone,
			outside: 'schedule',
		}),
	);
const someMoment = fc
	.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2028-01-01') })
	.map((ms) => DateTime.fromMillis(ms, { zone: 'utc' }));

/** How much later than now, in milliseconds. */
const somewhen = fc.option(fc.integer({ min: 1, max: 3 * 86_400_000 }), { nil: undefined });

describe('the next opening', () => {
	test('is within the hours, and the first such moment at or after the requested time, in any zone', () => {
		fc.assert(
			fc.property(someHours, someMoment, somewhen, (hours, now, ahead) => {
				const wanted = now.plus(ahead ?? 0);
				const scheduledAt = ahead === undefined ? undefined : (wanted.toISO() ?? undefined);
				const time = callTime(settingsOf({ hours, scheduledAt }), now);
				const planned = time.planned.toMillis();
				expect(planned).toBe(byTheQuarter(hours, wanted));
				// In whole seconds.
				const sent = time.scheduledAt === undefined ? now : at(time.scheduledAt);
				expect(Math.abs(sent.toMillis() - planned)).toBeLessThan(1_000);
			}),
			{ numRuns: 300 },
		);
	});

	const berlin = { days: EVERY_DAY, zone: 'Europe/Berlin' };
	const whole = { days: new Set([1]), from: 0, to: 24 * 60 };

	test.each<[string, Partial<CallingHours>, from: string, opening: string]>([
		['within', {}, nov('20T12:00'), nov('20T12:00')],
		['the first minute', {}, nov('20T09:00'), nov('20T09:00')],
		['the second before', {}, nov('20T08:59:59'), nov('20T09:00')],
		['the last second', {}, nov('20T17:59:59'), nov('20T17:59:59')],
		['the end', {}, nov('20T18:00'), nov('23T09:00')],
		['a whole day', whole, nov('23T23:59:59'), nov('23T23:59:59')],
		['after a whole day', whole, nov('24T00:00'), nov('30T00:00')],
		[
			'a time that the clocks skip',
			{ ...berlin, from: 150, to: 300 },
			'2027-03-28T01:00:00+01:00',
			'2027-03-28T03:30:00+02:00',
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
			'2026-10-04T02:45:00+11:00',
		],
		[
			'hours before midnight that come back with the clocks, on the next day',
			{ days: EVERY_DAY, zone: 'America/Santiago', from: 23 * 60 + 15, to: 23 * 60 + 45 },
			'2027-04-03T23:50:00-03:00',
			'2027-04-04T23:15:00-04:00',
		],
		[
			'hours that the clocks skip, a week later',
			{ ...berlin, days: new Set([7]), from: 120, to: 150 },
			'2027-03-21T02:30:00+01:00',
			'2027-04-04T02:00:00+02:00',
		],
	])('%s', (_what, over, from, expected) => {
		const hours = { ...WORKING_HOURS, ...over };
		const { planned } = callTime(settingsOf({ hours }), at(from));
		expect(planned.toMillis()).toBe(at(expected).toMillis());
	});
});

const NOON = nov('20T12:00');
const EVENING = nov('20T19:00');
const NEXT_OPENING = nov('23T09:00');

describe('a call goes', () => {
	const hours = WORKING_HOURS;
	const limited = { limit: LIMIT };
	const TUESDAY = '2026-11-24T10:00:00+00:00';

	test.each<[string, Setting, now: string, planned: string, sent: string | undefined]>([
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

describe('a time that has passed', () => {
	test.each([
		['at the same moment', NOON],
		['a second ago, in another zone', '2026-11-20T06:29:59Z'],
	])('%s is rejected', (_what, scheduledAt) => {
		const message = /^'Date and Time' is in the past \(20 November 2026, 1/;
		const settings = settingsOf({ scheduledAt, hours: WORKING_HOURS });
		for (const over of [settings, { ...settings, hours: undefined }]) {
			expect(callTime(over, at(NOON)).obstacle?.message).toMatch(message);
		}
	});

	test('a second later is accepted', () => {
		const scheduledAt = nov('20T12:00:01');
		expect(callTime(settingsOf({ scheduledAt }), at(NOON)).scheduledAt).toBe(scheduledAt);
	});

	test('is shown in the zone of the workflow, in English whatever the locale of the machine', () => {
		Settings.defaultLocale = 'de';
		try {
			const settings = settingsOf({ scheduledAt: '2026-05-01T08:00:00+05:30', zone: 'UTC' });
			expect(callTime(settings, at(NOON)).obstacle).toMatchObject({
				message: "'Date and Time' is in the past (1 May 2026, 02:30, UTC)",
				resolution: "Choose a later time, or set 'When to Call' to 'Now'.",
			});
		} finally {
			Settings.defaultLocale = 'en';
		}
	});
});

describe('a later attempt', () => {
	const settings = (over: Setting = {}) => settingsOf({ scheduledAt: '12:01', ...over });
	const later = nov('20T12:02');

	test.each<[string, Setting]>([
		['alone', {}],
		['with hours', { hours: WORKING_HOURS }],
		['with a limit', { limit: LIMIT }],
	])('after the time of day of the first one places no call on the next day: %s', (_what, over) => {
		const { obstacle } = callTime(settings(over), at(later), at(NOON));
		expect(obstacle?.message).toContain('is in the past');
		const { planned } = callTime(settings(over), at(NOON), at(NOON));
		expect(planned.toMillis()).toBe(at(nov('20T12:01')).toMillis());
	});
});
