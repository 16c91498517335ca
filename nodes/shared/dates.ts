import { DateTime } from 'luxon';
import { asText } from './api/parseIds';

/** Formats a time in English with Latin digits, in any locale. */
export function inEnglish(at: DateTime, format: string): string {
	return at.toFormat(format, { locale: 'en', numberingSystem: 'latn' });
}

/** Such as "Monday, 30 November 2026, 09:00 (Asia/Kolkata)". */
export function dayAndTime(at: DateTime): string {
	return `${inEnglish(at, 'cccc, d LLLL yyyy, HH:mm')} (${at.zoneName})`;
}

/** ISO 8601 with a numeric offset, also for UTC, where luxon writes Z. */
export function withOffset(at: DateTime): string {
	return inEnglish(at, "yyyy-MM-dd'T'HH:mm:ssZZ");
}

const OFFSET = /^[^T ]*[T ].*(?:Z|[+-]\d{2}:?\d{2})$/i;

/** Whether an ISO 8601 text, perhaps with a blank instead of the T, has a UTC offset. */
export function hasOffset(text: string): boolean {
	return OFFSET.test(text);
}

const CLOCK_TIME = /^(\d{1,2}):([0-5]\d)$/;
/** Such as `9am` and `6:30 p.m.`. */
const TWELVE_HOURS = /^(1[0-2]|0?[1-9])(?::([0-5]\d))? ?([ap])\.?m\.?$/i;

/** The minute of the day of a time such as `18:30` or `6:30 pm`. NaN if it isn't one. */
export function minuteOfDay(time: string): number {
	const [, hour, minutes = '0', half] = TWELVE_HOURS.exec(time) ?? [];
	if (half !== undefined) {
		const noon = /p/i.test(half) ? 12 : 0;
		return ((Number(hour) % 12) + noon) * 60 + Number(minutes);
	}
	const [, hours, more] = CLOCK_TIME.exec(time) ?? [];
	return Number(hours) * 60 + Number(more);
}

/** Excludes a time of day, a month, or a year, which luxon would complete with other values. */
const BEGINS_WITH_A_DAY = /^\d{4}-?\d{2}-?\d{2}(?!\d)/;

/** The largest UTC offset on earth. */
const MAX_OFFSET_MINUTES = 14 * 60;

/**
 * A date, with or without a time. Invalid for anything else.
 *
 * @param zone time zone for dates without an offset
 */
export function parseTime(value: unknown, zone: string): DateTime {
	if (DateTime.isDateTime(value)) return value;
	if (value instanceof Date) return DateTime.fromJSDate(value, { zone });
	const written = asText(value).replace(/^(\d{4}-\d{2}-\d{2}) /, '$1T');
	if (!BEGINS_WITH_A_DAY.test(written)) return DateTime.invalid('no day');
	const at = DateTime.fromISO(written, { zone, setZone: /(Z|[+-]\d{2}:?\d{2})$/i.test(written) });
	return Math.abs(at.offset) > MAX_OFFSET_MINUTES ? DateTime.invalid('no such offset') : at;
}
