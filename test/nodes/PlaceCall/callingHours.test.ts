import type { INodeParameters } from 'n8n-workflow';
import { timeZone } from '../../../nodes/PlaceCall/fields/timeZone';
import { engineTool, hintsOf, output, records, searchList, skipSleeps } from '../../engine';
import {
	acceptCalls,
	acceptUpTo,
	BODY,
	callsEndpoint,
	faultOf,
	HOURS,
	NIGHT,
	NOON,
	perItem,
	phone,
	phoneOf,
	placeCallHarness,
	rejectCall,
} from './placeCallHarness';

const harness = placeCallHarness();
const hours = (over: INodeParameters = {}): INodeParameters => ({ ...HOURS, ...over });
const kept = { outsideCallingHours: 'notPlaced' };
const PEOPLE = [{ phone: '9876543210' }, { phone: '9876543211' }];
const MONDAY = '2026-11-23T09:00:00+05:30';
const NOT_PLACED = {
	placed: false,
	call_id: null,
	not_placed_reason: 'outside_calling_hours',
	next_opening: MONDAY,
	phone_key: '919876543210',
};

let itIs: (iso: string) => void;
beforeEach(() => (itIs = skipSleeps(Date.parse(NOON))));
afterEach(() => jest.restoreAllMocks());

it('the time zone of the country is used for items without one', async () => {
	itIs('2026-11-23T12:00:00+05:30');
	const bodies = acceptCalls(1);
	const timeZone = { __rl: true, mode: 'id', value: '={{ $json.zone }}' };
	const parameters = { ...perItem, ...hours({ timeZone }) };
	const run = await harness.place(parameters, { items: [{ phone: phone(0), zone: '' }] });
	expect(run.data.resultData.error).toBeUndefined();
	expect(bodies).toHaveLength(1);
});

it('the hours as the form saves them: Monday to Saturday from 9 to 18 by default, and the time zone from the list, an expression, or the country', async () => {
	itIs('2026-11-22T12:00:00+05:30');
	const zone = (mode: string, value: string) => ({ __rl: true, mode, value });
	const forms = [
		{ callingFrom: '9am', callingUntil: '6 pm', timeZone: zone('list', 'Asia/Kolkata') },
		{ callingFrom: '9am', callingUntil: '6 pm', timeZone: zone('id', '={{ "Asia/Kolkata" }}') },
		{ timeZone: zone('list', '') },
		{},
	];
	const bodies = acceptCalls(forms.length);
	for (const saved of forms) await harness.place({ callingHours: 'within', ...saved });
	const scheduled = { ...BODY, scheduled_at: MONDAY };
	expect(bodies).toEqual(forms.map(() => scheduled));
	itIs('2026-11-23T17:59:00+05:30');
	const now = acceptCalls(1);
	await harness.place({ callingHours: 'within' });
	expect(now).toEqual([BODY]);
});

describe('the Time Zone list', () => {
	const listFor = async (filter?: string) => {
		const { results } = await searchList(harness.placeCallNode(), 'searchTimeZones', filter);
		return results;
	};
	const zonesFor = async (filter?: string) =>
		(await listFor(filter)).map(({ value }) => String(value));

	it('has each name that the node accepts once', async () => {
		const zones = await zonesFor();
		expect(zones).toContain('Asia/Kolkata');
		expect(zones).not.toContain('Asia/Calcutta');
		expect(zones.length).toBeGreaterThan(400);
		expect(zones.map((zone) => timeZone(zone, 'IN'))).toEqual(zones);
		expect(new Set(zones).size).toBe(zones.length);
	});

	it.each([
		...['india', 'India', 'mumbai', 'kolkata', 'Asia/Kolkata', 'Bharat', 'IN'],
		...['new delhi', 'bengal'],
	])('finds only India by "%s"', async (filter) => {
		expect(await listFor(filter)).toEqual([
			{ name: 'India (Asia/Kolkata)', value: 'Asia/Kolkata' },
		]);
	});

	it.each([
		['uk', ['Europe/London']],
		['UAE', ['Asia/Dubai']],
		['new york', ['America/New_York']],
		['Côte d’Ivoire', ['Africa/Abidjan']],
		['UTC', ['UTC']],
		['nowhere', []],
	])('finds by "%s" %j', async (filter, zones) => {
		expect(await zonesFor(filter)).toEqual(zones);
	});

	it('has India first, also by "IST", which others have, too', async () => {
		expect((await zonesFor())[0]).toBe('Asia/Kolkata');
		const [first, ...others] = await zonesFor('IST');
		expect(first).toBe('Asia/Kolkata');
		expect(others).toContain('Asia/Jerusalem');
	});

	it('shows the city in a country with several time zones', async () => {
		expect(await listFor('chicago')).toEqual([
			{ name: 'United States, Chicago (America/Chicago)', value: 'America/Chicago' },
		]);
		expect((await zonesFor('indiana')).length).toBeGreaterThan(3);
	});
});

it('each item can have its own time zone', async () => {
	const bodies = acceptCalls(2);
	const items = ['Asia/Kolkata', 'America/New_York'].map((zone, index) => ({
		...{ phone: String(9_876_543_210 + index), zone },
	}));
	const own = hours({ timeZone: '={{ $json.zone }}' });
	await harness.place({ ...perItem, ...own }, { items });
	expect(bodies.map((body) => body.scheduled_at)).toEqual([undefined, '2026-11-20T09:00:00-05:00']);
});

describe('a call that is placed later', () => {
	const EPOCH = Date.parse(MONDAY) / 1_000;
	const scheduledBy = (data: object) =>
		callsEndpoint().reply(200, { success: true, data: { call_id: 'c', ...data } });

	it.each([
		['the time in the response', { scheduled_at_epoch: EPOCH + 60 }, '2026-11-23T09:01:00+05:30'],
		['the time that was sent', {}, MONDAY],
	])('has scheduled_for, and a hint says so: %s', async (_which, data, scheduled_for) => {
		itIs('2026-11-21T12:00:00+05:30');
		scheduledBy(data);
		const run = await harness.place(HOURS);
		expect(records(run)).toMatchObject([{ placed: true, scheduled_for }]);
		const time = scheduled_for.slice(11, 16);
		expect(hintsOf(run)).toEqual([
			`1 item: 1 scheduled for Monday, 23 November 2026, ${time} (UTC+5:30). The output has one item for each. If you execute this node again, people who were called may be called again.`,
		]);
	});

	it('shows a time of day as it was entered, if only the service knows the day', async () => {
		scheduledBy({});
		const run = await harness.place({ when: 'timeOfDay', scheduledTime: '18:30' });
		expect(records(run)).toMatchObject([{ scheduled_for: '18:30 (Asia/Kolkata)' }]);
		expect(hintsOf(run)).toEqual([
			expect.stringMatching(/^1 item: 1 scheduled for 18:30 \(Asia\/Kolkata\)\./),
		]);
	});

	it('counts each reason in the hint, with the first of several times', async () => {
		acceptCalls(3);
		const at = [
			'2026-11-23T10:00:00+05:30',
			'2026-11-22T10:00:00+05:30',
			'2026-11-20T13:00:00+05:30',
		];
		const items = at.map((time, index) => ({ phone: phone(index), at: time }));
		const scheduled = { ...perItem, when: 'dateTime', scheduledAt: '={{ $json.at }}' };
		const rows = [...items, ...items.slice(0, 1)];
		const run = await harness.place(
			{ ...scheduled, ...hours({ callingDays: 'Mon-Sun' }) },
			{ items: rows },
		);
		expect(hintsOf(run)).toEqual([
			expect.stringMatching(
				/^4 items: 3 scheduled, the first for Friday, 20 November 2026, 13:00 \(UTC\+5:30\), 1 with the number of another item\. /,
			),
		]);
	});
});

describe('outside the hours', () => {
	it('if set, the item is returned as not placed, with its row if included, and nothing is sent', async () => {
		itIs(NIGHT);
		const parameters = { ...perItem, ...hours(kept) };
		const items = [{ ...PEOPLE[0], row_number: 2, call_id: 'old' }];
		const run = await harness.place(parameters, { items });
		expect(run.data.resultData.error).toBeUndefined();
		expect(output(run, 'Node')).toEqual([
			{ json: { phone: '9876543210', row_number: 2, ...NOT_PLACED }, pairedItem: { item: 0 } },
		]);
	});

	it('a model gets the result that nothing was sent', async () => {
		itIs(NIGHT);
		const answer = await engineTool(harness.placeCallNode(hours(kept)))();
		expect(answer).toMatchObject({
			outcome: 'not_sent',
			what_happened: "The call wasn't placed, because it's outside the calling hours.",
			next_step: expect.stringContaining('Monday, 23 November 2026, 09:00 (Asia/Kolkata)'),
		});
	});
});

it.each<INodeParameters>([hours(), { callLimit: 'day', maximumCalls: 1 }])(
	'with %j, a time in Additional Body Fields is rejected',
	async (parameters) => {
		const developerSettings = { additionalBodyFields: '{ "scheduled_at": "23:00" }' };
		const twice = { ...parameters, developerSettings };
		expect(faultOf(await harness.place(twice)).message).toBe(
			"'Additional Body Fields' can't have scheduled_at with 'Calling Hours' or 'Limit Calls per Person'",
		);
		expect(await engineTool(harness.placeCallNode(twice))()).toMatchObject({
			next_step: expect.stringContaining('Remove scheduled_at.'),
		});
		const bodies = acceptCalls(1);
		await harness.place({ developerSettings });
		expect(bodies).toMatchObject([{ scheduled_at: '23:00' }]);
	},
);

describe('when the hours end during the execution', () => {
	const closing = '2026-11-20T17:59:50+05:30';

	const busyFor = (seconds: number, times = 1) => {
		itIs(closing);
		callsEndpoint()
			.times(times)
			.reply(429, { success: false, error: 'slow down' }, { 'Retry-After': String(seconds) });
	};

	it('a call that the service is too busy for is scheduled by a later attempt, with the additional body fields', async () => {
		busyFor(18);
		const bodies = acceptCalls(1);
		const developerSettings = { additionalBodyFields: '{ "tag": "a" }' };
		const run = await harness.place({ ...hours(), developerSettings });
		expect(bodies).toEqual([{ ...BODY, tag: 'a', scheduled_at: MONDAY }]);
		expect(records(run)).toMatchObject([{ placed: true }]);
	});

	it('a call for shortly before that the service is too busy for is in the past, and not sent again', async () => {
		busyFor(5, 2);
		const bodies = acceptUpTo(1);
		const when = { when: 'dateTime', scheduledAt: '={{ "2026-11-20T17:59:59+05:30" }}' };
		const run = await harness.place({ ...hours(), ...when });
		expect(faultOf(run).message).toContain("'Date and Time' is in the past");
		expect(bodies).toEqual([]);
	});
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

describe('calls that were not placed because of the hours are placed by a later attempt', () => {
	it('of an execution that failed', async () => {
		const zoned = {
			timeZone: '={{ $json.phone === "9876543210" ? "Pacific/Auckland" : "Asia/Kolkata" }}',
		};
		const node = harness.placeCallNode({ ...perItem, ...hours({ ...zoned, ...kept }) });
		rejectCall();
		const failed = await harness.run(node, PEOPLE);
		expect(faultOf(failed).description).not.toContain('already placed');
		itIs('2026-11-23T09:30:00+05:30');
		const bodies = acceptCalls(2);
		const again = await harness.retry(failed, node);
		expect(bodies.map(phoneOf)).toEqual(['9876543210', '9876543211']);
		expect(records(again)).toMatchObject([{ placed: true }, { placed: true }]);
	});

	it('of an execution that was killed', async () => {
		itIs(NIGHT);
		const node = harness.placeCallNode({ ...perItem, ...hours(kept) });
		const begun = await harness.kill(node, PEOPLE);
		itIs(MONDAY);
		const bodies = acceptCalls(2);
		await harness.retryAfterKill(begun, node);
		expect(bodies.map(phoneOf)).toEqual(PEOPLE.map((person) => person.phone));
	});
});
