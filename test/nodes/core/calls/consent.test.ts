/** Which cells show that a person agreed to be called, and what is reported about the others. */
import { DateTime } from 'luxon';
import { whyNoConsent } from '../../../../nodes/core/calls/consent';

/** In India, the 29th has begun. In UTC, it hasn't. */
const now = DateTime.fromISO('2026-11-29T02:00:00', { zone: 'Asia/Kolkata' });
const rule = { column: 'agreed_on', maxDays: 90, now };

const unreadable = (shown: string) =>
	`Column "agreed_on" has "${shown}", which isn't a date such as 2026-11-25.`;

test.each<[string, unknown, reason: string | undefined]>([
	['a date of today', '2026-11-29', undefined],
	['the first day that counts', '2026-08-31', undefined],
	[
		'the day before it',
		'2026-08-30',
		'Column "agreed_on" has "2026-08-30", which is more than 90 days before 2026-11-29.',
	],
	['tomorrow', '2026-11-30', 'Column "agreed_on" has "2026-11-30", which is in the future.'],
	['a date and time', '2026-11-25 18:30:00', undefined],
	['later on the same day, by another clock', '2026-11-29T02:00:05+05:30', undefined],
	['a time in UTC, whose day in India is the first that counts', '2026-08-30T20:00:00Z', undefined],
	[
		'a time in UTC, whose day in India is tomorrow',
		'2026-11-29T20:00:00Z',
		'Column "agreed_on" has "2026-11-29T20:00:00Z", which is in the future.',
	],
	['a date without hyphens, with a time', '20261125T183000', undefined],
	['eight digits, which may be an ID', '20261125', unreadable('20261125')],
	['Hindi digits', '२०२६-११-२५', undefined],
	['the number by which spreadsheets store the first day that counts', 46_265, undefined],
	['such a number with a time', 46_355.9, undefined],
	[
		'the number of the day before',
		46_264,
		'Column "agreed_on" has "46264", which is more than 90 days before 2026-11-29.',
	],
	['such a number in a CSV file', ' 46265 ', undefined],
	['such a number in a CSV file, with a time', '46355,9', undefined],
	[
		'the number of the day before in a CSV file',
		'46264',
		'Column "agreed_on" has "46264", which is more than 90 days before 2026-11-29.',
	],
	['other digits of a CSV file', '12345', unreadable('12345')],
	['more digits of a CSV file', '463550', unreadable('463550')],
	['a date of a database', new Date('2026-11-25T00:00:00Z'), undefined],
	['an empty cell', '', 'Column "agreed_on" has no date.'],
	['no such column', undefined, 'Column "agreed_on" has no date.'],
	['a date with two readings', '03/04/2026', unreadable('03/04/2026')],
	[
		'a date with one reading, like others of its column that have two',
		'25/11/2026',
		unreadable('25/11/2026'),
	],
	['a word', 'yes', unreadable('yes')],
	['a word of a spreadsheet', '#REF!', unreadable('#REF!')],
	['a year, which is a day of 1905', 2026, unreadable('2026')],
	['an empty cell of a spreadsheet', 0, unreadable('0')],
	['a count', -5, unreadable('-5')],
	['a result that is no number, which n8n shows as null', NaN, unreadable('null')],
	['a number that is no day', 1e12, unreadable('1000000000000')],
	['a day that no month has', '2026-02-30', unreadable('2026-02-30')],
	['a switch', true, unreadable('true')],
])('%s', (_what, cell, reason) => {
	expect(whyNoConsent(cell, rule)).toBe(reason);
});

test('counts the days until the call, also over a change of the clocks at midnight', () => {
	// In Chile, 6 September 2026 begins at 01:00.
	const inChile = (iso: string) => DateTime.fromISO(iso, { zone: 'America/Santiago' });
	const consent = { column: 'agreed_on', maxDays: 1, now: inChile('2026-09-05T23:00:00') };
	const why = (cell: string, callAt: string) => whyNoConsent(cell, consent, inChile(callAt));
	expect(why('2026-09-05', '2026-09-06T09:00:00')).toBeUndefined();
	expect(why('2026-09-05', '2026-09-07T00:00:00')).toContain('more than 1 day before 2026-09-07');
	expect(why('2026-09-06', '2026-09-07T00:00:00')).toContain('in the future');
});
