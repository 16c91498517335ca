import type { DateTime } from 'luxon';
import { inEnglish } from '../values/dates';

export const MAX_CALLS = 10;

export const PERIODS = ['day', 'week', 'month'] as const;
type Period = (typeof PERIODS)[number];

/** At most this many calls to one person in a calendar period. */
export type CallLimit = { calls: number; period: Period };

const FORMATS: Record<Period, string> = { day: 'yyyy-MM-dd', week: "kkkk-'W'WW", month: 'yyyy-MM' };

/** The name of the period, such as "2026-11-25" or "2026-W48", in the time zone of the given time. */
export function periodAt(at: DateTime, period: Period): string {
	return inEnglish(at, FORMATS[period]);
}

export function nextPeriod(at: DateTime, period: Period): DateTime {
	// Some days have no midnight, so the start of the next period isn't a day after that of this one.
	return at.plus({ [period]: 1 }).startOf(period);
}

/**
 * The text by which n8n remembers a call to a number.
 *
 * @param period as of {@link periodAt}
 * @param nth its position among the calls in this period, from 0
 */
export function calledText(period: string, nth: number, number: string): string {
	return `called ${period} ${nth} ${number}`;
}

/** Scheduled calls count in their own period. Forgetting a number includes those of this many later periods. */
const PERIODS_AHEAD: Record<Period, number> = { day: 31, week: 5, month: 2 };

/** The texts of all calls to a number that may still count. In another time zone, an earlier period can still last. */
export function countedCalls(now: DateTime, number: string): string[] {
	const periods = PERIODS.flatMap((period) =>
		Array.from({ length: PERIODS_AHEAD[period] + 2 }, (_, index) =>
			periodAt(now.plus({ [period]: index - 1 }), period),
		),
	);
	return periods.flatMap((period) =>
		Array.from({ length: MAX_CALLS }, (_, nth) => calledText(period, nth, number)),
	);
}
