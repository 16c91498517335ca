import { DateTime, type Zone } from 'luxon';
import { asText } from './values';
import { normalized, withLatinDigits } from './text';

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

/** Such as `18:30`, `18.30.00`, `18h30`, and `18:30 hrs`. */
const CLOCK_TIME = /^(\d{1,2})[:.h]([0-5]\d)(?:[:.][0-5]\d(?:[.,]\d+)?)?(?: ?(?:hrs?|hours)\.?)?$/i;
const FOUR_DIGITS = /^(\d\d)([0-5]\d) ?(?:hrs?|hours)\.?$/i;
/** Such as `9am`, `9.30am`, and `6:30:00 p.m.`. */
const TWELVE_HOURS =
	/^(1[0-2]|0?[1-9])(?:[:.]([0-5]\d)(?:[:.][0-5]\d(?:[.,]\d+)?)?)? ?([ap])\.? ?m\.?$/i;
/** Such as `0.7708333`. */
const FRACTION = /^0?[.,](\d+)$/;
/** `0.30` may be half past midnight, or 30 percent of a day. */
const MINUTES = /^[0-5]\d$/;

export const DAY_MINUTES = 24 * 60;

/**
 * The minute of the day of a time as people write it, or as spreadsheets store it: a fraction of a day. Seconds are ignored.
 * NaN if it isn't a time, or if that isn't certain.
 */
export function minuteOfDay(time: unknown): number {
	if (typeof time === 'number') return minuteOfFraction(time);
	if (typeof time !== 'string') return NaN;
	const text = withLatinDigits(normalized(time)).replace(/\s+/g, ' ').trim();
	const [, decimals] = FRACTION.exec(text) ?? [];
	if (decimals !== undefined) {
		return MINUTES.test(decimals) ? NaN : minuteOfFraction(Number(`0.${decimals}`));
	}
	const [, hour, minutes = '0', half] = TWELVE_HOURS.exec(text) ?? [];
	if (half !== undefined) {
		const noon = /p/i.test(half) ? 12 : 0;
		return ((Number(hour) % 12) + noon) * 60 + Number(minutes);
	}
	const [, hours, more] = CLOCK_TIME.exec(text) ?? FOUR_DIGITS.exec(text) ?? [];
	return Number(hours) * 60 + Number(more);
}

/** 0 may be midnight, or an empty cell. */
function minuteOfFraction(day: number): number {
	return day > 0 && day < 1 ? Math.round(day * DAY_MINUTES) : NaN;
}

/**
 * Excludes a time of day, a month, or a year, which luxon would complete with other values. Eight digits alone may be an ID.
 */
const BEGINS_WITH_A_DAY = /^(?:\d{4}-\d{2}-\d{2}(?!\d)|\d{8}T)/;

/** The largest UTC offset on earth. */
const MAX_OFFSET_MINUTES = 14 * 60;

/**
 * A date, with or without a time. Invalid for anything else.
 *
 * @param zone time zone for dates without an offset
 */
export function parseTime(value: unknown, zone: string | Zone): DateTime {
	if (DateTime.isDateTime(value)) return value;
	if (value instanceof Date) return DateTime.fromJSDate(value, { zone });
	const written = withLatinDigits(asText(value)).replace(/^(\d{4}-\d{2}-\d{2}) /, '$1T');
	if (!BEGINS_WITH_A_DAY.test(written)) return DateTime.invalid('no day');
	const at = DateTime.fromISO(written, { zone, setZone: /(Z|[+-]\d{2}:?\d{2})$/i.test(written) });
	return Math.abs(at.offset) > MAX_OFFSET_MINUTES ? DateTime.invalid('no such offset') : at;
}
