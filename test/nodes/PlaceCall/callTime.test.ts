import fc from 'fast-check';
import { DateTime } from 'luxon';
import { callTime, type CallingHours } from '../../../nodes/PlaceCall/callTime';

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

const callAt = (hours: CallingHours, now: DateTime, scheduledAt?: string) => {
	const zone = 'Asia/Kolkata';
	const schedule = scheduledAt && { at: scheduledAt, field: 'Date and Time' as const, zone };
	const others = { limit: undefined, consent: undefined };
	return callTime({ hours, schedule: schedule || undefined, ...others }, now);
};

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
		quarters: fc.uniqueArray(fc.integer({ min: 0, max: 96 }), { minLength: 2, maxLength: 2 }),
		// Without clock changes, which have tests of their own.
		zone: fc.constantFrom('Asia/Kolkata', 'Asia/Kathmandu', 'America/Phoenix', 'UTC'),
	})
	.map(({ days, quarters, zone }): CallingHours => {
		const [from, to] = [Math.min(...quarters) * 15, Math.max(...quarters) * 15];
		return { days: new Set(days), from, to, zone, outside: 'schedule' };
	});
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
				const time = callAt(hours, now, scheduledAt);
				const planned = time.planned.toMillis();
				expect(planned).toBe(byTheQuarter(hours, wanted));
				// In whole seconds.
				const sent = time.scheduledAt === undefined ? now : at(time.scheduledAt);
				expect(Math.abs(sent.toMillis() - planned)).toBeLessThan(1_000);
			}),
			{ numRuns: 300 },
		);
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
