/** *Calling Hours*: what their fields take, and what happens to calls outside them. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { output, records, useTime } from '../../engine';
import {
	acceptCalls,
	acceptUpTo,
	BODY,
	callsEndpoint,
	faultOf,
	HOURS,
	NIGHT,
	NOON,
	people,
	perItem,
	phone,
	phoneOf,
	placeCallHarness,
	rejectCall,
} from './placeCallHarness';

const harness = placeCallHarness();
const { place, refusal, sent } = harness;
const within = (over: INodeParameters): INodeParameters => ({ ...HOURS, ...over });
const SKIP = { ...HOURS, outsideCallingHours: 'notPlaced' };
const PEOPLE = people(2);
const MONDAY = '2026-11-23T09:00:00+05:30';
const SATURDAY = '2026-11-21T12:00:00+05:30';

const itIs = useTime(NOON);

describe('the fields', () => {
	it.each<[string | string[], called: string]>([
		['monday, tuesday,saturday', 'Mon Tue Sat'],
		[['saturday', 'monday'], 'Mon Sat'],
		['={{ ["monday", "sunday"] }}', 'Mon Sun'],
	])('on %j, people are called on %s', async (callingDays, called) => {
		acceptUpTo(7);
		const scheduledAt = '=2026-11-{{ 23 + $itemIndex }}T12:00:00+05:30';
		const parameters = { ...perItem, ...SKIP, callingDays, when: 'dateTime', scheduledAt };
		const items = records(await place(parameters, { items: people(7) }));
		const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
		expect(days.filter((_day, index) => items[index]?.placed).join(' ')).toBe(called);
	});

	/** When calling starts after the weekend. */
	const opening = async (over: INodeParameters) => {
		itIs(SATURDAY);
		return records(await place({ ...SKIP, ...over }))[0]?.next_opening;
	};

	it.each([
		['={{ 0.375 }}', '09:00'],
		['6:30 p.m.', '18:30'],
	])('%s is %s', async (callingFrom, time) => {
		const opens = await opening({ callingFrom, callingUntil: '24:00' });
		expect(opens).toBe(`2026-11-23T${time}:00+05:30`);
	});

	it.each([
		['IN', '9876543210', '+05:30'],
		['GB', '+442071838750', '+00:00'],
	])('without a time zone, people in %s are called at their hours: %s, %s', async (...person) => {
		const [countryCode, phoneNumber, offset] = person;
		for (const timeZone of ['', '={{ null }}', ' '])
			expect(await opening({ countryCode, phoneNumber, timeZone })).toBe(
				`2026-11-23T09:00:00${offset}`,
			);
	});

	it.each(['UTC', 'europe/london', 'America/Argentina/Buenos_Aires'])(
		'%s is a clear zone',
		async (timeZone) => {
			expect(await opening({ timeZone })).toMatch(/^2026-11-23T09:00:00[+-]0[03]:00$/);
		},
	);

	const isNoTime = (field: string, got: string) =>
		`'Calling ${field}' must be a time of day (got "${got}")`;
	const ENDS_EARLY = "'Calling Until' must be later than 'Calling From' (got ";

	it.each<[INodeParameters, message: string]>([
		[{ callingDays: ' , ' }, "'Calling Days' is empty. Choose the days"],
		...['Lun', 'Mon-Fri'].map((day): [INodeParameters, string] => [
			{ callingDays: `saturday,${day}` },
			`'Calling Days' must be one of "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday" (got "${day}")`,
		]),
		[{ callingFrom: '={{ "" }}', callingUntil: 'x' }, isNoTime('From', '')],
		[
			{ callingFrom: '={{ DateTime.fromISO("2027-01-31T09:00", { zone: "Asia/Kolkata" }) }}' },
			`${isNoTime('From', '2027-01-31T09:00:00.000+05:30')}. Enter a time such as 18:30 or 6:30 pm. In n8n, end an expression that returns a date with .toFormat("HH:mm"), and format times of a sheet as text`,
		],
		[{ callingUntil: '24:01' }, isNoTime('Until', '24:01')],
		// For 6 in the evening. Otherwise, people would be called at night.
		[
			{ callingFrom: '9:00', callingUntil: '6:00' },
			`${ENDS_EARLY}"9:00" to "6:00"). Enter times such as 09:00 and 18:00`,
		],
		[{ callingFrom: '18:00' }, ENDS_EARLY],
		...['IST', 'UTC+5', 'Asia/Nowhere', 'etc/gmt-10', 'systemv/ast4adt'].map(
			(timeZone): [INodeParameters, string] => [
				{ timeZone },
				`'Time Zone' must be the name of a time zone (got "${timeZone}"). Enter the time zone of the people to call, such as Asia/Kolkata`,
			],
		),
		...[
			['US', '+12025550100', 'United States'],
			['DE', '+4915112345678', 'Germany'],
		].map(([countryCode = '', phoneNumber = '', name]): [INodeParameters, string] => [
			{ countryCode, phoneNumber, timeZone: '' },
			`'Time Zone' is empty, which is only possible in a country with one time zone (got "${name}"). Enter the time zone of the people to call, such as Europe/Berlin, or let an expression return it.`,
		]),
	])('%j is rejected', async (over, message) => {
		expect(await refusal(within(over))).toContain(message);
	});

	it('are Monday to Saturday from 9 to 18 by default', async () => {
		const parameters = { callingHours: 'within' };
		itIs('2026-11-22T12:00:00+05:30');
		expect(await sent(parameters)).toEqual({ ...BODY, scheduled_at: MONDAY });
		itIs('2026-11-21T17:59:00+05:30');
		expect(await sent(parameters)).toEqual(BODY);
		itIs('2026-11-21T18:00:00+05:30');
		expect(await sent(parameters)).toEqual({ ...BODY, scheduled_at: MONDAY });
	});

	it('each item can have its own time zone, or that of its country', async () => {
		const bodies = acceptCalls(3);
		const zones = ['Asia/Kolkata', 'America/New_York', ''];
		const items = zones.map((zone, index) => ({ phone: phone(index), zone }));
		await place({ ...perItem, ...within({ timeZone: '={{ $json.zone }}' }) }, { items });
		const inNewYork = '2026-11-20T09:00:00-05:00';
		expect(bodies.map((body) => body.scheduled_at)).toEqual([undefined, inNewYork, undefined]);
	});

	it('rows with the same number and no time are one call, also with other hours', async () => {
		const bodies = acceptUpTo(2);
		const items = ['Asia/Kolkata', 'America/New_York'].map((zone) => ({ ...people(1)[0], zone }));
		const zones = within({ timeZone: '={{ $json.zone }}' });
		const run = await place({ ...perItem, ...zones }, { items });
		expect(records(run)[1]).toMatchObject({ placed: false, duplicate_of: 0 });
		expect(bodies).toHaveLength(1);
	});
});

describe('a call that is placed later', () => {
	const EPOCH = Date.parse(MONDAY) / 1_000;

	it.each<[string, IDataObject, INodeParameters, scheduled_for: string]>([
		[
			'the time in the response',
			{ scheduled_at_epoch: EPOCH + 60 },
			HOURS,
			'2026-11-23T09:01:00+05:30',
		],
		['the time sent', {}, HOURS, MONDAY],
		[
			'a time of day, if only the service knows the day',
			{},
			{ when: 'timeOfDay', scheduledTime: '18:30' },
			'18:30 (India)',
		],
		['a time without a day in the response', { scheduled_for: '10:00' }, {}, '10:00'],
	])('has scheduled_for: %s', async (...one) => {
		const [, data, parameters, scheduled_for] = one;
		itIs(SATURDAY);
		callsEndpoint().reply(200, { success: true, data: { call_id: 'c', ...data } });
		const run = await place(parameters);
		expect(records(run)).toMatchObject([{ placed: true, scheduled_for }]);
	});
});

it('if set, an item outside the hours is returned as not placed, with its row, and nothing is sent', async () => {
	itIs(NIGHT);
	const items = [{ phone: phone(0), row_number: 2, call_id: 'old' }];
	const run = await place({ ...perItem, ...SKIP }, { items });
	expect(run.data.resultData.error).toBeUndefined();
	const notPlaced = {
		placed: false,
		call_id: null,
		not_placed_reason: 'outside_calling_hours',
		next_opening: MONDAY,
		phone_key: '919876543210',
	};
	expect(output(run, 'Node')).toEqual([
		{ json: { phone: phone(0), row_number: 2, ...notPlaced }, pairedItem: { item: 0 } },
	]);
});

it('a time in Additional Body Fields is rejected', async () => {
	expect(await refusal({ options: { additionalBodyFields: '{ "scheduled_at": "23:00" }' } })).toBe(
		"'Additional Body Fields' can't have scheduled_at. Remove it. To call later, use 'When to Call' of Place.",
	);
});

describe('when the hours end during the execution', () => {
	const busyFor = (seconds: number, times = 1) => {
		itIs('2026-11-20T17:59:50+05:30');
		callsEndpoint()
			.times(times)
			.reply(429, { success: false, error: 'slow down' }, { 'Retry-After': String(seconds) });
	};

	it('a call that the service is too busy for is scheduled by a later attempt, with the additional body fields', async () => {
		busyFor(18);
		const options = { additionalBodyFields: '{ "tag": "a" }' };
		const body = await sent(within({ options }));
		expect(body).toEqual({ ...BODY, tag: 'a', scheduled_at: MONDAY });
	});

	it('calls of the last minute go now, and the one for which it takes too long is scheduled', async () => {
		itIs('2026-11-20T17:59:10+05:30');
		const bodies: IDataObject[] = [];
		callsEndpoint()
			.times(3)
			.reply(200, (_uri, body) => {
				bodies.push(typeof body === 'string' ? {} : body);
				// The service takes 30 seconds for each.
				itIs(`2026-11-20T${['17:59:40', '18:00:10', '18:00:40'][bodies.length - 1]}+05:30`);
				return { success: true, data: { call_id: `call-${bodies.length}` } };
			});
		const run = await place({ ...perItem, ...HOURS }, { items: people(3) });
		expect(records(run).map(({ placed }) => placed)).toEqual([true, true, true]);
		expect(bodies.map((body) => body.scheduled_at)).toEqual([undefined, undefined, MONDAY]);
	});

	it('a call for shortly before that the service is too busy for is in the past, and not sent again', async () => {
		busyFor(5, 2);
		const bodies = acceptUpTo(1);
		const when = { when: 'dateTime', scheduledAt: '={{ "2026-11-20T17:59:59+05:30" }}' };
		expect(await refusal(within(when))).toContain("'Date and Time' is in the past");
		expect(bodies).toEqual([]);
	});
});

describe('calls that were not placed because of the hours are placed by a later attempt', () => {
	it('of an execution that failed', async () => {
		const timeZone = `={{ $json.phone === "${phone(0)}" ? "Pacific/Auckland" : "Asia/Kolkata" }}`;
		const node = harness.placeCallNode({ ...perItem, ...SKIP, timeZone });
		rejectCall();
		const failed = await harness.run(node, PEOPLE);
		expect(faultOf(failed).description).not.toContain('already placed');
		itIs('2026-11-23T09:30:00+05:30');
		const bodies = acceptCalls(2);
		const again = await harness.retry(failed, node);
		expect(bodies.map(phoneOf)).toEqual([phone(0), phone(1)]);
		expect(records(again)).toMatchObject([{ placed: true }, { placed: true }]);
	});

	it('of an execution that was killed', async () => {
		itIs(NIGHT);
		const node = harness.placeCallNode({ ...perItem, ...SKIP });
		const begun = await harness.kill(node, PEOPLE);
		itIs(MONDAY);
		const bodies = acceptCalls(2);
		await harness.retryAfterKill(begun, node);
		expect(bodies.map(phoneOf)).toEqual([phone(0), phone(1)]);
	});
});
