import type { DateTime } from 'luxon';
import { dayOf, parseDay } from '../values/dates';
import { counted, isUnset, quoted } from '../values/values';

/** The column with the day on which a person agreed to be called, and how long that counts. */
export type Consent = {
	column: string;
	/** 0 if it only counts on the same day. */
	maxDays: number;
	/** In the time zone in which days are counted. */
	now: DateTime;
};

/**
 * Why a cell doesn't allow a call. Undefined if it does.
 *
 * @param callAt when the person is called. The consent may be too old by then.
 */
export function whyNoConsent(
	cell: unknown,
	{ column, maxDays, now }: Consent,
	callAt = now,
): string | undefined {
	const where = `Column ${quoted(column)} has`;
	if (isUnset(cell)) return `${where} no date.`;
	const given = parseDay(cell, now.zone);
	const found = `${where} ${quoted(cell)}, which`;
	if (!given.isValid) return `${found} isn't a date such as 2026-11-25.`;
	if (given > dayOf(now)) return `${found} is in the future.`;
	const day = dayOf(callAt.setZone(now.zone));
	if (day.diff(given, 'days').days <= maxDays) return undefined;
	return `${found} is more than ${counted(maxDays, 'day')} before ${day.toISODate()}.`;
}
