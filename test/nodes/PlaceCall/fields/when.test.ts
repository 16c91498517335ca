import { DateTime } from 'luxon';
import { callWith, messageOf } from '../callForm';

const FIELDS = {
	'Date and Time': { when: 'dateTime', name: 'scheduledAt' },
	'Time in India': { when: 'timeOfDay', name: 'scheduledTime' },
} as const;

type Setting = { field?: keyof typeof FIELDS | 'When to Call'; picked?: boolean; zone?: string };

/** `scheduled_at` of the call with this value, from an expression or the date picker. */
function schedule(
	value: unknown,
	{ field = 'Date and Time', picked = false, zone = 'Asia/Kolkata' }: Setting = {},
): string | undefined {
	if (field === 'When to Call') return callWith({ when: value }, zone).request.scheduled_at;
	const { when, name } = FIELDS[field];
	const expressions = picked ? {} : { [name]: '={{ $json.at }}' };
	return callWith({ when, [name]: value }, zone, expressions).request.scheduled_at;
}

const messageFor = (value: unknown, over: Setting = {}) => messageOf(() => schedule(value, over));

describe.each(['Time in India', 'When to Call'] as const)("a time of day in '%s'", (field) => {
	it.each([
		['18:30', '18:30'],
		['00:00', '00:00'],
		['23:59', '23:59'],
		[' 09:05 ', '09:05'],
		['9:05', '09:05'],
	])('%p is sent as %p', (value, sent) => {
		expect(schedule(value, { field })).toBe(sent);
	});

	it.each(['24:00', '12:60', '6:30 PM', '18.30', '18:30:15', '1830', 'noon'])(
		'%p cannot be read',
		(value) => {
			expect(messageFor(value, { field })).toMatch(
				/ must be a (24-hour )?time \(got ".*such as 18:30/,
			);
		},
	);
});

describe('a value of another kind names what the field takes', () => {
	it.each<[NonNullable<Setting['field']>, unknown, string]>([
		[
			'Date and Time',
			'31/12/2027 17:00',
			`'Date and Time' must be a date and time (got "31/12/2027 17:00"). Select one, or enter one with its UTC offset, such as 2027-01-31T18:30:00+05:30.`,
		],
		[
			'Date and Time',
			'18:30',
			`'Date and Time' must be a date and time (got "18:30"). Select the date, too, or set 'When to Call' to 'At a Time of Day in India'.`,
		],
		[
			'Time in India',
			'6 pm',
			`'Time in India' must be a 24-hour time (got "6 pm"). Enter a time such as 18:30.`,
		],
		[
			'Time in India',
			'2027-12-31 17:00',
			`'Time in India' must be a 24-hour time (got "2027-12-31 17:00"). Enter a time such as 18:30.`,
		],
		[
			'When to Call',
			'soon',
			`'When to Call' must be a time (got "soon"). Use a 24-hour time in India such as 18:30, or a date and time with its offset such as 2027-01-31T18:30:00+05:30.`,
		],
	])('%s: %p', (field, value, message) => {
		expect(messageFor(value, { field })).toBe(message);
		expect(messageFor(value, { field, picked: true })).toBe(message);
	});
});

describe('a timestamp with offset', () => {
	it.each([
		'2026-11-20T18:30:00+05:30',
		'2026-11-20T18:30+05:30',
		'2026-11-20T18:30:00.250+05:30',
		'2026-11-20T13:00:00Z',
		'2026-11-20T08:00:00-05:00',
	])('%s is sent as written', (value) => {
		expect(schedule(value)).toBe(value);
	});

	it.each(['20261120T183000+0530', '2026-11-20T18:30:00+0530', '2026-W47-5T18:30:00+05:30'])(
		'%s, a rare form of ISO 8601, is sent in the common one',
		(value) => {
			expect(schedule(value)).toBe('2026-11-20T18:30:00+05:30');
		},
	);

	it('accepts a space instead of the T', () => {
		expect(schedule('2026-11-20 18:30:00+05:30')).toBe('2026-11-20T18:30:00+05:30');
	});

	it.each(['2026-02-30T10:00:00+05:30', '2026-11-20T25:00:00Z', '2026-13-01T10:00:00+05:30'])(
		'%s does not exist',
		(value) => {
			expect(messageFor(value)).toContain(`must be a date and time (got "${value}")`);
		},
	);
});

describe('a date object of an expression', () => {
	it('a luxon DateTime keeps its own zone', () => {
		const value = DateTime.fromISO('2026-11-20T18:30:00', { zone: 'Europe/Berlin' });
		expect(schedule(value)).toBe('2026-11-20T18:30:00+01:00');
	});

	it('a DateTime in UTC carries a numeric offset', () => {
		expect(schedule(DateTime.utc(2026, 11, 20, 18, 30))).toBe('2026-11-20T18:30:00+00:00');
	});

	it('a DateTime of another locale is still written in plain digits', () => {
		const value = DateTime.utc(2026, 11, 20, 18, 30).setLocale('ar-EG');
		expect(schedule(value)).toBe('2026-11-20T18:30:00+00:00');
	});

	it("a DateTime's own text is sent unchanged", () => {
		const value = DateTime.fromISO('2026-11-20T18:30:00', { zone: 'Asia/Kolkata' });
		expect(schedule(value.toString())).toBe('2026-11-20T18:30:00.000+05:30');
	});

	it('a JavaScript date is written in the zone of the workflow', () => {
		expect(schedule(new Date('2026-11-20T13:00:00Z'))).toBe('2026-11-20T18:30:00+05:30');
	});

	it.each([DateTime.invalid('unparsable'), new Date('nonsense')])(
		'an invalid one is rejected',
		(value) => {
			expect(messageFor(value)).toContain('must be a date and time (got ');
		},
	);
});

describe('a date and time without an offset', () => {
	it.each([
		['2026-11-20T18:30:00', 'Asia/Kolkata', '2026-11-20T18:30:00+05:30'],
		['2026-11-20T18:30:00', 'America/New_York', '2026-11-20T18:30:00-05:00'],
		['2026-07-20T18:30:00', 'America/New_York', '2026-07-20T18:30:00-04:00'],
		['2026-11-20 18:30', 'UTC', '2026-11-20T18:30:00+00:00'],
		// The hour that occurs twice: the first one.
		['2026-10-25T02:30:00', 'Europe/Berlin', '2026-10-25T02:30:00+02:00'],
	])('%s picked in %s is sent as %s', (value, zone, sent) => {
		expect(schedule(value, { picked: true, zone })).toBe(sent);
	});

	it('is shown as entered', () => {
		expect(messageFor('2027-12-31 17:00')).toContain('(got "2027-12-31 17:00")');
	});

	it('in the hour that the clocks skip is rejected', () => {
		const over = { picked: true, zone: 'Europe/Berlin' };
		expect(messageFor('2027-03-28T02:30:00', over)).toBe(
			`'Date and Time' is a time that doesn't exist in Europe/Berlin, because the clocks go forward (got "2027-03-28T02:30:00"). Choose an earlier or later time.`,
		);
		expect(schedule('2027-03-28T03:30:00', over)).toBe('2027-03-28T03:30:00+02:00');
	});

	it('from an expression is rejected with the format to use', () => {
		expect(messageFor('2026-11-20T18:30:00')).toBe(
			`'Date and Time' needs a UTC offset (got "2026-11-20T18:30:00"). Add the offset, such as 2026-11-20T18:30:00+05:30, or end the expression with .toDateTime(), which uses the workflow's time zone (Asia/Kolkata).`,
		);
	});

	it.each([true, false])('that is impossible is rejected (picked: %p)', (picked) => {
		expect(messageFor('2026-02-30T10:00:00', { picked })).toContain(
			'must be a date and time (got ',
		);
	});

	it('without a time is rejected', () => {
		expect(messageFor('2026-11-20', { picked: true })).toContain('must be a date and time (got ');
	});
});

describe('nothing', () => {
	it.each(['', '   ', null])('%p never means now', (value) => {
		expect(messageFor(value)).toBe(
			"'Date and Time' is empty. Enter a time, or set 'When to Call' to 'Now'.",
		);
	});
});
