import { DateTime } from 'luxon';

import { inEnglish, withOffset } from '../../shared/clock';
import { forEveryone } from '../../shared/api/modelAdvice';
import { formOf, givenAs } from '../../shared/modelForms';
import { type Checked, isUnset, problem, quoted } from '../../shared/values';

export type Schedule = {
	/** The field's name on the screen. */
	field: 'Date and Time' | 'Time in India' | 'When to Call';
	/** Text, a Date or a luxon DateTime: whatever the field or its expression gave. */
	value: unknown;
	/** The workflow's time zone. */
	zone: string;
	/** Whether it was picked in the editor, where a time is meant in the workflow's zone. */
	picked: boolean;
	now: DateTime;
};

const TIME_OF_DAY = /^([01]?\d|2[0-3]):[0-5]\d$/;
const WALL_CLOCK = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;
const OFFSET = /^[^T]*T[^Z+-]*(Z|[+-]\d{2}(:?\d{2})?)$/i;
const COMMON_FORM = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

/** `scheduled_at` as the service takes it: `HH:MM` in IST, or ISO 8601 with offset. */
export function scheduledAt(schedule: Schedule): Checked<string> {
	const { field, value, zone } = schedule;
	if (DateTime.isDateTime(value)) return moment(schedule, value);
	if (value instanceof Date) return moment(schedule, DateTime.fromJSDate(value, { zone }));

	if (isUnset(value)) {
		return problem(`${field} is empty`, givenAs(field, 'Fill it in, or set When to Call to Now.'));
	}

	const text = String(value)
		.trim()
		.replace(/^(\d{4}-\d{2}-\d{2}) /, '$1T');
	if (TIME_OF_DAY.test(text)) return { value: text.padStart(5, '0') };
	if (WALL_CLOCK.test(text)) return wallClock(schedule, text);
	if (!OFFSET.test(text)) return notUnderstood(schedule);
	const at = DateTime.fromISO(text, { setZone: true });
	// ISO 8601 has rarer forms, such as 20270131T183000+0530, that not every reader knows.
	return moment(schedule, at, COMMON_FORM.test(text) ? text : undefined);
}

/** A moment is sent as the user wrote it where that is the common form, else in that form. */
function moment(schedule: Schedule, at: DateTime, written?: string): Checked<string> {
	const { field, zone, now } = schedule;
	if (!at.isValid) return notUnderstood(schedule);
	if (at <= now) {
		const when = inEnglish(at.setZone(zone), 'd LLLL yyyy, HH:mm');
		return problem(`${field} is in the past: ${when} (${zone})`, {
			onScreen: 'Choose a later time, or set When to Call to Now.',
			forModel: `Give a later time. ${formOf(field)}`,
		});
	}
	return { value: written ?? withOffset(at) };
}

/** A date and time without an offset: clear from the date picker, ambiguous from an expression. */
function wallClock(schedule: Schedule, text: string): Checked<string> {
	const { field, zone, picked } = schedule;
	const at = DateTime.fromISO(text, { zone });
	if (!at.isValid) return notUnderstood(schedule);
	if (!picked) {
		return problem(
			`${field} holds ${quoted(text)}, which names no time zone`,
			givenAs(
				field,
				`Add the offset, for example ${withOffset(at)}, or end the expression with .toDateTime(), which takes the workflow’s time zone (${zone}).`,
			),
		);
	}
	// Luxon moves a time that the clocks skip; the person must choose instead.
	if (withOffset(at).slice(0, 16) !== text.slice(0, 16)) {
		return problem(
			`${field} holds ${quoted(text)}, which does not exist in ${zone}: the clocks skip it that day`,
			forEveryone('Choose a time before or after.'),
		);
	}
	// In the hour that happens twice luxon's choice depends on today; ours is always the first.
	return moment(schedule, at.getPossibleOffsets()[0] ?? at);
}

function notUnderstood({ field, value }: Schedule): Checked<string> {
	return problem(
		`${field} holds ${quoted(value)}, which cannot be read as a time`,
		givenAs(
			field,
			'Use a 24-hour time in India such as 18:30, or a date and time with its offset such as 2027-01-31T18:30:00+05:30.',
		),
	);
}
