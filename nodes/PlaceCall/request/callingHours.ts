import { DateTime, IANAZone } from 'luxon';
import { ExplainedError } from '../../shared/api/errors';
import { onScreenOnly, type Resolution } from '../../shared/api/modelAdvice';
import { asText } from '../../shared/api/parseIds';
import { inEnglish, withOffset } from '../../shared/clock';
import type { JsonValue } from '../../shared/json';
import { type Checked, isUnset, type Problem, problem, quoted } from '../../shared/values';

/** The hours in which people may be called, in their time zone. */
export type CallingHours = {
	/** The days on which the hours start: 1 for Monday to 7 for Sunday. */
	days: ReadonlySet<number>;
	/** Minute of the day. If `to` is earlier, the hours end on the next day. */
	from: number;
	/** Minute of the day, exclusive. */
	to: number;
	zone: string;
	outside: 'schedule' | 'notPlaced';
};

/** The same from the form. Without `hours` if the option is added, but not filled in. */
export type WrittenHours = {
	hours?: { [field in 'days' | 'from' | 'to' | 'timeZone']?: JsonValue } | undefined;
};

const WEEK = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const MIN_DAY_NAME_LENGTH = 3;
const CLOCK_TIME = /^(\d{1,2}):([0-5]\d)$/;
const DAY_MINUTES = 24 * 60;

/** If the clocks skip the hours of a weekly day once, the next ones are two weeks later. */
const LOOK_AHEAD_DAYS = 15;

/** Checks the calling hours, and returns all problems at once. */
export function callingHours(
	{ hours: fields }: WrittenHours,
	outside: unknown,
): Checked<CallingHours> {
	if (fields === undefined) {
		return problem(
			"'Calling Hours' is empty",
			onScreenOnly("Add hours, or remove 'Calling Hours'."),
		);
	}
	const days = daysIn(fields.days);
	const from = minuteOfDay('From', fields.from);
	const to = minuteOfDay('To', fields.to);
	const zone = zoneNamed(fields.timeZone);
	const problems = [days, from, to, zone].flatMap((one) => ('problem' in one ? [one.problem] : []));
	if ('problem' in days || 'problem' in from || 'problem' in to || 'problem' in zone) {
		return { problem: combined(problems) };
	}
	if (from.value === to.value || from.value === DAY_MINUTES) {
		return problem(
			"'From' and 'To' in 'Calling Hours' leave no time to call",
			onScreenOnly(
				'Enter when calling starts and ends, such as 09:00 and 18:00. For the whole day, enter 00:00 and 24:00.',
			),
		);
	}
	return {
		value: {
			days: days.value,
			from: from.value,
			to: to.value,
			zone: zone.value,
			outside: outside === 'notPlaced' ? 'notPlaced' : 'schedule',
		},
	};
}

function combined(problems: Problem[]): Problem {
	return {
		message: problems.map(({ message }) => message).join('. '),
		resolution: onScreenOnly(problems.map(({ resolution }) => resolution.onScreen).join(' ')),
	};
}

/** Days such as `Mon-Wed, Sat`. */
function daysIn(value: JsonValue | undefined): Checked<Set<number>> {
	const resolution = onScreenOnly(
		'Enter the days on which people may be called, such as Mon-Wed, Sat.',
	);
	if (isUnset(value)) return problem('Calling Hours names no days', resolution);
	const text = asText(value).toLowerCase();
	// Collapse white space first, because the next pattern is slow for long runs of it.
	const parts = text
		.replace(/\s+/g, ' ')
		.replace(/ ?(?:[-–—]|\bto\b) ?/g, '-')
		.split(/[ ,;]+/);
	const days = new Set<number>();
	for (const part of parts.filter((name) => name !== '')) {
		const names = part.split('-');
		const [first, last] = [dayNamed(names[0] ?? ''), dayNamed(names.at(-1) ?? '')];
		if (first === undefined || last === undefined || names.length > 2) {
			const isRange = names.length === 2 && !names.includes('');
			const invalid = isRange ? names.find((name) => dayNamed(name) === undefined) : part;
			return problem(
				`'Days' in 'Calling Hours' must list weekdays (got ${quoted(invalid)} in ${quoted(value)})`,
				resolution,
			);
		}
		for (let day = first; ; day = (day % WEEK.length) + 1) {
			days.add(day);
			if (day === last) break;
		}
	}
	return days.size > 0 ? { value: days } : problem('Calling Hours names no days', resolution);
}

function dayNamed(name: string): number | undefined {
	const index = WEEK.findIndex((day) => day.startsWith(name));
	return name.length < MIN_DAY_NAME_LENGTH || index < 0 ? undefined : index + 1;
}

function minuteOfDay(field: string, value: JsonValue | undefined): Checked<number> {
	const resolution = onScreenOnly('Enter a 24-hour time such as 09:00 or 18:30.');
	if (isUnset(value)) return problem(`'${field}' in 'Calling Hours' is empty`, resolution);
	const [, hours, minutes] = CLOCK_TIME.exec(asText(value)) ?? [];
	const minute = Number(hours) * 60 + Number(minutes);
	if (minute <= DAY_MINUTES) return { value: minute };
	return problem(
		`'${field}' in 'Calling Hours' must be a time of day (got ${quoted(value)})`,
		resolution,
	);
}

/** Abbreviations such as IST are ambiguous, so a name such as Asia/Kolkata is required. */
function zoneNamed(value: JsonValue | undefined): Checked<string> {
	const resolution = onScreenOnly(
		'Enter the time zone of the people to call, such as Asia/Kolkata or Europe/London. The node has no default time zone, because a wrong one could place calls at night.',
	);
	if (isUnset(value)) return problem("'Time Zone' in 'Calling Hours' is empty", resolution);
	const zone = asText(value);
	const isZone = (ZONE_IN_AN_AREA.test(zone) || zone === 'UTC') && IANAZone.isValidZone(zone);
	if (!isZone) {
		return problem(
			`'Time Zone' in 'Calling Hours' must be the name of a time zone (got ${quoted(value)})`,
			resolution,
		);
	}
	const [, sign, offset] = INVERTED_ZONE.exec(zone) ?? [];
	const isInverted = sign !== undefined && Number(offset) > 0;
	return isInverted ? invertedZone(zone, sign, Number(offset)) : { value: zone };
}

/** Excludes names such as "SystemV/EST5", which JavaScript accepts, but the time zone database doesn't have. */
const ZONE_IN_AN_AREA = /^(?!systemv\/)[a-z_]+(?:\/[\w+-]+)+$/i;

/** Zones of the time zone database whose sign is inverted. */
const INVERTED_ZONE = /^Etc\/GMT([+-])(\d{1,2})$/i;

/** Time zones without daylight saving time, by hours from UTC. */
const ZONES_BY_OFFSET: { [hours: string]: string } = {
	'-11': 'Pacific/Pago_Pago',
	'-10': 'Pacific/Honolulu',
	'-9': 'Pacific/Gambier',
	'-8': 'Pacific/Pitcairn',
	'-7': 'America/Phoenix',
	'-6': 'America/Costa_Rica',
	'-5': 'America/Lima',
	'-4': 'America/Puerto_Rico',
	'-3': 'America/Montevideo',
	'-2': 'America/Noronha',
	'-1': 'Atlantic/Cape_Verde',
	'+1': 'Africa/Lagos',
	'+2': 'Africa/Maputo',
	'+3': 'Africa/Nairobi',
	'+4': 'Asia/Dubai',
	'+5': 'Asia/Karachi',
	'+6': 'Asia/Dhaka',
	'+7': 'Asia/Bangkok',
	'+8': 'Asia/Singapore',
	'+9': 'Asia/Tokyo',
	'+10': 'Australia/Brisbane',
	'+11': 'Pacific/Guadalcanal',
	'+12': 'Pacific/Tarawa',
	'+13': 'Pacific/Tongatapu',
	'+14': 'Pacific/Kiritimati',
};

function invertedZone(zone: string, sign: string, hours: number): Checked<string> {
	const actual = `${sign === '+' ? '-' : '+'}${hours}`;
	const apparent = `${sign}${hours}`;
	const zones = [actual, apparent].flatMap((offset) => {
		const name = ZONES_BY_OFFSET[offset];
		return name === undefined ? [] : [`${name} for UTC${offset}`];
	});
	return problem(
		`'Time Zone' in 'Calling Hours' is ambiguous: ${quoted(zone)} means UTC${actual}, although it looks like UTC${apparent}`,
		onScreenOnly(`Enter a name instead: ${zones.join(', ')}.`),
	);
}

export function isOpen({ days, from, to, zone }: CallingHours, moment: DateTime): boolean {
	const local = moment.setZone(zone);
	const minute = local.hour * 60 + local.minute;
	if (from < to) return days.has(local.weekday) && minute >= from && minute < to;
	const dayBefore = local.weekday === 1 ? WEEK.length : local.weekday - 1;
	return (days.has(local.weekday) && minute >= from) || (days.has(dayBefore) && minute < to);
}

/** The given moment if it's within the hours, otherwise the next time at which they start. */
export function nextOpening(hours: CallingHours, moment: DateTime): DateTime | undefined {
	if (isOpen(hours, moment)) return moment;
	const today = moment.setZone(hours.zone);
	for (let ahead = 0; ahead <= LOOK_AHEAD_DAYS; ahead++) {
		const changes = changesOn(today.plus({ days: ahead }).startOf('day'), hours.from)
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

	/** @param opening the next start of the hours. Undefined if there is none within two weeks. */
	constructor(readonly opening: DateTime | undefined) {
		super(
			"The call wasn't placed, because it's outside the calling hours",
			opening === undefined
				? onScreenOnly("The hours don't start within two weeks. Correct 'Calling Hours'.")
				: openingAdvice(opening),
		);
	}
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
	// If the time has passed, the service may place the call immediately.
	const planned = scheduled === undefined ? now : DateTime.max(now, momentOf(scheduled, now));
	const opening = nextOpening(hours, planned);
	if (opening === undefined) throw new OutsideHours(opening);
	if (opening > planned) {
		if (hours.outside === 'notPlaced') throw new OutsideHours(opening);
		return withOffset(opening);
	}
	// With only a time of day, it isn't documented on which day the service places the call.
	return scheduled === undefined || scheduled.includes('T') ? scheduled : withOffset(planned);
}

/** A time of day counts as the next such time in India. */
function momentOf(scheduled: string, now: DateTime): DateTime {
	if (scheduled.includes('T')) return DateTime.fromISO(scheduled, { setZone: true });
	const [hour = 0, minute = 0] = scheduled.split(':').map(Number);
	const today = now.setZone('Asia/Kolkata').set({ hour, minute, second: 0, millisecond: 0 });
	return today > now ? today : today.plus({ days: 1 });
}
