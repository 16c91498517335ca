/** *Calling Hours* in every country with one time zone: no call outside them, also when the clocks change. */
import uniqBy from 'lodash/uniqBy';
import { DateTime, IANAZone } from 'luxon';
import { COUNTRIES } from '../../../nodes/core/phone/countries';
import { callTime, type CallingHours } from '../../../nodes/PlaceCall/callTime';
import { timeZone } from '../../../nodes/PlaceCall/fields/timeZone';

const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000];
const WEEK_MS = 7 * DAY_MS;
/** Two years of clock changes. */
const [FIRST, LAST] = [Date.parse('2026-11-01'), Date.parse('2028-11-01')];

/** The zone of a country whose people all have the same time. Undefined if the form asks for it. */
function onlyZoneOf(country: string): string | undefined {
	try {
		return timeZone('', country);
	} catch {
		return undefined;
	}
}

const PLACES = COUNTRIES.flatMap(({ code }) => onlyZoneOf(code) ?? []);
/** The moments at which the clocks of a zone change. */
function clockChanges(zone: string): number[] {
	const offset = (at: number) => IANAZone.create(zone).offset(at);
	const changes: number[] = [];
	for (let week = FIRST; week < LAST; week += WEEK_MS) {
		let [before, after] = [week, week + WEEK_MS];
		if (offset(before) === offset(after)) continue;
		while (after - before > 1_000) {
			const middle = Math.floor((before + after) / 2_000) * 1_000;
			if (offset(middle) === offset(before)) before = middle;
			else after = middle;
		}
		changes.push(after);
	}
	return changes;
}

/** One zone of those with the same time. */
const ZONES = uniqBy(
	[...new Set(PLACES)].map((zone) => ({ zone, changes: clockChanges(zone) })),
	({ zone, changes }) => [IANAZone.create(zone).offset(FIRST), ...changes].join(),
);

/** What a clock on a wall in the zone shows, without the library that the node uses. */
function wallClock(zone: string): (at: number) => { weekday: string; minute: number } {
	const format = new Intl.DateTimeFormat('en-GB', {
		...{ timeZone: zone, hourCycle: 'h23', weekday: 'short' },
		...{ hour: '2-digit', minute: '2-digit' },
	});
	return (at) => {
		const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
		const [hour, minute] = [Number(parts.get('hour')), Number(parts.get('minute'))];
		return { weekday: parts.get('weekday') ?? '', minute: hour * 60 + minute };
	};
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const EVERY_DAY = new Set([1, 2, 3, 4, 5, 6, 7]);

const DAYS_AND_HOURS: ReadonlyArray<Pick<CallingHours, 'days' | 'from' | 'to'>> = [
	{ days: new Set([1, 2, 3, 4, 5, 6]), from: 9 * 60, to: 18 * 60 },
	// At the time of clock changes.
	{ days: EVERY_DAY, from: 0, to: 3 * 60 },
	{ days: new Set([7]), from: 2 * 60, to: 2 * 60 + 30 },
	{ days: EVERY_DAY, from: 23 * 60 + 15, to: 24 * 60 },
];

const plan = (hours: CallingHours, now: number) =>
	callTime(
		{ hours, schedule: undefined, limit: undefined, consent: undefined },
		DateTime.fromMillis(now, { zone: 'utc' }),
	);

test('most countries have one time zone, and the form asks for that of the others', () => {
	expect(PLACES.length).toBeGreaterThan(200);
	expect(['IN', 'DE', 'GB', 'AE'].map(onlyZoneOf)).not.toContain(undefined);
	expect(['US', 'AU', 'BR', 'RU', 'ID'].map(onlyZoneOf)).toEqual(Array(5).fill(undefined));
	expect(ZONES.filter(({ changes }) => changes.length > 0).length).toBeGreaterThan(10);
});

test.each(ZONES)(
	'$zone: every call is within the hours, whatever the clocks do',
	({ zone, changes }) => {
		const clockIn = wallClock(zone);
		const around = [...changes, Date.parse('2027-01-30T12:00:00Z')].flatMap((change) =>
			[-26 * HOUR_MS, -HOUR_MS, -MINUTE_MS, -1_000, 0, 1_000, MINUTE_MS, HOUR_MS, 9 * HOUR_MS].map(
				(later) => change + later,
			),
		);
		for (const { days, from, to } of DAYS_AND_HOURS) {
			const hours: CallingHours = { days, from, to, zone, outside: 'schedule' };
			const isOpen = (at: number) => {
				const { weekday, minute } = clockIn(at);
				return days.has(WEEKDAYS.indexOf(weekday) + 1) && minute >= from && minute < to;
			};
			for (const now of around) {
				const { planned, scheduledAt } = plan(hours, now);
				const at = planned.toMillis();
				expect([zone, new Date(now), isOpen(at), at >= now]).toEqual([
					zone,
					new Date(now),
					true,
					true,
				]);
				expect(scheduledAt === undefined ? now : Date.parse(scheduledAt)).toBe(at);
				if (isOpen(now)) expect(at).toBe(now);
			}
		}
	},
);

test.each(ZONES)(
	'$zone: a call in the last minute goes now, and one after it waits',
	({ zone }) => {
		const hours: CallingHours = {
			...{ days: EVERY_DAY, from: 9 * 60, to: 18 * 60 },
			...{ zone, outside: 'schedule' },
		};
		const clockIn = wallClock(zone);
		const from = Date.parse('2027-03-01');
		const minutes = Array.from(
			{ length: DAY_MS / MINUTE_MS },
			(_, index) => from + index * MINUTE_MS,
		);
		const last = minutes.find((at) => clockIn(at).minute === 18 * 60 - 1) ?? NaN;
		for (const now of [last, last + MINUTE_MS - 1]) {
			const { planned, scheduledAt } = plan(hours, now);
			expect([planned.toMillis(), scheduledAt]).toEqual([now, undefined]);
		}
		const opens = plan(hours, last + MINUTE_MS).planned.toMillis();
		expect(clockIn(opens).minute).toBe(9 * 60);
		expect(opens - last).toBeLessThan(DAY_MS);
	},
);
