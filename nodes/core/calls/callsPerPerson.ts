import type { DateTime } from 'luxon';

export const MAX_CALLS = 10;

export const PERIODS = ['day', 'week', 'month'] as const;
type Period = (typeof PERIODS)[number];

/** At most this many calls to one person in a calendar period. */
export type CallLimit = { calls: number; period: Period };

/** Such as "week 2026-11-23", by the first day of the period in the time zone of the given time. */
export function periodAt(at: DateTime, period: Period): string {
	return `${period} ${at.startOf(period).toISODate()}`;
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
