import { DateTime } from 'luxon';
import { ExplainedError, InvalidInput } from '../../shared/api/errors';
import { onScreenOnly, type Resolution } from '../../shared/api/resolution';
import type { CallRequest } from '../../shared/api/types';
import { inEnglish, withOffset } from '../../shared/clock';
import { quoted } from '../../shared/values';
import { type DateRange, isWithin } from './dateRanges';

/** The hours in which people may be called, in their time zone. */
export type CallingHours = {
	/** The days on which the hours start: 1 for Monday to 7 for Sunday. */
	days: ReadonlySet<number>;
	/** Minute of the day. If `to` is earlier, the hours end on the next day. */
	from: number;
	/** Minute of the day, exclusive. */
	to: number;
	zone: string;
	/** Dates in the zone on which nobody is called. Hours that start on such a date don't continue after midnight. */
	except: readonly DateRange[];
	outside: 'schedule' | 'notPlaced';
};

export const DAY_MINUTES = 24 * 60;

/** A year. If all its dates are excluded, 'Calling Hours Except On' is probably wrong. */
const LOOK_AHEAD_DAYS = 366;

export function isOpen(hours: CallingHours, moment: DateTime): boolean {
	const { from, to } = hours;
	const local = moment.setZone(hours.zone);
	const minute = local.hour * 60 + local.minute;
	if (minute >= from) return (from > to || minute < to) && startOn(hours, local);
	const isAfterMidnight = from > to && minute < to && !isWithin(hours.except, local);
	return isAfterMidnight && startOn(hours, local.minus({ days: 1 }));
}

/** Whether hours start on the local date. */
function startOn({ days, except }: CallingHours, local: DateTime): boolean {
	return days.has(local.weekday) && !isWithin(except, local);
}

/** The given moment if it's within the hours, otherwise the next time at which they start. */
export function nextOpening(hours: CallingHours, moment: DateTime): DateTime | undefined {
	if (isOpen(hours, moment)) return moment;
	const today = moment.setZone(hours.zone);
	for (let ahead = 0; ahead <= LOOK_AHEAD_DAYS; ahead++) {
		const day = today.plus({ days: ahead }).startOf('day');
		if (isWithin(hours.except, day)) continue;
		const changes = changesOn(day, hours.from)
			.filter((at) => at > moment && isOpen(hours, at))
			.sort((a, b) => a.toMillis() - b.toMillis());
		const [next] = changes;
		if (next !== undefined) return next;
	}
	return undefined;
}

/** Moments of a day at which the hours may start: midnight, the given minute (perhaps twice), and a clock change. */
function changesOn(day: DateTime, minute: number): DateTime[] {
	const end = day.plus({ days: 1 }).startOf('day');
	const at = day.set({ hour: Math.floor((minute % DAY_MINUTES) / 60), minute: minute % 60 });
	const jump = day.offset === end.offset ? [] : [jumpBetween(day, end)];
	return [day, ...at.getPossibleOffsets(), ...jump];
}

/** The moment at which the offset changes between two. */
function jumpBetween(start: DateTime, end: DateTime): DateTime {
	let [before, after] = [start.toMillis(), end.toMillis()];
	while (after - before > 1) {
		const middle = Math.floor((before + after) / 2);
		const { offset } = DateTime.fromMillis(middle, { zone: start.zone });
		if (offset === start.offset) before = middle;
		else after = middle;
	}
	return DateTime.fromMillis(after, { zone: start.zone });
}

function openingAdvice(opening: DateTime): Resolution {
	const when = `Calling hours start again on ${inEnglish(opening, 'cccc, d LLLL yyyy, HH:mm')} (${opening.zoneName}).`;
	return {
		onScreen: `${when} Place the call then, or set 'Outside Calling Hours' to 'Schedule for the Next Opening'.`,
		forModel: `${when} Place the call then.`,
	};
}

/** The call wasn't placed, because of its calling hours. */
export class OutsideHours extends ExplainedError {
	override readonly name = 'OutsideHours';
	readonly outcome = 'not_sent';

	/** @param opening the next start of the hours */
	constructor(readonly opening: DateTime) {
		super("The call wasn't placed, because it's outside the calling hours", openingAdvice(opening));
	}
}

/**
 * When a call is planned, and the next time at or after it that is within the hours.
 *
 * @param scheduled `scheduled_at` from the form, or `undefined` to call now
 * @throws InvalidInput if the hours don't start within a year
 */
export function openingFor(
	hours: CallingHours,
	scheduled: string | undefined,
	now: DateTime,
): { planned: DateTime; opening: DateTime } {
	const planned = plannedFor(scheduled, now);
	const opening = nextOpening(hours, planned);
	if (opening !== undefined) return { planned, opening };
	const dates = hours.except.map(({ first, last }) =>
		first === last ? first : `${first} to ${last}`,
	);
	throw new InvalidInput(
		`'Calling Hours' leave no time to call within a year, because 'Calling Hours Except On' has ${quoted(dates.join(', '))}`,
		onScreenOnly("Remove dates from 'Calling Hours Except On'."),
	);
}

/**
 * Schedules a call within the hours.
 *
 * @param scheduled `scheduled_at` from the form, or `undefined` to call now
 * @returns `scheduled_at` of the request
 * @throws OutsideHours if it must not be placed
 */
export function withinHours(
	hours: CallingHours,
	scheduled: string | undefined,
	now: DateTime,
): string | undefined {
	const { planned, opening } = openingFor(hours, scheduled, now);
	if (opening > planned) {
		if (hours.outside === 'notPlaced') throw new OutsideHours(opening);
		return withOffset(opening);
	}
	return withDate(scheduled, now);
}

/**
 * The request with the time that its calling hours allow. Another attempt is later, and they may have ended by then.
 *
 * @param since when the first attempt began, if a time of day gets its date. It then has the same date in all attempts.
 * @throws OutsideHours if it must not be placed
 */
export function atItsTime(
	request: CallRequest,
	hours: CallingHours | undefined,
	now: DateTime,
	since: DateTime | undefined,
): CallRequest {
	const { scheduled_at: entered } = request;
	const dated = since === undefined ? entered : withDate(entered, since);
	const scheduled = hours === undefined ? dated : withinHours(hours, dated, now);
	return scheduled === undefined ? request : { ...request, scheduled_at: scheduled };
}

/** When a call is placed. If its time has passed, the service may place it immediately. */
export function plannedFor(scheduled: string | undefined, now: DateTime): DateTime {
	return scheduled === undefined ? now : DateTime.max(now, momentOf(scheduled, now));
}

/** With only a time of day, it isn't documented on which day the service places the call. */
export function withDate(scheduled: string | undefined, now: DateTime): string | undefined {
	return scheduled === undefined || scheduled.includes('T')
		? scheduled
		: withOffset(momentOf(scheduled, now));
}

/** A time of day counts as the next such time in India. */
function momentOf(scheduled: string, now: DateTime): DateTime {
	if (scheduled.includes('T')) return DateTime.fromISO(scheduled, { setZone: true });
	const [hour = 0, minute = 0] = scheduled.split(':').map(Number);
	const today = now.setZone('Asia/Kolkata').set({ hour, minute, second: 0, millisecond: 0 });
	return today > now ? today : today.plus({ days: 1 });
}
