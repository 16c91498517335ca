import type { IDataObject, INodeParameters, IRun } from 'n8n-workflow';
import nock from 'nock';
import { timeZone } from '../../../nodes/PlaceCall/fields/timeZone';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { engineTool, output, searchList, service } from '../../engine';
import {
	acceptCalls,
	acceptUpTo,
	BODY,
	callsEndpoint,
	faultOf,
	HOURS,
	perItem,
	phoneOf,
	placeCallHarness,
	waitBy,
} from './placeCallHarness';

const harness = placeCallHarness();
const hours = (over: IDataObject = {}, options: IDataObject = {}): INodeParameters => ({
	options: { ...options, callingHours: { hours: { ...HOURS, ...over } } },
});
const kept = { outsideCallingHours: 'notPlaced' };
const PEOPLE = [{ phone: '9876543210' }, { phone: '9876543211' }];
const MONDAY = '2026-11-23T09:00:00+05:30';

let now: jest.SpyInstance<number, []>;
const itIs = (iso: string) => now.mockReturnValue(Date.parse(iso));
beforeEach(() => {
	now = jest.spyOn(clock, 'now');
	itIs('2026-11-20T12:00:00+05:30');
	jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
		now.mockReturnValue(clock.now() + ms);
		await Promise.resolve();
	});
});
afterEach(() => jest.restoreAllMocks());

const json = (run: IRun) => output(run, 'Node').map((item) => item.json);

it('the hours as the form saves them: Monday to Friday by default, and the time zone from the list or an expression', async () => {
	itIs('2026-11-21T12:00:00+05:30');
	const bodies = acceptCalls(2);
	const zone = (mode: string, value: string) => ({ __rl: true, mode, value });
	for (const timeZone of [zone('list', 'Asia/Kolkata'), zone('id', '={{ "Asia/Kolkata" }}')]) {
		const saved = { from: '9am', to: '6 pm', timeZone };
		await harness.place({ options: { callingHours: { hours: saved } } });
	}
	expect(bodies).toEqual([
		{ ...BODY, scheduled_at: MONDAY },
		{ ...BODY, scheduled_at: MONDAY },
	]);
});
describe('the Time Zone list', () => {
	const zonesFor = async (filter?: string) => {
		const node = harness.placeCallNode();
		const { results } = await searchList(harness.credentials, node, 'searchTimeZones', filter);
		return results.map(({ value }) => String(value));
	};

	it.each([
		['kolkata', ['Asia/Kolkata']],
		['new york', ['America/New_York']],
		['UTC', ['UTC']],
		['nowhere', []],
	])('%s', async (filter, zones) => {
		expect(await zonesFor(filter)).toEqual(zones);
	});

	it('has only names that the node accepts', async () => {
		const zones = await zonesFor();
		expect(zones.length).toBeGreaterThan(400);
		expect(zones.filter((zone) => !('value' in timeZone(zone)))).toEqual([]);
		expect(new Set(zones).size).toBe(zones.length);
	});
});

describe('public holidays', () => {
	it('each item can have its own list', async () => {
		itIs('2026-12-25T10:00:00+05:30');
		const bodies = acceptCalls(2);
		const items = [
			{ phone: '9876543210', holidays: ['2026-12-25'] },
			{ phone: '9876543211', holidays: [] },
		];
		await harness.place(
			{ ...perItem, ...hours({}, { callingHoursExceptOn: '={{ $json.holidays }}' }) },
			{ items },
		);
		expect(bodies).toEqual([
			{ ...BODY, scheduled_at: '2026-12-28T09:00:00+05:30' },
			{ ...BODY, phone_number: '9876543211' },
		]);
	});

	it.each([
		[
			'2026-01-01 to 2028-12-31',
			`leave no time to call within a year, because 'Calling Hours Except On' has "2026-01-01 to 2028-12-31"`,
		],
		[undefined, "'Calling Hours Except On' in 'Options' must be text or a list"],
	])('%s stops the node before anyone is called', async (exceptOn, words) => {
		const items = [
			{ ...PEOPLE[0], holidays: '2026-12-25' },
			{ ...PEOPLE[1], holidays: exceptOn },
		];
		const run = await harness.place(
			{ ...perItem, ...hours({}, { callingHoursExceptOn: '={{ $json.holidays }}' }) },
			{ items },
		);
		expect(faultOf(run).message).toContain(words);
	});
});

describe('outside the hours', () => {
	it('if set, the item is returned as not placed, with its row if included, and nothing is sent', async () => {
		itIs('2026-11-20T22:00:00+05:30');
		const parameters = { ...perItem, ...hours({}, { ...kept, includeInputFields: true }) };
		const items = [{ ...PEOPLE[0], row_number: 2, call_id: 'old' }];
		const run = await harness.place(parameters, { items });
		expect(run.data.resultData.error).toBeUndefined();
		expect(output(run, 'Node')).toEqual([
			{
				json: {
					phone: '9876543210',
					row_number: 2,
					placed: false,
					call_id: null,
					not_placed_reason: 'outside_calling_hours',
					next_opening: MONDAY,
					phone_key: '919876543210',
				},
				pairedItem: { item: 0 },
			},
		]);
	});

	it('a model gets the result that nothing was sent', async () => {
		itIs('2026-11-20T22:00:00+05:30');
		const answer = await engineTool(harness.credentials, harness.placeCallNode(hours({}, kept)))();
		expect(answer).toMatchObject({
			outcome: 'not_sent',
			what_happened: "The call wasn't placed, because it's outside the calling hours.",
			next_step: expect.stringContaining('Monday, 23 November 2026, 09:00 (Asia/Kolkata)'),
		});
	});

	it('the node waits for placed calls, and not for calls outside the hours', async () => {
		const parameters = {
			...perItem,
			...waitBy(
				'reading',
				{},
				{
					...kept,
					callingHours: { hours: { ...HOURS, timeZone: '={{ $json.zone }}' } },
				},
			),
		};
		acceptCalls(1);
		service()
			.get('/v1/call/call-9876543211')
			.reply(200, { success: true, data: { call_id: 'call-9876543211', status: 'not_picked' } });
		const items = [
			{ ...PEOPLE[0], zone: 'Pacific/Auckland' },
			{ ...PEOPLE[1], zone: 'Asia/Kolkata' },
		];
		const run = await harness.place(parameters, { items });
		expect(json(run)).toEqual([
			expect.objectContaining({ placed: false, next_opening: '2026-11-23T09:00:00+13:00' }),
			{
				call_id: 'call-9876543211',
				outcome: 'Not answered',
				answered: false,
				status: 'not_picked',
				placed: true,
				phone_key: '919876543211',
				timed_out: false,
			},
		]);
	});
});

it('the time zone can differ per person', async () => {
	const bodies = acceptCalls(2);
	const items = [
		{ ...PEOPLE[0], zone: 'Asia/Kolkata' },
		{ ...PEOPLE[1], zone: 'America/New_York' },
	];
	await harness.place({ ...perItem, ...hours({ timeZone: '={{ $json.zone }}' }) }, { items });
	expect(bodies).toEqual([
		BODY,
		{ ...BODY, phone_number: '9876543211', scheduled_at: '2026-11-20T09:00:00-05:00' },
	]);
});

it.each<INodeParameters>([
	hours(),
	{ options: { callLimit: { limit: { maximumCalls: 1, period: 'day' } } } },
])('with %j, a time in Additional Body Fields is rejected', async (parameters) => {
	const developerSettings = { additionalBodyFields: '{ "scheduled_at": "23:00" }' };
	expect(faultOf(await harness.place({ ...parameters, developerSettings })).message).toBe(
		"'Additional Body Fields' can't have scheduled_at with 'Calling Hours' or 'Limit Calls per Person'",
	);
	const bodies = acceptCalls(1);
	await harness.place({ developerSettings });
	expect(bodies).toMatchObject([{ scheduled_at: '23:00' }]);
});

describe('when the hours end during the execution', () => {
	const closing = '2026-11-20T17:59:50+05:30';
	const busy = { success: false, error: 'slow down' };

	it('later items of a long list are scheduled', async () => {
		itIs(closing);
		const bodies: IDataObject[] = [];
		callsEndpoint()
			.times(2)
			.reply((_uri, body) => {
				bodies.push(typeof body === 'string' ? {} : body);
				itIs('2026-11-20T18:00:00+05:30');
				return [200, { success: true, data: { call_id: phoneOf(body) } }];
			});
		await harness.place({ ...perItem, ...hours() }, { items: PEOPLE });
		expect(bodies.map((body) => body.scheduled_at)).toEqual([undefined, MONDAY]);
	});

	const later = { when: 'dateTime', scheduledAt: '={{ "2026-11-20T17:59:59+05:30" }}' };

	describe.each<[string, INodeParameters]>([
		['for now', {}],
		['for a time shortly before', later],
	])('a call %s that the service is too busy for', (_when, when) => {
		const busyFor = (seconds: number, times = 1) => {
			itIs(closing);
			callsEndpoint()
				.times(times)
				.reply(429, busy, { 'Retry-After': String(seconds) });
		};

		it('is scheduled for the next opening by a later attempt, with the additional body fields', async () => {
			busyFor(18);
			const bodies = acceptCalls(1);
			const developerSettings = { additionalBodyFields: '{ "tag": "a" }' };
			const run = await harness.place({ ...hours(), ...when, developerSettings });
			expect(bodies).toEqual([{ ...BODY, tag: 'a', scheduled_at: MONDAY }]);
			expect(json(run)).toMatchObject([{ placed: true }]);
		});

		it('is not sent again if set, and says so', async () => {
			busyFor(5, 2);
			const bodies = acceptCalls(1);
			const run = await harness.place({ ...hours({}, kept), ...when });
			expect(run.data.resultData.error).toBeUndefined();
			expect(json(run)).toEqual([
				{
					placed: false,
					call_id: null,
					not_placed_reason: 'outside_calling_hours',
					next_opening: MONDAY,
					phone_key: '919876543210',
				},
			]);
			expect(bodies).toEqual([]);
			nock.cleanAll();
		});
	});
});

it('a call whose time has passed before it is sent is rejected', async () => {
	callsEndpoint().reply(() => {
		itIs('2026-11-20T12:01:00+05:30');
		return [200, { success: true, data: { call_id: 'a' } }];
	});
	const later = { when: 'dateTime', scheduledAt: '={{ "2026-11-20T12:00:30+05:30" }}' };
	const run = await harness.place({ ...perItem, ...later }, { items: PEOPLE });
	expect(faultOf(run).message).toMatch(/^'Date and Time' is in the past.*\[item 1\]$/);
});

it("a call at a time of day that passes between two attempts isn't placed on the next day", async () => {
	callsEndpoint().reply(429, { success: false, error: 'slow down' }, { 'Retry-After': '60' });
	const bodies = acceptUpTo(1);
	const when = { when: 'timeOfDay', scheduledTime: '12:01' };
	const run = await harness.place(when, { settings: { timezone: 'Asia/Kolkata' } });
	expect(faultOf(run)).toMatchObject({
		message: "'Time in India' is in the past (20 November 2026, 12:01, Asia/Kolkata)",
		description: "Choose a later time, or set 'When to Call' to 'Now'.",
	});
	expect(bodies).toEqual([]);
});

describe('Retry in the list of executions', () => {
	const { run, retry } = harness;
	const reject = () => callsEndpoint().reply(400, { success: false, error: 'not now' });

	it('checks calls again that were not placed because of the hours', async () => {
		const zoned = {
			timeZone: '={{ $json.phone === "9876543210" ? "Pacific/Auckland" : "Asia/Kolkata" }}',
		};
		const node = harness.placeCallNode({ ...perItem, ...hours(zoned, kept) });
		reject();
		const failed = await run(node, PEOPLE);
		expect(faultOf(failed).description).not.toContain('already placed');
		itIs('2026-11-23T09:30:00+05:30');
		const bodies = acceptCalls(2);
		const again = await retry(failed, node);
		expect(bodies.map(phoneOf)).toEqual(['9876543210', '9876543211']);
		expect(json(again)).toMatchObject([{ placed: true }, { placed: true }]);
	});

	it('places no scheduled call again, at any hour', async () => {
		itIs('2026-11-20T22:00:00+05:30');
		const node = harness.placeCallNode({ ...perItem, ...hours() });
		const first = acceptCalls(1);
		reject();
		const failed = await run(node, PEOPLE);
		expect(first).toMatchObject([{ scheduled_at: MONDAY }]);
		itIs('2026-11-23T11:00:00+05:30');
		const bodies = acceptCalls(1);
		await retry(failed, node);
		expect(bodies).toEqual([{ ...BODY, phone_number: '9876543211' }]);
	});
});

describe('Retry after n8n was killed', () => {
	it('places calls that were not placed because of the hours', async () => {
		itIs('2026-11-20T22:00:00+05:30');
		const node = harness.placeCallNode({ ...perItem, ...hours({}, kept) });
		const begun = await harness.kill(node, PEOPLE);
		itIs(MONDAY);
		const bodies = acceptCalls(2);
		await harness.retryAfterKill(begun, node);
		expect(bodies.map(phoneOf)).toEqual(PEOPLE.map((person) => person.phone));
	});
});
