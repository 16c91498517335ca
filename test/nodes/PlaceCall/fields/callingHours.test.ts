import fc from 'fast-check';
import { DateTime, IANAZone } from 'luxon';
import {
	isOpen,
	nextOpening,
	OutsideHours,
	withinHours,
	type CallingHours,
} from '../../../../nodes/PlaceCall/request/openingHours';
import { callWith, messageOf } from '../callForm';

type Written = { [field: string]: unknown };

const FIELDS = { days: 'Mon-Fri', from: '09:00', to: '18:00', timeZone: 'Asia/Kolkata' };

function hoursOf({ outside = 'schedule', exceptOn, ...over }: Written = {}): CallingHours {
	const callingHours = { hours: { ...FIELDS, ...over } };
	const { hours } = callWith({
		options: { callingHours, callingHoursExceptOn: exceptOn, outsideCallingHours: outside },
	});
	if (hours === undefined) throw new Error('not read');
	return hours;
}

const messageFor = (over: Written) => messageOf(() => hoursOf(over));
const isRejected = (over: Written) => {
	try {
		hoursOf(over);
		return false;
	} catch {
		return true;
	}
};
const at = (iso: string) => DateTime.fromISO(iso, { setZone: true });
const isoOf = (moment: DateTime | undefined) =>
	moment?.toISO({ suppressMilliseconds: true }) ?? undefined;
const opening = (iso: string, over: Written = {}) => isoOf(nextOpening(hoursOf(over), at(iso)));

describe('the days', () => {
	test.each<[string, number[]]>([
		['Mon-Sun', [1, 2, 3, 4, 5, 6, 7]],
		['Mon-Fri', [1, 2, 3, 4, 5]],
		['Sun-Thu', [1, 2, 3, 4, 7]],
		['saturday', [6]],
		['Mon, Wed;FRI', [1, 3, 5]],
		['Mon - Wed, Sat', [1, 2, 3, 6]],
		['Tuesday to Thursday', [2, 3, 4]],
		['Thurs, Tues', [2, 4]],
		['Sat–Sun', [6, 7]],
	])('%s', (days, numbers) => {
		expect([...hoursOf({ days }).days].sort()).toEqual(numbers);
	});

	test.each<[string, unknown, number[]]>([
		['chosen days', ['saturday', 'monday'], [1, 6]],
		['a list from an expression', ['Mon-Wed', 'Sun'], [1, 2, 3, 7]],
	])('%s', (_what, days, numbers) => {
		expect([...hoursOf({ days }).days].sort()).toEqual(numbers);
	});

	test.each([
		['Mon-Fr', '"Fr" in "Mon-Fr"'],
		['Mon-Firday', '"Firday" in "Mon-Firday"'],
		['Mon to Freitag', '"Freitag" in "Mon to Freitag"'],
		['Lun-Fri', '"Lun" in "Lun-Fri"'],
		['Sat, Mon-F', '"F" in "Sat, Mon-F"'],
		['Fryday', '"Fryday"'],
		['Mon-', '"Mon-"'],
		['-Fri', '"-Fri"'],
		['Mon-Wed-Fri', '"Mon-Wed-Fri"'],
	])('%p is rejected because of %s', (days, wrong) => {
		expect(messageFor({ days })).toContain(
			`'Days' in 'Calling Hours' must list weekdays (got ${wrong})`,
		);
	});

	test('a text is rejected, unless each of its words is the beginning of a day', () => {
		const word = fc.oneof(
			fc.constantFrom('Mon', 'tue', 'Thurs', 'FRIDAY', 'Sun', 'Fr', 'Firday', 'M', 'to', ''),
			fc.string({ maxLength: 4 }),
		);
		const between = fc.constantFrom('-', ' - ', ' to ', ',', ', ', ';', ' ');
		const text = fc
			.array(fc.tuple(word, between), { minLength: 1, maxLength: 5 })
			.map((parts) => parts.flat().slice(0, -1).join(''));
		const names = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
		const isDay = (name: string) =>
			name.length >= 3 && names.some((day) => day.startsWith(name.toLowerCase()));
		fc.assert(
			fc.property(text, (days) => {
				if (isRejected({ days })) return;
				const words = days.split(/[\s,;–—-]+/).filter((each) => !/^(to)?$/i.test(each));
				expect(words.filter((each) => !isDay(each))).toEqual([]);
			}),
			{ numRuns: 2_000 },
		);
	});

	test.each(['Mon-Wed-Fri', 'weekdays', 'Mo', 'Mon, someday', 'constructor', '-'])(
		'%p is rejected',
		(days) => expect(messageFor({ days })).toMatch(/must list weekdays \(got ".*Mon-Wed, Sat/),
	);
});

test.each([
	['9am', '09:00'],
	['9:05 AM', '09:05'],
	['6:30 pm', '18:30'],
	['6:30 p.m.', '18:30'],
	['12 am', '00:00'],
	['12:15pm', '12:15'],
])('the time %p is %s', (from, same) => {
	const hoursFrom = (time: string) => hoursOf({ from: time, to: '23:00' });
	expect(hoursFrom(from)).toEqual(hoursFrom(same));
});

describe('invalid hours are reported', () => {
	test.each<[Written, RegExp]>([
		[{ days: '' }, /^'Days' in 'Calling Hours' is empty/],
		[{ days: ' , ' }, /^'Days' in 'Calling Hours' is empty/],
		[{ days: [] }, /^'Days' in 'Calling Hours' is empty/],
		[{ days: ['monday', 'someday'] }, /list weekdays \(got "someday" in "monday, someday"\)/],
		[{ from: '' }, /^'From' in 'Calling Hours' is empty/],
		[{ to: null }, /^'To' in 'Calling Hours' is empty/],
		[{ from: '9' }, /^'From' in 'Calling Hours' must be a time of day \(got "9"\)/],
		[{ to: '13 pm' }, /^'To' in 'Calling Hours' must be a time of day \(got "13 pm"\)/],
		[{ to: '0am' }, /^'To' in 'Calling Hours' must be a time of day \(got "0am"\)/],
		[{ to: '24:01' }, /^'To' in 'Calling Hours' must be a time of day \(got "24:01"\)/],
		[{ to: '18:60' }, /^'To' in 'Calling Hours' must be a time of day \(got "18:60"\)/],
		[{ from: '18:00' }, /^'From' and 'To' in 'Calling Hours' leave no time to call/],
		[{ from: '24:00', to: '06:00' }, /leave no time to call/],
		[{ timeZone: '' }, /^'Time Zone' in 'Calling Hours' is empty.*could place calls at night/],
		[{ timeZone: null }, /^'Time Zone' in 'Calling Hours' is empty/],
		[
			{ timeZone: 'IST' },
			/^'Time Zone' in 'Calling Hours' must be the name of a time zone \(got "IST"\)/,
		],
		[{ timeZone: 'EST' }, /must be the name of a time zone \(got "EST"\)/],
		[{ timeZone: '+05:30' }, /must be the name of a time zone \(got "\+05:30"\)/],
		[{ timeZone: 'Asia/Nowhere' }, /must be the name of a time zone \(got "Asia\/Nowhere"\)/],
		[
			{ timeZone: 'Etc/GMT+5' },
			/^'Time Zone' in 'Calling Hours' is ambiguous: "Etc\/GMT\+5" means UTC-5, although it looks like UTC\+5\. Enter a name instead: America\/Lima for UTC-5, Asia\/Karachi for UTC\+5\.$/,
		],
		[
			{ timeZone: 'etc/gmt-9' },
			/means UTC\+9, although it looks like UTC-9\. Enter a name instead: Asia\/Tokyo for UTC\+9, Pacific\/Gambier for UTC-9\.$/,
		],
		[
			{ timeZone: 'Etc/GMT-14' },
			/means UTC\+14, although .* UTC-14\. Enter a name instead: Pacific\/Kiritimati for UTC\+14\.$/,
		],
		[
			{ timeZone: 'Etc/GMT+12' },
			/means UTC-12, although .* UTC\+12\. Enter a name instead: Pacific\/Tarawa for UTC\+12\.$/,
		],
		...[
			'Etc/GMT+13',
			'Etc/GMT-15',
			'etc/gmt+99',
			'Etc/GMT+05',
			'SystemV/EST5',
			'systemv/ast4adt',
		].map((timeZone): [Written, RegExp] => [
			{ timeZone },
			/must be the name of a time zone \(got "[^"]+"\)\. Enter .* such as Asia\/Kolkata/,
		]),
		[
			{ from: '', to: 'x' },
			/^2 fields need attention.* \(1\) 'From' in 'Calling Hours' is empty\. .* \(2\) 'To' in 'Calling Hours' must be a time of day \(got "x"\)/,
		],
	])('%j', (over, words) => expect(messageFor(over)).toMatch(words));

	test('hours that are added, but not filled in', () => {
		const read = () => callWith({ options: { callingHours: {} } });
		expect(messageOf(read)).toBe(
			"'Calling Hours' is empty. Add hours, or remove 'Calling Hours' and 'Calling Hours Except On'.",
		);
	});
});

describe('Calling Hours Except On', () => {
	test('dates without hours are reported, because they would have no effect', () => {
		const read = () => callWith({ options: { callingHoursExceptOn: '2026-12-25' } });
		expect(messageOf(read)).toContain("'Calling Hours' is empty");
	});

	const exceptOf = (exceptOn: unknown) => hoursOf({ exceptOn }).except;

	test.each<[string, unknown, Array<[string, string]>]>([
		['a date', '2026-12-25', [['2026-12-25', '2026-12-25']]],
		[
			'dates and a range',
			' 2026-12-25 ,2027-01-01  to 2027-01-06;\n2027-02-28',
			[
				['2026-12-25', '2026-12-25'],
				['2027-01-01', '2027-01-06'],
				['2027-02-28', '2027-02-28'],
			],
		],
		['an ISO interval', '2026-12-24/2026-12-26', [['2026-12-24', '2026-12-26']]],
		['a range with a hyphen', '2026-12-24 - 2026-12-26', [['2026-12-24', '2026-12-26']]],
		['a leap day', '2028-02-29', [['2028-02-29', '2028-02-29']]],
		[
			'a list from an expression',
			['2026-12-25', '2027-01-01 to 2027-01-02'],
			[
				['2026-12-25', '2026-12-25'],
				['2027-01-01', '2027-01-02'],
			],
		],
		['an empty list', [], []],
		['nothing', '', []],
	])('%s', (_what, exceptOn, ranges) => {
		expect(exceptOf(exceptOn)).toEqual(ranges.map(([first, last]) => ({ first, last })));
	});

	test.each([
		'25.12.2026',
		'12/25/2026',
		'2026-12-32',
		'2027-02-29',
		'2026-12',
		'Christmas',
		'2026-12-25T00:00:00Z',
		'2026-12-25 to',
		'2026-12-25 to 2026-13-01',
		'2026-12-24 to 2026-12-26 to 2026-12-28',
	])('%s is rejected', (date) => {
		expect(messageFor({ exceptOn: `2026-12-01, ${date}` })).toBe(
			`'Calling Hours Except On' must list dates (got "${date}"). Enter dates as year, month, and day, such as 2026-12-25, 2027-01-01 to 2027-01-06.`,
		);
	});

	test('a range that ends before it starts is rejected', () => {
		expect(messageFor({ exceptOn: '2027-01-06 to 2027-01-01' })).toBe(
			`A range in 'Calling Hours Except On' ends before it starts (got "2027-01-06 to 2027-01-01"). Enter the earlier date first.`,
		);
	});

	test.each([
		['a date is skipped', '09:00', '2026-11-23', '2026-11-24T09:00:00+05:30'],
		['a range is skipped', '09:00', '2026-11-23 to 2026-11-26', '2026-11-27T09:00:00+05:30'],
		['a date of the weekend changes nothing', '09:00', '2026-11-21', '2026-11-23T09:00:00+05:30'],
		['weeks are skipped', '09:00', '2026-11-21 to 2027-01-03', '2027-01-04T09:00:00+05:30'],
	])('%s', (_what, from, exceptOn, expected) => {
		expect(opening('2026-11-20T22:00:00+05:30', { from, exceptOn })).toBe(expected);
	});

	test.each([
		['the date begins at midnight', '2026-11-24', '2026-11-24T00:30:00+05:30', false],
		['the hours before midnight stay', '2026-11-24', '2026-11-23T23:59:59+05:30', true],
		[
			'hours of the date do not continue after it',
			'2026-11-24',
			'2026-11-25T00:30:00+05:30',
			false,
		],
		['the next hours start as usual', '2026-11-24', '2026-11-25T22:00:00+05:30', true],
	])('of hours over midnight: %s', (_what, exceptOn, moment, open) => {
		const night = { days: 'Mon-Sun', from: '22:00', to: '06:00', exceptOn };
		expect(isOpen(hoursOf(night), at(moment))).toBe(open);
	});

	test('the date is that of the time zone of the hours', () => {
		const tokyo = { days: 'Mon-Sun', from: '00:00', to: '24:00', timeZone: 'Asia/Tokyo' };
		const hours = hoursOf({ ...tokyo, exceptOn: '2026-12-25' });
		expect(isOpen(hours, at('2026-12-24T14:59:59Z'))).toBe(true);
		expect(isOpen(hours, at('2026-12-24T15:00:00Z'))).toBe(false);
		expect(isOpen(hours, at('2026-12-25T14:59:59Z'))).toBe(false);
		expect(isOpen(hours, at('2026-12-25T15:00:00Z'))).toBe(true);
	});
});

describe('the next opening', () => {
	test.each([
		['on a working day, within', '2026-11-20T12:00:00+05:30', '2026-11-20T12:00:00+05:30'],
		['the first minute', '2026-11-20T09:00:00+05:30', '2026-11-20T09:00:00+05:30'],
		['the second before', '2026-11-20T08:59:59+05:30', '2026-11-20T09:00:00+05:30'],
		['the last second', '2026-11-20T17:59:59+05:30', '2026-11-20T17:59:59+05:30'],
		['the end minute', '2026-11-20T18:00:00+05:30', '2026-11-23T09:00:00+05:30'],
		['at the weekend', '2026-11-21T12:00:00+05:30', '2026-11-23T09:00:00+05:30'],
		['on another day elsewhere', '2026-11-22T23:00:00-05:00', '2026-11-22T23:00:00-05:00'],
	])('%s', (_when, from, expected) => {
		expect(at(opening(from) ?? '').toMillis()).toBe(at(expected).toMillis());
	});

	const night = { from: '22:00', to: '06:00' };
	test.each([
		['after midnight of a day of theirs', '2026-11-21T05:59:00+05:30', '2026-11-21T05:59:00+05:30'],
		['their end', '2026-11-21T06:00:00+05:30', '2026-11-23T22:00:00+05:30'],
		['after midnight of another day', '2026-11-23T05:00:00+05:30', '2026-11-23T22:00:00+05:30'],
		['before midnight', '2026-11-20T23:00:00+05:30', '2026-11-20T23:00:00+05:30'],
	])('of hours over midnight: %s', (_when, from, expected) => {
		expect(opening(from, night)).toBe(expected);
	});

	test('of whole days', () => {
		const whole = { days: 'Mon', from: '00:00', to: '24:00' };
		expect(opening('2026-11-23T23:59:59+05:30', whole)).toBe('2026-11-23T23:59:59+05:30');
		expect(opening('2026-11-24T00:00:00+05:30', whole)).toBe('2026-11-30T00:00:00+05:30');
	});

	const berlin = { days: 'Mon-Sun', timeZone: 'Europe/Berlin' };
	test.each([
		['clocks go forward overnight', {}, '2027-03-27T20:00:00+01:00', '2027-03-28T09:00:00+02:00'],
		['clocks go back overnight', {}, '2026-10-24T20:00:00+02:00', '2026-10-25T09:00:00+01:00'],
		[
			'at a time that the clocks skip',
			{ from: '02:30', to: '05:00' },
			'2027-03-28T01:00:00+01:00',
			'2027-03-28T03:00:00+02:00',
		],
		[
			'at a time that comes twice, the first',
			{ from: '02:30', to: '05:00' },
			'2026-10-25T01:00:00+02:00',
			'2026-10-25T02:30:00+02:00',
		],
		[
			'at a time that comes twice, the second',
			{ from: '02:30', to: '02:45' },
			'2026-10-25T02:50:00+02:00',
			'2026-10-25T02:30:00+01:00',
		],
		[
			'within hours that come back with the clocks',
			{ from: '01:30', to: '02:15' },
			'2026-10-25T02:20:00+02:00',
			'2026-10-25T02:00:00+01:00',
		],
	])('%s', (_when, over, from, expected) => {
		expect(opening(from, { ...berlin, ...over })).toBe(expected);
	});

	test('of hours that the clocks skip is a week later', () => {
		const skipped = { ...berlin, days: 'Sun', from: '02:00', to: '02:30' };
		expect(opening('2027-03-27T12:00:00+01:00', skipped)).toBe('2027-04-04T02:00:00+02:00');
	});
});

/** The first matching minute, by trying each one. */
function byTheMinute(hours: CallingHours, from: DateTime, wanted: boolean): number | undefined {
	if (isOpen(hours, from) === wanted) return from.toMillis();
	let minute = Math.floor(from.toMillis() / 60_000) + 1;
	for (const end = minute + 17 * 24 * 60; minute < end; minute++) {
		const moment = DateTime.fromMillis(minute * 60_000, { zone: hours.zone });
		if (isOpen(hours, moment) === wanted) return moment.toMillis();
	}
	return undefined;
}

const someHours = fc
	.record({
		days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 7 }),
		from: fc.integer({ min: 0, max: 95 }),
		to: fc.integer({ min: 0, max: 96 }),
		zone: fc.constantFrom(
			'Asia/Kolkata',
			'Europe/Berlin',
			'America/New_York',
			'America/Santiago',
			'Africa/Cairo',
			'Australia/Lord_Howe',
			'Asia/Kathmandu',
			'UTC',
		),
	})
	.filter(({ from, to }) => from !== to)
	.map(
		({ days, from, to, zone }): CallingHours => ({
			days: new Set(days),
			from: from * 15,
			to: to * 15,
			zone,
			except: [],
			outside: 'schedule',
		}),
	);
/** Mostly near clock changes in Berlin, New York, Santiago, Cairo, and on Lord Howe Island. */
const someMoment = fc
	.oneof(
		fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2028-01-01') }),
		fc
			.tuple(
				fc.constantFrom(
					'2027-03-28',
					'2026-10-25',
					'2027-03-14',
					'2026-11-01',
					'2027-04-04',
					'2026-09-06',
					'2027-04-30',
					'2026-10-30',
					'2026-10-04',
				),
				fc.integer({ min: -86_400_000, max: 2 * 86_400_000 }),
			)
			.map(([day, off]) => Date.parse(day) + off),
	)
	.map((ms) => DateTime.fromMillis(ms, { zone: 'utc' }));

test.each(['Etc/UTC', 'Etc/GMT', 'Etc/GMT0', 'Etc/GMT+0', 'Etc/GMT-0', 'UTC'])(
	'the time zone %s is unambiguous',
	(timeZone) => {
		expect(hoursOf({ timeZone }).zone).toBe(timeZone);
	},
);

test('the message about an inverted sign is only for existing zones, and has the right offset', () => {
	for (let hours = -20; hours <= 20; hours++) {
		const zone = `Etc/GMT${hours < 0 ? '' : '+'}${hours}`;
		const { offset } = DateTime.fromMillis(0, { zone });
		const message = hours === 0 ? '' : messageFor({ timeZone: zone });
		const [, meant] = /means UTC([+-]\d+)/.exec(message) ?? [];
		const isTold = hours !== 0 && IANAZone.isValidZone(zone);
		expect({ zone, offset: meant && 60 * Number(meant) }).toEqual({
			zone,
			offset: isTold ? offset : undefined,
		});
	}
});

test('for each zone with an inverted sign, the message names zones with both offsets all year', () => {
	for (let hours = -14; hours <= 12; hours++) {
		if (hours === 0) continue;
		const zone = `Etc/GMT${hours > 0 ? '+' : ''}${hours}`;
		const places = [...messageFor({ timeZone: zone }).matchAll(/(\w+\/\w+) for UTC([+-]\d+)/g)];
		expect(places.length).toBeGreaterThan(0);
		for (const [, place, offset] of places) {
			for (let month = 1; month <= 12; month++) {
				const noon = DateTime.fromObject({ year: 2026, month, day: 15, hour: 12 }, { zone: place });
				expect({ zone, place, offset: noon.offset }).toEqual({
					zone,
					place,
					offset: 60 * Number(offset),
				});
			}
		}
	}
});

/** Ranges in the days after a moment, as offset and length in days. */
const someRanges = fc.array(fc.tuple(fc.integer({ min: -1, max: 5 }), fc.nat({ max: 2 })), {
	maxLength: 2,
});

test('the next opening is the first one, in every zone, across every clock change, and with exceptions', () => {
	fc.assert(
		fc.property(someHours, someMoment, someRanges, (weekly, moment, ranges) => {
			const dateAfter = (days: number) =>
				moment.setZone(weekly.zone).plus({ days }).toISODate() ?? '';
			const except = ranges.map(([offset, length]) => ({
				first: dateAfter(offset),
				last: dateAfter(offset + length),
			}));
			const hours = { ...weekly, except };
			expect(nextOpening(hours, moment)?.toMillis()).toBe(byTheMinute(hours, moment, true));
		}),
		{ numRuns: 150 },
	);
});

function catching(attempt: () => unknown): OutsideHours {
	try {
		attempt();
	} catch (error) {
		if (error instanceof OutsideHours) return error;
	}
	throw new Error('the call was not kept back');
}

describe('when a call is placed', () => {
	const noon = at('2026-11-20T12:00:00+05:30');
	const evening = at('2026-11-20T19:00:00+05:30');
	const within = (scheduled: string | undefined, now: DateTime, over: Written = {}) =>
		withinHours(hoursOf(over), scheduled, now);

	test('immediately, within the hours', () => {
		expect(within(undefined, noon)).toBeUndefined();
	});

	test.each<[string, string | undefined, DateTime, string]>([
		['now, in the evening', undefined, evening, '2026-11-23T09:00:00+05:30'],
		['later, within', '2026-11-24T10:00:00Z', evening, '2026-11-24T10:00:00Z'],
		['later, outside', '2026-11-24T20:00:00+05:30', noon, '2026-11-25T09:00:00+05:30'],
		['later, on a Saturday', '2026-11-21T10:00:00+05:30', noon, '2026-11-23T09:00:00+05:30'],
		['at a time of day that is still to come', '17:00', noon, '2026-11-20T17:00:00+05:30'],
		// Tomorrow would be a Saturday.
		['at a past time of day', '10:00', noon, '2026-11-23T09:00:00+05:30'],
		// It's the current minute, so the service would use the next day.
		['at the time of day that it is', '12:00', noon, '2026-11-23T09:00:00+05:30'],
		['at a time of day outside', '19:00', noon, '2026-11-23T09:00:00+05:30'],
	])('%s', (_when, scheduled, now, expected) => {
		expect(within(scheduled, now)).toBe(expected);
	});

	test.each<[string, string, string | undefined]>([
		['that is open', '2026-11-20T17:59:59+05:30', '2026-11-20T17:59:50+05:30'],
		['that is closed', '2026-11-20T18:00:08+05:30', '2026-11-23T09:00:00+05:30'],
	])('a time that has passed counts as now, at a moment %s', (_when, now, expected) => {
		expect(within('2026-11-20T17:59:50+05:30', at(now))).toBe(expected);
	});

	test('at any requested and any sending time, the call is within the hours', () => {
		fc.assert(
			fc.property(
				someHours,
				someMoment,
				fc.option(fc.integer({ min: -3_600_000, max: 3 * 86_400_000 }), { nil: undefined }),
				fc.constantFrom('schedule', 'notPlaced'),
				(hours, now, ahead, outside) => {
					const wanted = ahead === undefined ? undefined : now.plus(ahead).toISO();
					try {
						const sent = withinHours({ ...hours, outside }, wanted ?? undefined, now);
						const rings = sent === undefined ? now : DateTime.max(now, at(sent));
						expect(isOpen(hours, rings)).toBe(true);
					} catch (error) {
						if (!(error instanceof OutsideHours)) throw error;
						const rings = wanted ? DateTime.max(now, at(wanted)) : now;
						expect(isOpen(hours, rings)).toBe(false);
					}
				},
			),
			{ numRuns: 500 },
		);
	});

	test('the time of day in India of a person elsewhere', () => {
		const over = { timeZone: 'America/New_York' };
		expect(within('10:00', noon, over)).toBe('2026-11-23T09:00:00-05:00');
		expect(within('20:00', noon, over)).toBe('2026-11-20T20:00:00+05:30');
	});

	test.each([undefined, '2026-11-20T22:00:00+05:30', '21:00'])(
		"outside the hours, it isn't placed if set: %p",
		(scheduled) => {
			const attempt = () => within(scheduled, evening, { outside: 'notPlaced' });
			expect(attempt).toThrow(OutsideHours);
			const { outcome, resolution } = catching(attempt);
			expect(outcome).toBe('not_sent');
			expect(resolution).toContain('Monday, 23 November 2026, 09:00 (Asia/Kolkata)');
		},
	);

	test('it is never outside the hours', () => {
		const times = fc.option(someMoment, { nil: undefined });
		fc.assert(
			fc.property(someHours, someMoment, times, (hours, now, later) => {
				const scheduled = later?.toISO() ?? undefined;
				const placed = withinHours(hours, scheduled, now);
				// A past time counts as now.
				const rings = placed === undefined ? now : DateTime.max(now, at(placed));
				expect(isOpen(hours, rings)).toBe(true);
				expect(rings >= (later ?? now).startOf('second')).toBe(true);
			}),
			{ numRuns: 300 },
		);
	});
});
