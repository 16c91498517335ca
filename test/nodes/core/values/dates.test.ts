import { minuteOfDay } from '../../../../nodes/core/values/dates';

const at = (hour: number, minute = 0) => hour * 60 + minute;

test.each<[unknown, number]>([
	['18:30', at(18, 30)],
	['9:05', at(9, 5)],
	['24:00', at(24)],
	['00:00', 0],
	// Seconds don't matter.
	['18:30:00', at(18, 30)],
	['18:30:59', at(18, 30)],
	['18:30:00.000', at(18, 30)],
	['6:30:00 PM', at(18, 30)],
	['6:30:00\u202fPM', at(18, 30)],
	['06:30:00.000 pm', at(18, 30)],
	// Other separators.
	['9.30', at(9, 30)],
	['18.30', at(18, 30)],
	['18.30.00', at(18, 30)],
	['00.30', at(0, 30)],
	['18h30', at(18, 30)],
	['9.30am', at(9, 30)],
	['6.30 p.m.', at(18, 30)],
	['6 P. M.', at(18)],
	['9am', at(9)],
	['12 am', 0],
	['12:15pm', at(12, 15)],
	['1830 hrs', at(18, 30)],
	['18:30hrs.', at(18, 30)],
	[' 18:30 ', at(18, 30)],
	// Digits of other scripts.
	['१८:३०', at(18, 30)],
	['٦:٣٠ pm', at(18, 30)],
	['１８：３０', at(18, 30)],
	// As spreadsheets store a time: a fraction of a day.
	[0.25, at(6)],
	[0.5, at(12)],
	[0.77, at(18, 29)],
	[0.7708333333333334, at(18, 30)],
	['0.7708333333', at(18, 30)],
	['0,7708333333', at(18, 30)],
	['0.5', at(12)],
	['.75', at(18)],
	['0.77', at(18, 29)],
])('%p is minute %i of the day', (time, minute) => {
	expect(minuteOfDay(time)).toBe(minute);
});

test.each([
	...['', ' ', 'noon', '18', '1830', '930', '9:5', '18:60', '18:30:60', '13 pm', '0am', '0:30 pm'],
	...['9.3', '18,30', '18:30 pm', '1.5', '18-30', '18:30Z', '18:30+05:30', '109:00'],
	// Half past midnight, or 30 percent of a day.
	...['0.30', '0.25', '.45', '0,30'],
	// Midnight, or an empty cell.
	...[0, '0', '0.0', '0.00'],
	// Hours with decimals, or 9:30 in a cell of numbers.
	...[9.3, 9.5, 18, 1, 1.77, -0.5, NaN, Infinity, 46354.77],
	...[null, undefined, true, {}, new Date()],
])('%p is no certain time of the day', (time) => {
	expect(minuteOfDay(time)).toBeNaN();
});
