/** When a call goes: the times that the fields take, and what is sent for them. */
import type { INodeParameters } from 'n8n-workflow';
import { useTime } from '../../engine';
import {
	acceptUpTo,
	callsEndpoint,
	faultOf,
	HOURS,
	NOON,
	placeCallHarness,
} from './placeCallHarness';

const { place, sent, refusal } = placeCallHarness();
const INDIA = { settings: { timezone: 'Asia/Kolkata' } };

const itIs = useTime('2026-01-01T12:00:00+05:30');

const atDate = (scheduledAt: string) => ({ when: 'dateTime', scheduledAt });
const atTime = (scheduledTime: string) => ({ when: 'timeOfDay', scheduledTime });
const inModel = (when: string) => ({ when });
/** An expression that returns this text. */
const text = (value: string) => `={{ ${JSON.stringify(value)} }}`;
const ISO = '2026-11-20T18:30:00+05:30';

it('a model may write now in any form', async () => {
	expect(await sent({ when: ' Now ' })).not.toHaveProperty('scheduled_at');
});

it.each<[string, (time: string) => INodeParameters]>([
	["'Time in India'", (time) => atTime(text(time))],
	["'When to Call'", inModel],
])('a time of day in %s', async (_field, at) => {
	expect(await sent(at(' 9:05 '))).toMatchObject({ scheduled_at: '09:05' });
	expect(await sent(at('6.30 PM'))).toMatchObject({ scheduled_at: '18:30' });
	const message = / must be a time( of day)? \(got "24:00".*such as "?18:30/;
	expect(await refusal(at('24:00'), INDIA)).toMatch(message);
});

it.each<[INodeParameters, scheduled_at: string]>([
	[atTime('={{ 0.77 }}'), '18:29'],
	[atDate(text(ISO)), ISO],
	[atDate(text('2026-11-20T13:00:00Z')), '2026-11-20T13:00:00+00:00'],
	[atDate(text('2026-11-20 18:30:00+05:30')), ISO],
	// A DateTime keeps its zone. A date gets that of the workflow.
	[
		atDate('={{ DateTime.fromISO("2026-11-20T18:30:00", { zone: "Europe/Berlin" }) }}'),
		'2026-11-20T18:30:00+01:00',
	],
	[
		atDate('={{ DateTime.utc(2026, 11, 20, 18, 30).setLocale("ar-EG") }}'),
		'2026-11-20T18:30:00+00:00',
	],
	[atDate('={{ new Date("2026-11-20T13:00:00Z") }}'), ISO],
	[atDate('={{ "2026-11-20T18:30:00".toDateTime() }}'), ISO],
	[atDate('={{ "2026-11-20 18:30".toDateTime() }}'), ISO],
])('%j is sent as %s', async (parameters, scheduled_at) => {
	expect(await sent(parameters, INDIA)).toMatchObject({ scheduled_at });
});

it.each([
	['2026-11-20T18:30:00', 'Asia/Kolkata', ISO],
	['2026-07-20T18:30:00', 'America/New_York', '2026-07-20T18:30:00-04:00'],
	['2026-11-20 18:30', 'UTC', '2026-11-20T18:30:00+00:00'],
	['2027-03-28T03:30:00', 'Europe/Berlin', '2027-03-28T03:30:00+02:00'],
])('%s picked in a workflow in %s is sent as %s', async (value, timezone, scheduled_at) => {
	expect(await sent(atDate(value), { settings: { timezone } })).toMatchObject({ scheduled_at });
});

const isNoDate = (value: string) =>
	`'Date and Time' must be a date and time with a UTC offset (got "${value}"). Select one, or enter one such as 2027-01-31T18:30:00+05:30. In n8n, format dates of a sheet`;
const isNoTime = (value: string) =>
	`'Time in India' must be a time of day (got "${value}"). Enter a time such as 18:30 or 6:30 pm. In n8n, end an expression that returns a date with .toFormat("HH:mm"), and format times`;
const isEmpty = "'Date and Time' is empty. Enter a time with its UTC offset";
const isInvalid = 'must be a date and time with a UTC offset (got ';

// All forms of times: test/nodes/core/values/dates.
it.each<[INodeParameters, message: string]>([
	[atDate(text('   ')), isEmpty],
	[atDate(text('31/12/2027 17:00')), isNoDate('31/12/2027 17:00')],
	[atDate(text('18:30')), isNoDate('18:30')],
	[atDate(text('2026-11-20T18:30:00')), isNoDate('2026-11-20T18:30:00')],
	[atDate('2026-11-20'), isNoDate('2026-11-20')],
	[atDate('={{ 46354.77 }}'), isNoDate('46354.77')],
	[atDate('={{ new Date("nonsense") }}'), isInvalid],
	[atDate('={{ new Date("1899-12-30T18:30:00Z") }}'), "'Date and Time' is in the past (1899-"],
	[atTime('={{ 9.3 }}'), isNoTime('9.3')],
	[atTime(text(ISO)), isNoTime(ISO)],
	[
		atTime(`={{ DateTime.fromISO("${ISO}", { setZone: true }) }}`),
		"'Time in India' must be a time",
	],
	[atTime(`={{ ["${ISO}"] }}`), "'Time in India' must be a time (got a list)"],
	[
		inModel('soon'),
		`'When to Call' must be a time (got "soon"). Enter "now", a 24-hour time in India such as "18:30", or a time with its UTC offset such as "2027-01-31T18:30:00+05:30".`,
	],
])('%j is rejected', async (parameters, message) => {
	expect(await refusal(parameters, INDIA)).toContain(message);
});

const nov = (time: string) => `2026-11-${time}:00+05:30`;
const EVENING = nov('20T19:00');
const OPENING = nov('23T09:00');
const TUESDAY = '2026-11-24T10:00:00+00:00';
const LIMIT = { callLimit: 'day' };

it.each<[string, INodeParameters, now: string, scheduled_at: string | undefined]>([
	['now with a limit', LIMIT, EVENING, undefined],
	['now, and hours are over', HOURS, EVENING, OPENING],
	['at a date', atDate(text(TUESDAY)), NOON, TUESDAY],
	['at a date within hours', { ...HOURS, ...atDate(text(TUESDAY)) }, EVENING, TUESDAY],
	[
		'at a date outside hours',
		{ ...HOURS, ...atDate(text(nov('24T20:00'))) },
		NOON,
		nov('25T09:00'),
	],
	['at a time of day, on the day that the service chooses', atTime('17:00'), NOON, '17:00'],
	['at a time of today, with hours', { ...HOURS, ...atTime('17:00') }, NOON, nov('20T17:00')],
	// Tomorrow would be a Saturday.
	['at a time of tomorrow, with hours', { ...HOURS, ...atTime('10:00') }, NOON, OPENING],
	// It's the current minute, so the service would use the next day.
	['at the current minute, with hours', { ...HOURS, ...atTime('12:00') }, NOON, OPENING],
	[
		'at a time in India that is outside hours elsewhere',
		{ ...HOURS, timeZone: 'America/New_York', ...atTime('10:00') },
		NOON,
		'2026-11-23T09:00:00-05:00',
	],
	['at a time with a limit', { ...LIMIT, ...atTime('18:00') }, EVENING, nov('21T18:00')],
])('a call %s', async (_when, parameters, now, scheduled_at) => {
	itIs(now);
	expect((await sent(parameters, INDIA)).scheduled_at).toBe(scheduled_at);
});

describe('a time that has passed', () => {
	it.each([
		['now', atDate(text(NOON))],
		['a second ago, in another zone', atDate(text('2026-11-20T06:29:59Z'))],
		['now, with hours', { ...HOURS, ...atDate(text(NOON)) }],
	])('%s is rejected', async (_what, parameters) => {
		itIs(NOON);
		const message = /^'Date and Time' is in the past \(2026-11-20T/;
		expect(await refusal(parameters, INDIA)).toMatch(message);
	});

	it('a second later is accepted', async () => {
		itIs(NOON);
		const scheduled_at = '2026-11-20T12:00:01+05:30';
		expect(await sent(atDate(text(scheduled_at)))).toMatchObject({ scheduled_at });
	});

	it('is shown with its offset, and what to do', async () => {
		itIs(NOON);
		const parameters = atDate(text('2026-05-01T08:00:00+05:30'));
		expect(await refusal(parameters, { settings: { timezone: 'UTC' } })).toBe(
			"'Date and Time' is in the past (2026-05-01T08:00:00+05:30). Choose a later time, or set 'When to Call' to 'Now'.",
		);
	});

	it.each([{}, HOURS, LIMIT])(
		"between two attempts isn't that of the next day, with %j",
		async (parameters) => {
			itIs(NOON);
			callsEndpoint().reply(429, { success: false, error: 'slow down' }, { 'Retry-After': '60' });
			const bodies = acceptUpTo(1);
			expect(faultOf(await place({ ...parameters, ...atTime('12:01') }, INDIA))).toMatchObject({
				message: "'Time in India' is in the past (2026-11-20T12:01:00+05:30)",
				description: "Choose a later time, or set 'When to Call' to 'Now'.",
			});
			expect(bodies).toEqual([]);
		},
	);
});
