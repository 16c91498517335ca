import type { IDataObject, INodeParameters, IRun } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import {
	engineTool,
	executeContext,
	inlineTool,
	mcpTool,
	mockTime,
	newExecutionData,
	output,
} from '../../engine';
import {
	acceptCalls,
	acceptUpTo,
	BODY,
	callsEndpoint,
	CONTINUE,
	faultOf,
	HOURS,
	phoneOf,
	placeCallHarness,
} from './placeCallHarness';

const harness = placeCallHarness();
const { store } = harness;

const START = '2026-11-20T12:00:00+05:30';
const KOLKATA = { settings: { timezone: 'Asia/Kolkata' } };
const LIMIT = { maximumCalls: 1, period: 'day' };
const limited = (over: IDataObject = {}, options: INodeParameters = {}): INodeParameters => ({
	options: { ...options, callLimit: { limit: { ...LIMIT, ...over } } },
});
const perItem = { phoneNumber: '={{ $json.phone }}', countryCode: '={{ $json.country ?? "IN" }}' };
const PHONE = '9876543210';
const OTHER = '9876543211';
const expired = Object.assign(new Error('expired'), { code: 'CERT_HAS_EXPIRED' });
const REJECTED = { success: false, error: 'phone_number is implausible' };

let now: number;
const itIs = (iso: string) => (now = Date.parse(iso));
beforeEach(() => {
	itIs(START);
	mockTime(() => now);
	jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
		now += ms;
		await Promise.resolve();
	});
});
afterEach(() => jest.restoreAllMocks());

const json = (run: IRun) => output(run, 'Node').map((item) => item.json);
const isPlaced = (run: IRun) => json(run).map(({ placed }) => placed);
/** One execution with the limit, which calls these people. */
const call = async (...phones: string[]) => await callWith(limited(), ...phones);
const callWith = async (parameters: INodeParameters, ...phones: string[]) =>
	await harness.place(
		{ ...perItem, ...parameters },
		{ items: phones.map((phone) => ({ phone })), ...KOLKATA },
	);

describe('Limit Calls per Person', () => {
	it('calls a person once over all executions, and returns when the next call is possible', async () => {
		const bodies = acceptCalls(1);
		expect(json(await call(PHONE))).toEqual([
			{ call_id: `call-${PHONE}`, placed: true, phone_key: `91${PHONE}` },
		]);
		itIs('2026-11-20T12:00:05+05:30');
		const second = await call(PHONE);
		expect(second.data.resultData.error).toBeUndefined();
		expect(output(second, 'Node')).toEqual([
			{
				json: {
					placed: false,
					call_id: null,
					not_placed_reason: 'call_limit_reached',
					next_call_possible_at: '2026-11-21T00:00:00+05:30',
					phone_key: `91${PHONE}`,
				},
				pairedItem: { item: 0 },
			},
		]);
		expect(bodies).toEqual([BODY]);
	});

	it('recognizes the same number with another country, and not another number', async () => {
		acceptCalls(3);
		const items = [
			{ phone: '+1 202 555 0100', country: 'US' },
			{ phone: '2025550100', country: 'CA' },
			{ phone: '2025550101', country: 'US' },
			// Without a clear international format, the number as it's sent counts.
			{ phone: '4930123456', country: 'DE' },
			{ phone: '4930-123 456', country: 'DE' },
		];
		const run = await harness.place({ ...perItem, ...limited() }, { items });
		expect(isPlaced(run)).toEqual([true, false, true, true, false]);
	});

	it('counts items of one execution, also if they are placed at the same time', async () => {
		acceptCalls(3);
		const options = { ...limited({ maximumCalls: 2 }), developerSettings: { concurrency: 5 } };
		const run = await callWith(options, PHONE, OTHER, PHONE, PHONE);
		expect(isPlaced(run)).toEqual([true, true, true, false]);
	});

	it.each([
		// A Friday, the Sunday after it, and the days on which the next period begins.
		['day', ['2026-11-20T23:59:59+05:30'], '2026-11-21T00:00:00+05:30'],
		['week', ['2026-11-22T23:59:59+05:30'], '2026-11-23T00:00:00+05:30'],
		[
			'month',
			['2026-11-21T12:00:00+05:30', '2026-11-30T23:59:59+05:30'],
			'2026-12-01T00:00:00+05:30',
		],
	])(
		'per %s, counts until the next one begins in the time zone of the workflow',
		async (period, still, next) => {
			acceptCalls(2);
			expect(isPlaced(await callWith(limited({ period }), PHONE))).toEqual([true]);
			for (const time of still) {
				itIs(time);
				const [item] = json(await callWith(limited({ period }), PHONE));
				expect(item).toMatchObject({ placed: false, next_call_possible_at: next });
			}
			itIs(next);
			expect(isPlaced(await callWith(limited({ period }), PHONE))).toEqual([true]);
		},
	);

	it('counts the calls of all nodes in the workflow, and remembers nothing without the option', async () => {
		acceptCalls(3);
		await call(PHONE);
		const another = await harness.place(limited(), { over: { id: 'another' } });
		expect(isPlaced(another)).toEqual([false]);
		await harness.place();
		await harness.place();
		expect(store.size).toBe(1);
	});

	it('reserves the calls of all items in one access, and forgets those that were not placed', async () => {
		acceptCalls(2);
		callsEndpoint().reply(400, REJECTED);
		const phones = Array.from({ length: 30 }, (_, index) => String(9_000_000_000 + index));
		const reserving = store.calls.length;
		const failed = await callWith(limited(), ...phones);
		expect(faultOf(failed).message).toContain('[item 2]');
		const calls = store.calls.slice(reserving);
		expect(calls.filter((made) => made === 'add 30')).toHaveLength(1);
		expect(calls.filter((made) => made === 'remove 28')).toHaveLength(1);
		const bodies = acceptCalls(28);
		expect(isPlaced(await callWith(limited(), ...phones))).toEqual(
			phones.map((_phone, index) => index >= 2),
		);
		expect(bodies).toHaveLength(28);
	});

	it('reserves them in one access with On Error set to continue, too', async () => {
		acceptCalls(20);
		const phones = Array.from({ length: 20 }, (_, index) => ({
			phone: String(9_000_000_000 + index),
		}));
		await harness.place({ ...perItem, ...limited() }, { items: phones, over: CONTINUE });
		expect(store.calls.filter((made) => made === 'add 20')).toHaveLength(1);
	});

	it('can have another limit for each item', async () => {
		acceptCalls(3);
		const items = [1, 2, 2].map((most, index) => ({ phone: index === 0 ? PHONE : OTHER, most }));
		const parameters = { ...perItem, ...limited({ maximumCalls: '={{ $json.most }}' }) };
		await harness.place(parameters, { items });
		const run = await harness.place(parameters, { items: items.slice(0, 2) });
		expect(isPlaced(run)).toEqual([false, false]);
	});
});

describe('scheduled calls', () => {
	const at = (iso: string) => ({ when: 'dateTime', scheduledAt: `={{ "${iso}" }}` });

	it('count in the period for which they are scheduled', async () => {
		acceptCalls(3);
		await harness.place({ ...limited(), ...at('2026-11-25T10:00:00+05:30') }, KOLKATA);
		expect(isPlaced(await call(PHONE))).toEqual([true]);
		const sameDay = await harness.place(
			{ ...limited(), ...at('2026-11-25T23:00:00+05:30') },
			KOLKATA,
		);
		expect(json(sameDay)).toMatchObject([
			{ placed: false, next_call_possible_at: '2026-11-26T00:00:00+05:30' },
		]);
		itIs('2026-11-25T11:00:00+05:30');
		expect(isPlaced(await call(PHONE))).toEqual([false]);
		itIs('2026-11-26T00:00:00+05:30');
		expect(isPlaced(await call(PHONE))).toEqual([true]);
	});

	it('that are placed after midnight count for the new day, and leave nothing for the old one', async () => {
		itIs('2026-11-20T23:59:59+05:30');
		callsEndpoint().reply(200, () => {
			now += 2_000;
			return { success: true, data: { call_id: 'a' } };
		});
		acceptCalls(2);
		await callWith(limited(), OTHER, PHONE);
		// One for each call.
		expect(store.size).toBe(2);
		expect(isPlaced(await call(OTHER, PHONE))).toEqual([true, false]);
	});

	it.each<[what: string, start: string, parameters: INodeParameters, message: string]>([
		[
			'would count for another day',
			'2026-11-20T17:59:58+05:30',
			limited({}, { callingHours: { hours: HOURS } }),
			'it would count for another day, week, or month',
		],
		[
			'have a time of day that has passed',
			'2026-11-20T18:29:59+05:30',
			{ ...limited(), when: 'timeOfDay', scheduledTime: '18:30' },
			"'Time in India' is in the past",
		],
	])(
		"that %s when the service asks to wait aren't sent again, and don't count",
		async (_what, start, parameters, message) => {
			itIs(start);
			callsEndpoint().reply(429, { success: false, error: 'slow down' }, { 'Retry-After': '5' });
			const bodies = acceptUpTo(1);
			expect(faultOf(await callWith(parameters, PHONE)).message).toContain(message);
			expect([bodies, store.size]).toEqual([[], 0]);
		},
	);

	it('outside the calling hours count at the next opening', async () => {
		acceptCalls(1);
		const parameters = limited({}, { callingHours: { hours: HOURS } });
		itIs('2026-11-20T22:00:00+05:30');
		await callWith(parameters, PHONE);
		const [item] = json(await callWith(parameters, PHONE));
		expect(item).toMatchObject({ next_call_possible_at: '2026-11-24T00:00:00+05:30' });
	});
});

describe('a call that was certainly not placed does not count', () => {
	it.each<[string, () => void]>([
		['rejected', () => callsEndpoint().reply(400, REJECTED)],
		['never sent', () => callsEndpoint().replyWithError(expired)],
	])('%s', async (_name, respond) => {
		respond();
		expect(faultOf(await call(PHONE)).message).toBeDefined();
		acceptCalls(1);
		expect(isPlaced(await call(PHONE))).toEqual([true]);
	});

	it("rejected, also if n8n's database is locked for 50 seconds after that", async () => {
		callsEndpoint().reply(400, () => {
			const lockedUntil = now + 50_000;
			store.beforeCall = () => {
				if (now < lockedUntil) throw new Error('database is locked');
			};
			return REJECTED;
		});
		await harness.place(limited(), { over: CONTINUE });
		store.beforeCall = () => {};
		const bodies = acceptUpTo(1);
		const [item] = json(await harness.place(limited(), { over: CONTINUE }));
		expect(item).not.toMatchObject({ placed: false });
		expect(bodies).toHaveLength(1);
	});

	it('unless the record cannot be removed', async () => {
		callsEndpoint().reply(400, REJECTED);
		store.beforeCall = (made) => {
			if (made.startsWith('remove')) throw new Error('disk full');
		};
		expect(faultOf(await call(PHONE)).message).toContain('The service rejected');
		store.beforeCall = () => {};
		expect(isPlaced(await call(PHONE))).toEqual([false]);
	});
});

describe('a call that may have been placed counts', () => {
	it('if its outcome is unknown', async () => {
		callsEndpoint().reply(502, '');
		expect(faultOf(await call(PHONE)).message).toContain('the outcome is unknown');
		expect(isPlaced(await call(PHONE))).toEqual([false]);
	});

	it('if n8n was killed after placing it, and Retry reports it as unknown', async () => {
		acceptCalls(1);
		const node = harness.placeCallNode(limited());
		const begun = await harness.kill(node, [{}]);
		expect(isPlaced(await harness.place(limited()))).toEqual([false]);
		const again = await harness.retryAfterKill(begun, node);
		expect(faultOf(again).message).toContain('n8n has no record of the result');
	});
});

describe('attempts of the same execution', () => {
	it('Retry returns the placed calls even if the list of called numbers cannot be read', async () => {
		const node = harness.placeCallNode({ ...perItem, ...limited() });
		acceptCalls(1);
		callsEndpoint().reply(502, '');
		const failed = await harness.run(node, [{ phone: PHONE }, { phone: OTHER }]);
		store.beforeCall = () => {
			throw new Error('database is locked');
		};
		const again = await harness.retry(failed, node);
		expect(faultOf(again).message).toContain('the outcome is unknown');
		expect(faultOf(again).description).toContain('1 call was already placed');
	});

	it('Retry On Fail returns the placed calls, and leaves out who is over the limit', async () => {
		acceptCalls(2);
		await call(OTHER);
		callsEndpoint().reply(400, REJECTED);
		acceptCalls(1);
		const third = '9876543212';
		const run = await harness.place(
			{ ...perItem, ...limited() },
			{
				items: [PHONE, OTHER, third].map((phone) => ({ phone })),
				over: { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 },
			},
		);
		expect(json(run)).toMatchObject([
			{ call_id: `call-${PHONE}`, placed: true },
			{ placed: false },
			{ call_id: `call-${third}`, placed: true },
		]);
	});
});

describe("n8n's store", () => {
	const LIST = "n8n can't read or write the list of called numbers, so the call wasn't placed";

	it('stops the node before anyone is called if the list cannot be read', async () => {
		store.beforeCall = (made) => {
			if (made.startsWith('add')) throw new Error('database is locked');
		};
		const { message, description } = faultOf(await call(PHONE, OTHER));
		expect(message).toBe(`${LIST} [item 0]`);
		expect(description).toContain(
			" Or remove 'Limit Calls per Person' and leave out people who were called recently. n8n said: database is locked",
		);
	});

	it('with On Error set to continue, fails each item', async () => {
		let adds = 0;
		store.beforeCall = (made) => {
			if (made.startsWith('add') && ++adds === 1) throw new Error('database is locked');
		};
		const items = [{ phone: PHONE }, { phone: OTHER }];
		const run = await harness.place({ ...perItem, ...limited() }, { items, over: CONTINUE });
		const reason = expect.stringContaining(LIST);
		expect(json(run)).toMatchObject([{ error: reason }, { error: reason }]);
	});

	it('keeps the called numbers when the node has many notes of requests', async () => {
		acceptCalls(2);
		await call(PHONE);
		const context = executeContext(harness.placeCallNode(), [{ json: {} }]);
		const notes = Array.from({ length: 21_000 }, (_, i) => `request ${i}`);
		await context.helpers.checkProcessedAndRecord(notes, 'node', { mode: 'entries' });
		await harness.kill(harness.placeCallNode({ phoneNumber: OTHER }), [{}]);
		expect(isPlaced(await call(PHONE))).toEqual([false]);
	});
});

describe('as a tool', () => {
	it.each([
		['of an agent', engineTool],
		['of an older agent', inlineTool],
		['of an MCP client', mcpTool],
	])('%s, it says who cannot be called until when', async (_name, toolOf) => {
		acceptCalls(1);
		await call(PHONE);
		const answer = await toolOf(harness.credentials, harness.placeCallNode(limited()))();
		expect(answer).toMatchObject({
			outcome: 'not_sent',
			what_happened:
				"The call wasn't placed, because the limit of 1 call per day to this number is reached.",
			result: null,
		});
		expect(answer.next_step).toMatch(
			/^The next one is possible from \w+, \d+ November 2026, 00:00 /,
		);
		expect(answer.next_step).toMatch(
			/Do not call this number before that, also not in another format\. You can call other people\. Tell the user you are chatting with when the next call is possible\.$/,
		);
	});

	it('the same request of one agent run returns the placed call', async () => {
		acceptCalls(1);
		const data = newExecutionData();
		const node = harness.placeCallNode(limited());
		const tool = engineTool(harness.credentials, node, { data });
		expect(await tool()).toMatchObject({ outcome: 'done' });
		expect(await tool()).toMatchObject({ outcome: 'already_done', id: `call-${PHONE}` });
	});

	it('a call over the limit does not count for Maximum Calls per Agent Run', async () => {
		acceptCalls(2);
		await call(PHONE);
		const node = harness.placeCallNode({
			phoneNumber: "={{ $fromAI('phone') }}",
			...limited({}, { maximumCallsPerRun: 1 }),
		});
		const tool = engineTool(harness.credentials, node);
		expect(await tool({ phone: PHONE })).toMatchObject({ outcome: 'not_sent' });
		expect(await tool({ phone: OTHER })).toMatchObject({ outcome: 'done' });
	});
});

it('records a call before it is sent', async () => {
	const sizes: number[] = [];
	callsEndpoint().reply(200, (_uri, body) => {
		sizes.push(store.size);
		return { success: true, data: { call_id: `call-${phoneOf(body)}` } };
	});
	await call(PHONE);
	// Beside its note, and the mark of the execution.
	expect(sizes).toEqual([1 + 2]);
});
