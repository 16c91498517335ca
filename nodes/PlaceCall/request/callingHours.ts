import { DateTime, IANAZone } from 'luxon';
import { ExplainedError } from '../../shared/api/errors';
import { onScreenOnly, type Resolution } from '../../shared/api/modelAdvice';
import { asText } from '../../shared/api/parseIds';
import { inEnglish, withOffset } from '../../shared/clock';
import type { JsonValue } from '../../shared/json';
import { type Checked, isUnset, type Problem, problem, quoted } from '../../shared/values';

/** When people may be called, by the clocks of their place. */
export type CallingHours = {
	/** 1 for Monday to 7 for Sunday: the days on which the hours begin. */
	days: ReadonlySet<number>;
	/** Minutes of the day; hours that end before they begin go on over midnight. */
	from: number;
	/** The first minute at which nobody is called any more. */
	to: number;
	zone: string;
	outside: 'schedule' | 'notPlaced';
};

/** The same as the person filled them in; without hours where the option is added and left empty. */
export type WrittenHours = {
	hours?: { [field in 'days' | 'from' | 'to' | 'timeZone']?: JsonValue } | undefined;
};

const WEEK = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const SHORTEST_DAY_NAME = 3;
const CLOCK_TIME = /^(\d{1,2}):([0-5]\d)$/;
const DAY_MINUTES = 24 * 60;

/** Hours of one day a week that the clocks skip once come again after two weeks. */
const LOOK_AHEAD_DAYS = 15;

/** The hours as the person filled them in, or every reason why they cannot be kept. */
export function callingHours(
	{ hours: fields }: WrittenHours,
	outside: unknown,
): Checked<CallingHours> {
	if (fields === undefined) {
		return problem(
			'Calling Hours is chosen and holds no hours',
			onScreenOnly('Add them, or remove the option Calling Hours.'),
		);
	}
	const days = daysIn(fields.days);
	const from = minuteOfDay('From', fields.from);
	const to = minuteOfDay('To', fields.to);
	const zone = zoneNamed(fields.timeZone);
	const problems = [days, from, to, zone].flatMap((one) => ('problem' in one ? [one.problem] : []));
	if ('problem' in days || 'problem' in from || 'problem' in to || 'problem' in zone) {
		return { problem: together(problems) };
	}
	if (from.value === to.value || from.value === DAY_MINUTES) {
		return problem(
			'From and To of Calling Hours hold no time between them',
			onScreenOnly(
				'Enter when calling begins and when it ends, such as 09:00 and 18:00; 00:00 and 24:00 are the whole day.',
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

function together(problems: Problem[]): Problem {
	return {
		message: problems.map(({ message }) => message).join('; '),
		resolution: onScreenOnly(problems.map(({ resolution }) => resolution.onScreen).join(' ')),
	};
}

/** Names of days such as `Mon-Wed, Sat`. */
function daysIn(value: JsonValue | undefined): Checked<Set<number>> {
	const resolution = onScreenOnly(
		'Enter the days on which people may be called, such as Mon-Wed, Sat.',
	);
	if (isUnset(value)) return problem('Calling Hours names no days', resolution);
	const text = asText(value).toLowerCase();
	// White space first: a run of it would be gone through again from each of its characters.
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
			const wrong = isRange ? names.find((name) => dayNamed(name) === undefined) : part;
			return problem(
				`Days of Calling Hours hold ${quoted(value)}, of which ${quoted(wrong)} is no day`,
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
	return name.length < SHORTEST_DAY_NAME || index < 0 ? undefined : index + 1;
}

function minuteOfDay(field: string, value: JsonValue | undefined): Checked<number> {
	const resolution = onScreenOnly('Enter a 24-hour time such as 09:00 or 18:30.');
	if (isUnset(value)) return problem(`${field} of Calling Hours is empty`, resolution);
	const [, hours, minutes] = CLOCK_TIME.exec(asText(value)) ?? [];
	const minute = Number(hours) * 60 + Number(minutes);
	if (minute <= DAY_MINUTES) return { value: minute };
	return problem(
		`${field} of Calling Hours holds ${quoted(value)}, which is not a time of day`,
		resolution,
	);
}

/** An abbreviation such as IST is used in several countries, so that a place must be named. */
function zoneNamed(value: JsonValue | undefined): Checked<string> {
	const resolution = onScreenOnly(
		'Enter the time zone of the people who are called by a place in it, such as Asia/Kolkata or Europe/London. None is taken for granted, as the wrong one would ring at night.',
	);
	if (isUnset(value)) return problem('Time Zone of Calling Hours is empty', resolution);
	const zone = asText(value);
	const isZone = (ZONE_IN_AN_AREA.test(zone) || zone === 'UTC') && IANAZone.isValidZone(zone);
	if (!isZone) {
		return problem(
			`Time Zone of Calling Hours holds ${quoted(value)}, which is not the name of a time zone`,
			resolution,
		);
	}
	const [, sign, offset] = INVERTED_ZONE.exec(zone) ?? [];
	const isInverted = sign !== undefined && Number(offset) > 0;
	return isInverted ? invertedZone(zone, sign, Number(offset)) : { value: zone };
}

/** JavaScript also knows "SystemV/EST5" and others, which are rules of an operating system and not in the time zone database. */
const ZONE_IN_AN_AREA = /^(?!systemv\/)[a-z_]+(?:\/[\w+-]+)+$/i;

/** Zones of the time zone database whose sign says the opposite of what people read. */
const INVERTED_ZONE = /^Etc\/GMT([+-])(\d{1,2})$/i;

/** Places whose clocks are the same all year, by hours from UTC. */
const PLACES: { [hours: string]: string } = {
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
	const meant = `${sign === '+' ? '-' : '+'}${hours}`;
	const looked = `${sign}${hours}`;
	const places = [meant, looked].flatMap((offset) => {
		const place = PLACES[offset];
		return place === undefined ? [] : [`${place} for UTC${offset}`];
	});
	return problem(
		`Time Zone of Calling Hours holds ${quoted(zone)}, which means UTC${meant}, although its name looks like UTC${looked}`,
		onScreenOnly(`Enter a place instead: ${places.join(', ')}.`),
	);
}

export function isOpen({ days, from, to, zone }: CallingHours, moment: DateTime): boolean {
	const local = moment.setZone(zone);
	const minute = local.hour * 60 + local.minute;
	if (from < to) return days.has(local.weekday) && minute >= from && minute < to;
	const dayBefore = local.weekday === 1 ? WEEK.length : local.weekday - 1;
	return (days.has(local.weekday) && minute >= from) || (days.has(dayBefore) && minute < to);
}

/** That moment where it is within the hours, else the next at which they begin. */
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

/** When it may change on a day: at midnight, at that time by the clocks, which may come twice, and where the clocks jump. */
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
	const when = `They begin again on ${inEnglish(opening, 'cccc, d LLLL yyyy, HH:mm')} (${opening.zoneName}).`;
	return {
		onScreen: `${when} Place the call then, or set Outside Calling Hours to Schedule for the Next Opening.`,
		forModel: `${when} Place the call then.`,
	};
}

/** The call was kept back: nobody is called at this hour. */
export class OutsideHours extends ExplainedError {
	override readonly name = 'OutsideHours';
	readonly outcome = 'not_sent';

	/** @param opening when the hours begin again, as far as can be told */
	constructor(readonly opening: DateTime | undefined) {
		super(
			'The call was not placed: it would be outside Calling Hours',
			opening === undefined
				? onScreenOnly('They never begin within two weeks. Correct Calling Hours.')
				: openingAdvice(opening),
		);
	}
}

/**
 * When to place a call so that it rings within the hours.
 *
 * @param scheduled `scheduled_at` as it would be sent without them; `undefined` for at once
 * @returns `scheduled_at` as it is to be sent
 * @throws OutsideHours where it is not to be placed
 */
export function withinHours(
	hours: CallingHours,
	scheduled: string | undefined,
	now: DateTime,
): string | undefined {
	// The service may place a call for a time that has passed right away.
	const wanted = scheduled === undefined ? now : DateTime.max(now, momentOf(scheduled, now));
	const opening = nextOpening(hours, wanted);
	if (opening === undefined) throw new OutsideHours(opening);
	if (opening > wanted) {
		if (hours.outside === 'notPlaced') throw new OutsideHours(opening);
		return withOffset(opening);
	}
	// A time of day alone leaves open which day the service takes.
	return scheduled === undefined || scheduled.includes('T') ? scheduled : withOffset(wanted);
}

/** A time of day is the next such time in India. */
function momentOf(scheduled: string, now: DateTime): DateTime {
	if (scheduled.includes('T')) return DateTime.fromISO(scheduled, { setZone: true });
	const [hour = 0, minute = 0] = scheduled.split(':').map(Number);
	const today = now.setZone('Asia/Kolkata').set({ hour, minute, second: 0, millisecond: 0 });
	return today > now ? today : today.plus({ days: 1 });
}
