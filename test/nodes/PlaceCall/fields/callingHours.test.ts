import { DateTime } from 'luxon';
import type { CallingHours } from '../../../../nodes/PlaceCall/callTime';
import { callWith, messageOf } from '../callForm';
import { HOURS } from '../placeCallHarness';

type Written = { [field: string]: unknown };

function hoursOf(over: Written = {}, call: Written = {}): CallingHours {
	const { time } = callWith({ ...call, ...HOURS, ...over });
	if (time.hours === undefined) throw new Error('not read');
	return time.hours;
}

const same = (days: string): [string, string] => [days, days];

const messageFor = (over: Written) => messageOf(() => hoursOf(over));

describe('the days', () => {
	test.each<[unknown, number[]]>([
		['Mon-Sun', [1, 2, 3, 4, 5, 6, 7]],
		['Sun-Thu', [1, 2, 3, 4, 7]],
		['saturday', [6]],
		['Mon, Wed,FRI', [1, 3, 5]],
		['Mon - Wed, Sat', [1, 2, 3, 6]],
		['Thurs, Tues', [2, 4]],
		['Sat–Sun', [6, 7]],
		[
			['saturday', 'monday'],
			[1, 6],
		],
		[
			['Mon-Wed', 'Sun'],
			[1, 2, 3, 7],
		],
	])('%j', (days, numbers) => {
		expect([...hoursOf({ callingDays: days }).days].sort()).toEqual(numbers);
	});

	test.each<[days: string, wrong: string]>([
		['Sat, Mon-F', 'Mon-F'],
		...['Mon-Fr', 'Mon to Fri', 'Lun-Fri', 'Fryday', 'Mon-', '-Fri', 'Mon-Wed-Fri'].map(same),
		...['weekdays', 'Mo', 'constructor', '-'].map(same),
	])('%p is rejected because of %p', (days, wrong) => {
		expect(messageFor({ callingDays: days })).toContain(
			`'Calling Days' must list weekdays (got "${wrong}"). Choose the days`,
		);
	});
});

test.each<[unknown, string]>([
	[0.375, '09:00'],
	['9:00:00', '09:00'],
	['9.30am', '09:30'],
	['९:३०', '09:30'],
	['9am', '09:00'],
	['9:05 AM', '09:05'],
	['6:30 pm', '18:30'],
	['6:30 p.m.', '18:30'],
	['12 am', '00:00'],
	['12:15pm', '12:15'],
])('the time %p is %s', (from, same) => {
	const hoursFrom = (time: unknown) => hoursOf({ callingFrom: time, callingUntil: '23:00' });
	expect(hoursFrom(from)).toEqual(hoursFrom(same));
});

describe('invalid hours are reported', () => {
	test.each<[Written, RegExp]>([
		[{ callingDays: '' }, /^'Calling Days' is empty/],
		[{ callingDays: ' , ' }, /^'Calling Days' is empty/],
		[{ callingDays: [] }, /^'Calling Days' is empty/],
		[{ callingDays: ['monday', 'someday'] }, /list weekdays \(got "someday"\)/],
		[{ callingFrom: '' }, /^'Calling From' is empty/],
		[{ callingUntil: null }, /^'Calling Until' is empty/],
		[{ callingFrom: '109:00' }, /^'Calling From' must be a time of day \(got "109:00"\)/],
		[{ callingFrom: '9' }, /^'Calling From' must be a time of day \(got "9"\)/],
		[{ callingFrom: 9.3 }, /^'Calling From' must be a time of day \(got "9\.3"\)/],
		[
			{ callingFrom: DateTime.fromISO('2027-01-31T09:00', { zone: 'Asia/Kolkata' }) },
			/^'Calling From' must be a time of day \(got "2027-01-31T09:00:00.000\+05:30"\)\. .* end it with \.toFormat\("HH:mm"\)\. For times of a sheet, format the column as text/,
		],
		[{ callingUntil: '13 pm' }, /^'Calling Until' must be a time of day \(got "13 pm"\)/],
		[{ callingUntil: '0am' }, /^'Calling Until' must be a time of day \(got "0am"\)/],
		[{ callingUntil: '24:01' }, /^'Calling Until' must be a time of day \(got "24:01"\)/],
		[{ callingUntil: '18:60' }, /^'Calling Until' must be a time of day \(got "18:60"\)/],
		// For 6 in the evening. Otherwise, people would be called at night.
		[
			{ callingFrom: '9:00', callingUntil: '6:00' },
			/^'Calling Until' must be later than 'Calling From' \(got "9:00" to "6:00"\).*such as 09:00 and 18:00/,
		],
		[{ callingFrom: '18:00' }, /^'Calling Until' must be later than 'Calling From'/],
		[
			{ callingFrom: '24:00', callingUntil: '24:00' },
			/^'Calling Until' must be later than 'Calling From'/,
		],
		[{ timeZone: 'IST' }, /^'Time Zone' must be the name of a time zone \(got "IST"\)/],
		[{ timeZone: 'Asia/Nowhere' }, /must be the name of a time zone \(got "Asia\/Nowhere"\)/],
		...[
			'Etc/GMT+5',
			'etc/gmt-10',
			'Etc/GMT-15',
			'EST',
			'+05:30',
			'Etc/GMT+05',
			'systemv/ast4adt',
		].map((timeZone): [Written, RegExp] => [
			{ timeZone },
			/must be the name of a time zone \(got "[^"]+"\)\. Enter .* such as Asia\/Kolkata/,
		]),
		[{ callingFrom: '', callingUntil: 'x' }, /^'Calling From' is empty/],
		[{ callingUntil: 'x' }, /^'Calling Until' must be a time of day \(got "x"\)/],
	])('%j', (over, words) => expect(messageFor(over)).toMatch(words));

	test('hours that are not filled in', () => {
		const read = () => callWith({ callingHours: 'within' });
		expect(messageOf(read)).toMatch(/^'Calling Days' is empty/);
	});
});

describe('without a time zone', () => {
	test.each([
		['IN', '9876543210', 'Asia/Kolkata'],
		['GB', '+442071838750', 'Europe/London'],
		['AE', '+971501234567', 'Asia/Dubai'],
		['NP', '+9779841234567', 'Asia/Kathmandu'],
		// With two zones that have the same time.
		['DE', '+4915112345678', 'Europe/Berlin'],
	])('in %s, %s is called at the hours of %s', (countryCode, phoneNumber, zone) => {
		for (const timeZone of ['', null, ' '])
			expect(hoursOf({ timeZone }, { countryCode, phoneNumber }).zone).toBe(zone);
	});

	test('in a country with several, which one is asked', () => {
		const call = { countryCode: 'US', phoneNumber: '+12025550100' };
		expect(messageOf(() => hoursOf({ timeZone: '' }, call))).toBe(
			'\'Time Zone\' is empty, which is only possible in a country with the same time everywhere (got "United States"). Choose the time zone of the people to call, or let an expression return it.',
		);
	});
});

test.each(['Etc/UTC', 'Etc/GMT', 'Etc/GMT+0', 'UTC'])('the time zone %s is clear', (timeZone) => {
	expect(hoursOf({ timeZone }).zone).toBe(timeZone);
});
