import { DateTime } from 'luxon';
import type { CallLimit } from '../core/calls/callsPerPerson';
import { InvalidInput } from '../core/service/errors';
import { NotPlaced } from './notPlaced';
import { countryName } from '../core/phone/countries';
import { dayAndTime, inEnglish, withOffset } from '../core/values/dates';
import type { JsonObject } from '../core/values/json';
import { plainText } from '../core/values/values';

/** What decides when a call goes. */
export type TimeSettings = {
	/** Undefined to call now. */
	schedule: Schedule | undefined;
	hours: CallingHours | undefined;
	/** Counts by day, so the day of the call must be certain. */
	limit: CallLimit | undefined;
};

/** The time that a user entered. */
export type Schedule = {
	/** `HH:MM` in India, or ISO 8601 with offset. */
	at: string;
	/** The field's name on the screen. */
	field: 'Date and Time' | 'Time in India' | 'When to Call';
};

/** When a call goes, as decided at one moment. */
type CallTime = {
	planned: DateTime;
	/** That of the request. Undefined to call now. */
	scheduledAt?: string | undefined;
	/** Why the call must not be placed: an invalid time, or outside the calling hours. */
	obstacle?: InvalidInput | NotPlaced;
};

/**
 * Decides when a call goes: now, at the next such time in India, or at a date. If that's outside the calling hours, the
 * call is scheduled for their next opening, or not placed.
 *
 * @param startedAt when this run of the node started. A time of day has the same date in all of it.
 */
export function callTime(settings: TimeSettings, now: DateTime, startedAt = now): CallTime {
	const { schedule, hours, limit } = settings;
	const entered = momentOf(schedule, startedAt);
	if (schedule !== undefined && entered <= now) return inThePast(schedule, entered);
	const earliest = DateTime.max(now, entered);
	const opens = hours === undefined ? earliest : nextOpening(hours, earliest);
	if (opens > earliest) {
		if (hours?.isScheduled === false) return { planned: entered, obstacle: outsideHours(opens) };
		return { planned: opens, scheduledAt: withOffset(opens) };
	}
	// With only a time of day, it isn't documented on which day the service places the call.
	const needsDate = (hours ?? limit) !== undefined;
	const scheduledAt = schedule && (needsDate ? withOffset(entered) : schedule.at);
	return { planned: earliest, scheduledAt };
}

/** A time of day counts as the next such time in India. */
function momentOf(schedule: Schedule | undefined, now: DateTime): DateTime {
	if (schedule === undefined) return now;
	if (schedule.at.includes('T')) return DateTime.fromISO(schedule.at, { setZone: true });
	const [hour = 0, minute = 0] = schedule.at.split(':').map(Number);
	const today = now.setZone('Asia/Kolkata').set({ hour, minute, second: 0, millisecond: 0 });
	return today > now ? today : today.plus({ days: 1 });
}

/** What the service does with a past time isn't documented. */
function inThePast({ field }: Schedule, entered: DateTime): CallTime {
	const obstacle = new InvalidInput(
		`'${field}' is in the past (${withOffset(entered)})`,
		"Choose a later time, or set 'When to Call' to 'Now'.",
	);
	return { planned: entered, obstacle };
}

function outsideHours(opening: DateTime): NotPlaced {
	const when = `Calling hours start again on ${dayAndTime(opening)}.`;
	return new NotPlaced(
		"The call wasn't placed, because it's outside the calling hours",
		`${when} Place the call then.`,
		{ not_placed_reason: 'outside_calling_hours', next_opening: withOffset(opening) },
	);
}

/** The hours in which people may be called, in their time zone. */
export type CallingHours = {
	/** 1 for Monday to 7 for Sunday. */
	days: ReadonlySet<number>;
	/** Minute of the day. */
	from: number;
	/** Minute of the day, exclusive, later than `from`. */
	to: number;
	zone: string;
	/** Whether a call outside them is scheduled for the next opening. Otherwise, it isn't placed. */
	isScheduled: boolean;
};

/** A hint reports calls at other times if no hours are set. */
const DAY = { from: 9, until: 21 };

/**
 * Such as "04:30 (India)" for a call before 9:00 or after 21:00 where the person is.
 *
 * @param zone of the person. Undefined if it isn't certain
 */
export function nightTime(at: DateTime, zone: string | undefined, country: string): string {
	if (zone === undefined) return '';
	const local = at.setZone(zone);
	if (local.hour >= DAY.from && local.hour < DAY.until) return '';
	return `${inEnglish(local, 'HH:mm')} (${countryName(country)})`;
}

/** One of these days has an opening, because the clocks can skip that of one week only. */
const LOOK_AHEAD_DAYS = 14;

function isOpen({ days, from, to, zone }: CallingHours, moment: DateTime): boolean {
	const local = moment.setZone(zone);
	const minute = local.hour * 60 + local.minute;
	return days.has(local.weekday) && minute >= from && minute < to;
}

/** The given moment if it's within the hours, otherwise the next time at which they start. */
function nextOpening(hours: CallingHours, moment: DateTime): DateTime {
	if (isOpen(hours, moment)) return moment;
	const today = moment.setZone(hours.zone).startOf('day');
	const [hour, minute] = [Math.floor(hours.from / 60), hours.from % 60];
	for (let ahead = 0; ahead <= LOOK_AHEAD_DAYS; ahead++) {
		// A time that the clocks skip is moved to a later one.
		const start = today.plus({ days: ahead }).set({ hour, minute });
		if (start > moment && isOpen(hours, start)) return start;
	}
	throw new Error(`No calling hours after ${moment.toISO()}`);
}

/**
 * `scheduled_for` of a call: with the day, if the service returned it. Without one, a time of day is in India. Undefined if the
 * call goes now.
 *
 * @param sent the time in the request
 */
export function scheduledTime(
	{ scheduled_at_epoch: epoch }: JsonObject,
	sent: string | undefined,
	zone: string,
): string | undefined {
	const seconds = Number(plainText(epoch));
	if (seconds > 0) return withOffset(DateTime.fromSeconds(seconds, { zone }));
	return sent === undefined || sent.includes('T') ? sent : `${sent} (India)`;
}

/** The output of a call. */
type PlacedCall = { readonly scheduled_for?: unknown };

/** When a scheduled call is due. Invalid for other calls, and if only the service knows the day. */
function dueTimeOf({ scheduled_for: at }: PlacedCall): DateTime {
	const time = plainText(at);
	return time.includes('T') ? DateTime.fromISO(time) : DateTime.invalid('no day');
}

/** Whether the call begins later, so that waiting for its end now makes no sense. */
export function isDueLater(call: PlacedCall, now: number): boolean {
	return call.scheduled_for !== undefined && !(dueTimeOf(call).toMillis() <= now);
}

/** What happened to a call that the service accepted, for a model. */
export function callText(whom: string, call: PlacedCall, zone: string): string {
	if (call.scheduled_for === undefined) return `A call to ${whom} was placed.`;
	const due = dueTimeOf(call).setZone(zone);
	const time = due.isValid ? dayAndTime(due) : plainText(call.scheduled_for);
	return `A call to ${whom} was scheduled for ${time}.`;
}
