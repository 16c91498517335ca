import fc from 'fast-check';
import memoize from 'lodash/memoize';
import { DateTime } from 'luxon';
import { callTime, type CallingHours } from '../../../nodes/PlaceCall/callTime';
import { MANY_RUNS } from '../../fuzz/runs';

const at = (iso: string) => DateTime.fromISO(iso, { setZone: true });
/** A time in India in November 2026. The 20th is a Friday. */
const nov = (time: string) => `2026-11-${time.length === 8 ? `${time}:00` : time}+05:30`;

const WORKING_HOURS: CallingHours = {
	days: new Set([1, 2, 3, 4, 5]),
	from: 9 * 60,
	to: 18 * 60,
	zone: 'Asia/Kolkata',
	isScheduled: true,
};

const callAt = (hours: CallingHours, now: DateTime, scheduledAt?: string) => {
	const schedule = scheduledAt && { at: scheduledAt, field: 'Date and Time' as const };
	return callTime({ hours, schedule: schedule || undefined, limit: undefined }, now);
};

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const DAY_MS = 86_400_000;

const wallClock = memoize(
	(timeZone: string) =>
		new Intl.DateTimeFormat('en-GB', {
			...{ timeZone, hourCycle: 'h23', weekday: 'short', hour: '2-digit', minute: '2-digit' },
		}),
);

/** Whether a moment is within the hours by a clock on a wall, without the library that the node uses. */
function isOpen({ days, from, to, zone }: CallingHours, at: number): boolean {
	const parts = new Map(
		wallClock(zone)
			.formatToParts(at)
			.map(({ type, value }) => [type, value]),
	);
	const minute = Number(parts.get('hour')) * 60 + Number(parts.get('minute'));
	const weekday = WEEKDAYS.indexOf(parts.get('weekday') ?? '') + 1;
	return minute >= from && minute < to && days.has(weekday);
}

const hoursOfDays = fc
	.record({
		days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 7 }),
		quarters: fc.uniqueArray(fc.integer({ min: 0, max: 96 }), { minLength: 2, maxLength: 2 }),
		zone: fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
	})
	.map(({ days, quarters, zone }): CallingHours => {
		const [from, to] = [Math.min(...quarters) * 15, Math.max(...quarters) * 15];
		return { days: new Set(days), from, to, zone, isScheduled: true };
	});
const anyMoment = fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2028-01-01') });
/** How much later than now, in milliseconds. */
const somewhen = fc.option(fc.integer({ min: 1, max: 3 * DAY_MS }), { nil: undefined });

describe('the next opening', () => {
	test('is within the hours, in any zone, at or after the requested time', () => {
		const property = fc.property(hoursOfDays, anyMoment, somewhen, (hours, now, ahead) => {
			const wanted = now + (ahead ?? 0);
			const scheduledAt = ahead === undefined ? undefined : new Date(wanted).toISOString();
			const time = callAt(hours, DateTime.fromMillis(now, { zone: 'utc' }), scheduledAt);
			const planned = time.planned.toMillis();
			expect([isOpen(hours, planned), planned >= wanted]).toEqual([true, true]);
			// In whole seconds.
			const sent = time.scheduledAt === undefined ? now : Date.parse(time.scheduledAt);
			expect(Math.abs(sent - planned)).toBeLessThan(1_000);
		});
		fc.assert(property, { numRuns: MANY_RUNS });
	});

	const days = new Set([1, 2, 3, 4, 5, 6, 7]);
	const whole = { days: new Set([1]), from: 0, to: 24 * 60 };
	const berlin = { days, zone: 'Europe/Berlin', from: 150, to: 300 };
	const berlinOnSunday = { ...berlin, days: new Set([7]), from: 120, to: 150 };
	const cairo = { days, zone: 'Africa/Cairo', from: 0, to: 120 };
	const lordHowe = { days, zone: 'Australia/Lord_Howe', from: 135, to: 180 };
	const santiago = { days, zone: 'America/Santiago', from: 23 * 60 + 15, to: 23 * 60 + 45 };

	test.each<[string, Partial<CallingHours>, from: string, opening: string]>([
		['the first minute', {}, nov('20T09:00'), nov('20T09:00')],
		['the second before', {}, nov('20T08:59:59'), nov('20T09:00')],
		['the last second', {}, nov('20T17:59:59'), nov('20T17:59:59')],
		['the end', {}, nov('20T18:00'), nov('23T09:00')],
		['a whole day', whole, nov('23T23:59:59'), nov('23T23:59:59')],
		['after a whole day', whole, nov('24T00:00'), nov('30T00:00')],
		['a skipped time', berlin, '2027-03-28T01:00:00+01:00', '2027-03-28T03:30:00+02:00'],
		['a skipped midnight', cairo, '2027-04-29T12:00:00+02:00', '2027-04-30T01:00:00+03:00'],
		['half an hour skipped', lordHowe, '2026-10-04T01:00:00+10:30', '2026-10-04T02:45:00+11:00'],
		// The clocks go back before midnight.
		['hours twice', santiago, '2027-04-03T23:50:00-03:00', '2027-04-04T23:15:00-04:00'],
		['hours skipped', berlinOnSunday, '2027-03-21T02:30:00+01:00', '2027-04-04T02:00:00+02:00'],
	])('%s', (_what, over, from, expected) => {
		const { planned } = callAt({ ...WORKING_HOURS, ...over }, at(from));
		expect(planned.toMillis()).toBe(at(expected).toMillis());
	});
});
