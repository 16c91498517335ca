import { DateTime } from 'luxon';
import { InvalidInput } from '../../shared/api/errors';
import { forEveryone } from '../../shared/api/resolution';
import { inEnglish, withOffset } from '../../shared/clock';
import { formOf, givenAs } from '../../shared/modelForms';
import { type Checked, isUnset, problem, quoted } from '../../shared/values';

export type Schedule = {
	/** The field's name on the screen. */
	field: 'Date and Time' | 'Time in India' | 'When to Call';
	/** The value of the field or its expression: text, a Date, or a Luxon DateTime. */
	value: unknown;
	/** The workflow's time zone. */
	zone: string;
	/** Whether it was picked in the editor, in the workflow's time zone. */
	picked: boolean;
};

const TIME_OF_DAY = /^([01]?\d|2[0-3]):[0-5]\d$/;
const WALL_CLOCK = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;
const OFFSET = /^[^T]*T[^Z+-]*(Z|[+-]\d{2}(:?\d{2})?)$/i;
const COMMON_FORM = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

/** `scheduled_at` of the request: `HH:MM` in IST, or ISO 8601 with offset. */
export function scheduledAt(schedule: Schedule): Checked<string> {
	const { field, value, zone } = schedule;
	if (DateTime.isDateTime(value)) return moment(schedule, value);
	if (value instanceof Date) {
		return moment(schedule, DateTime.fromJSDate(value, { zone }));
	}

	if (isUnset(value)) {
		return problem(
			`'${field}' is empty`,
			givenAs(field, "Enter a time, or set 'When to Call' to 'Now'."),
		);
	}

	const text = String(value)
		.trim()
		.replace(/^(\d{4}-\d{2}-\d{2}) /, '$1T');
	if (TIME_OF_DAY.test(text)) {
		// This field is in the workflow's time zone, but the service reads a time of day as Indian time.
		return field === 'Date and Time'
			? notUnderstood(schedule, WITHOUT_DATE)
			: { value: text.padStart(5, '0') };
	}
	if (WALL_CLOCK.test(text)) {
		return field === 'Time in India' ? notUnderstood(schedule) : wallClock(schedule, text);
	}
	if (!OFFSET.test(text)) return notUnderstood(schedule);
	const at = DateTime.fromISO(text, { setZone: true });
	// Rare forms of ISO 8601, such as 20270131T183000+0530, are converted, because the service may not know them.
	return moment(schedule, at, COMMON_FORM.test(text) ? text : undefined);
}

/** Sends a time as entered if it's in the common form. Otherwise, converts it. */
function moment(schedule: Schedule, at: DateTime, written?: string): Checked<string> {
	return at.isValid ? { value: written ?? withOffset(at) } : notUnderstood(schedule);
}

/** A date and time without an offset. Unambiguous from the date picker, ambiguous from an expression. */
function wallClock(schedule: Schedule, text: string): Checked<string> {
	const { field, value, zone, picked } = schedule;
	const at = DateTime.fromISO(text, { zone });
	if (!at.isValid) return notUnderstood(schedule);
	if (!picked) {
		return problem(
			`'${field}' needs a UTC offset (got ${quoted(value)})`,
			givenAs(
				field,
				`Add the offset, such as ${withOffset(at)}, or end the expression with .toDateTime(), which uses the workflow's time zone (${zone}).`,
			),
		);
	}
	// Luxon would move a time that the clocks skip.
	if (withOffset(at).slice(0, 16) !== text.slice(0, 16)) {
		return problem(
			`'${field}' is a time that doesn't exist in ${zone}, because the clocks go forward (got ${quoted(value)})`,
			forEveryone('Choose an earlier or later time.'),
		);
	}
	// In the hour that occurs twice, Luxon's choice depends on today's date, so always use the first one.
	return moment(schedule, at.getPossibleOffsets()[0] ?? at);
}

/** What each field takes, and what to do about another value. */
const EXPECTED: Record<Schedule['field'], [kind: string, advice: string]> = {
	'Date and Time': [
		'a date and time',
		'Select one, or enter one with its UTC offset, such as 2027-01-31T18:30:00+05:30.',
	],
	'Time in India': ['a 24-hour time', 'Enter a time such as 18:30.'],
	'When to Call': [
		'a time',
		'Use a 24-hour time in India such as 18:30, or a date and time with its offset such as 2027-01-31T18:30:00+05:30.',
	],
};

const WITHOUT_DATE = "Select the date, too, or set 'When to Call' to 'At a Time of Day in India'.";

function notUnderstood({ field, value }: Schedule, otherAdvice?: string): Checked<string> {
	const [kind, advice] = EXPECTED[field];
	return problem(
		`'${field}' must be ${kind} (got ${quoted(value)})`,
		givenAs(field, otherAdvice ?? advice),
	);
}

/**
 * A time of day is never in the past, because the service decides on which day it is.
 *
 * @throws InvalidInput if a scheduled time has passed
 */
export function requireFuture(
	scheduled: string | undefined,
	schedule: Schedule | undefined,
	now: DateTime,
): void {
	if (scheduled === undefined || schedule === undefined || TIME_OF_DAY.test(scheduled)) return;
	const { field, zone } = schedule;
	const at = DateTime.fromISO(scheduled, { zone });
	if (at > now) return;
	const time = inEnglish(at, 'd LLLL yyyy, HH:mm');
	throw new InvalidInput(`'${field}' is in the past (${time}, ${zone})`, {
		onScreen: "Choose a later time, or set 'When to Call' to 'Now'.",
		forModel: `Give a later time. ${formOf(field)}`,
	});
}
