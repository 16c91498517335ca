import type { IDataObject, INodeParameters, IRun } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { TEXTS_PER_CALL } from '../../../nodes/shared/numberLists/calledNumbers';
import {
	engineTool,
	executeContext,
	inlineTool,
	mcpTool,
	mockTime,
	newExecutionData,
	oneNodeWorkflow,
	output,
	resume,
	retryFailed,
	runKilled,
	runWorkflow,
	service,
	startNode,
	stoppedResult,
	storedCopy,
} from '../../engine';
import { eventLoopTurns } from '../../n8n/until';
import {
	acceptCalls,
	acceptUpTo,
	askBy,
	BODY,
	callsEndpoint,
	CONTINUE,
	faultOf,
	HOURS,
	itemsOf,
	phoneOf,
	placeCallHarness,
	waitBy,
} from './placeCallHarness';

const harness = placeCallHarness();
const { store } = harness;

/** The texts that create a list: its name, character by character. */
const LIST_TEXTS = 'abcdef.'.length;
const DAY = 24 * 3_600_000;
const START = '2026-11-20T12:00:00+05:30';
const KOLKATA = { settings: { timezone: 'Asia/Kolkata' } };
const LIMIT = { maximumCalls: 1, days: 1 };
const limited = (over: IDataObject = {}, options: INodeParameters = {}): INodeParameters => ({
	options: { ...options, callLimit: { limit: { ...LIMIT, ...over } } },
});
const perItem = { phoneNumber: '={{ $json.phone }}', countryCode: '={{ $json.country ?? "IN" }}' };
const PHONE = '9876543210';
const OTHER = '9876543211';
const expired = Object.assign(new Error('expired'), { code: 'CERT_HAS_EXPIRED' });
const REJECTED = { success: false, error: 'phone_number is implausible' };

/** The service rejects a number of attempts with 429, and then accepts. Returns all bodies. */
function acceptAfter(attempts: number, retryAfter: number): unknown[] {
	const bodies: unknown[] = [];
	callsEndpoint()
		.times(attempts + 1)
		.reply((_uri, body) => {
			bodies.push(body);
			return bodies.length <= attempts
				? [429, { success: false, error: 'slow down' }, { 'Retry-After': String(retryAfter) }]
				: [200, { success: true, data: { call_id: 'late' } }];
		});
	return bodies;
}

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
					last_call_at: START,
					next_call_possible_at: '2026-11-21T12:00:00+05:30',
					phone_key: `91${PHONE}`,
				},
				pairedItem: { item: 0 },
			},
		]);
		expect(bodies).toEqual([BODY]);
	});

	it.each(['+91 98765-43210', '0091 9876543210', '098765 43210', '919876543210'])(
		'recognizes the person by another format: %s',
		async (phone) => {
			acceptCalls(1);
			await call(PHONE);
			expect(isPlaced(await call(phone))).toEqual([false]);
		},
	);

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

	it('counts calls in any period of these days', async () => {
		acceptCalls(5);
		const results: unknown[] = [];
		const days = [0, 3, 6.99, 7, 9.9, 10, 13];
		for (const day of days) {
			now = Date.parse(START) + day * DAY;
			results.push(...isPlaced(await callWith(limited({ maximumCalls: 2, days: 7 }), PHONE)));
		}
		expect(results).toEqual([true, true, false, true, false, true, false]);
		itIs('2026-12-04T12:00:00+05:30');
		expect(isPlaced(await callWith(limited({ maximumCalls: 2, days: 7 }), PHONE))).toEqual([true]);
	});

	it('after the limit was lowered, returns a time for who was called more often', async () => {
		acceptCalls(2);
		await callWith(limited({ maximumCalls: 2 }), PHONE);
		itIs('2026-11-20T13:00:00+05:30');
		await callWith(limited({ maximumCalls: 2 }), PHONE);
		const [left] = json(await call(PHONE));
		expect(left?.next_call_possible_at).toBe('2026-11-21T13:00:00+05:30');
	});

	it('with any number of days, returns a valid time', async () => {
		acceptCalls(1);
		await callWith(limited({ days: 0.123456 }), PHONE);
		const [left] = json(await callWith(limited({ days: 0.123456 }), PHONE));
		expect(left?.next_call_possible_at).toMatch(/^2026-11-20T14:57:46/);
	});

	it('counts each node on its own, and stores nothing without the option', async () => {
		acceptCalls(4);
		await call(PHONE);
		await harness.place(limited(), { over: { id: 'another' } });
		await harness.place();
		await harness.place();
		expect(store.size).toBe(1 + 2 * (LIST_TEXTS + TEXTS_PER_CALL));
	});

	it('can have another limit for each item', async () => {
		acceptCalls(3);
		const items = [1, 2, 2].map((most, index) => ({ phone: index === 0 ? PHONE : OTHER, most }));
		const parameters = { ...perItem, ...limited({ maximumCalls: '={{ $json.most }}' }) };
		await harness.place(parameters, { items });
		const run = await harness.place(parameters, { items: items.slice(0, 2) });
		expect(isPlaced(run)).toEqual([false, false]);
	});

	it('returns the row, if included, without the fields of an earlier call', async () => {
		acceptCalls(2);
		await call(PHONE);
		const old = { call_id: 'old', last_call_at: 'old', next_call_possible_at: 'old' };
		const items = [PHONE, OTHER].map((phone) => ({ phone, row_number: 2, ...old }));
		const parameters = { ...perItem, ...limited({}, { includeInputFields: true }) };
		const [item, other] = json(await harness.place(parameters, { items, ...KOLKATA }));
		expect(item).toMatchObject({ row_number: 2, call_id: null, last_call_at: START });
		expect(other).toEqual({
			phone: OTHER,
			row_number: 2,
			call_id: `call-${OTHER}`,
			placed: true,
			phone_key: `91${OTHER}`,
		});
	});

	it('waits only for the calls that were placed', async () => {
		acceptCalls(2);
		await call(PHONE);
		service()
			.get(`/v1/call/call-${OTHER}`)
			.reply(200, { success: true, data: { call_id: `call-${OTHER}`, status: 'not_picked' } });
		const waiting = waitBy('reading', {}, { callLimit: { limit: LIMIT } });
		const [first, second] = json(await callWith(waiting, PHONE, OTHER));
		expect(first).toMatchObject({ placed: false, not_placed_reason: 'call_limit_reached' });
		expect(second).toMatchObject({ status: 'not_picked', placed: true, timed_out: false });
	});

	it('Ask and Wait returns that the person was not reached', async () => {
		acceptCalls(1);
		await call(PHONE);
		const question = {
			operation: 'sendAndWait',
			message: 'May we ship?',
			responseType: 'freeText',
		};
		const waiting = askBy('reading', { callLimit: { limit: LIMIT } });
		const [item] = json(await harness.place({ ...question, ...waiting }, KOLKATA));
		expect(item).toMatchObject({
			answer: 'not_reached',
			explanation: 'No call was placed, because the limit of calls to this person is reached.',
			data: { approved: false },
			last_call_at: START,
		});
	});
});

describe('the form', () => {
	it.each<[IDataObject, string]>([
		[{ maximumCalls: 0 }, "'Maximum Calls' in 'Limit Calls per Person' must be a whole number"],
		[{ maximumCalls: 1.5 }, "'Maximum Calls' in 'Limit Calls per Person' must be a whole number"],
		[{ maximumCalls: 11 }, 'from 1 to 10 (got 11)'],
		[{ days: 0 }, "'Days' in 'Limit Calls per Person' must be a number from 0.1 to 90 (got 0)"],
		[{ days: 91 }, 'from 0.1 to 90 (got 91)'],
		[
			{ days: '={{ $json.none }}' },
			"'Days' in 'Limit Calls per Person' must be a number, but its expression returned nothing",
		],
	])('%j stops the node before anyone is called', async (over, words) => {
		expect(faultOf(await callWith(limited(over), PHONE)).message).toContain(words);
	});

	it('an empty limit stops the node before anyone is called', async () => {
		const run = await harness.place({ options: { callLimit: {} } });
		expect(faultOf(run).message).toBe("'Limit Calls per Person' is empty");
	});
});

describe('scheduled calls', () => {
	const at = (iso: string) => ({ when: 'dateTime', scheduledAt: `={{ "${iso}" }}` });

	it('count at the time for which they are scheduled', async () => {
		acceptCalls(3);
		await harness.place({ ...limited(), ...at('2026-11-25T10:00:00+05:30') });
		expect(isPlaced(await call(PHONE))).toEqual([true]);
		const before = await harness.place({ ...limited(), ...at('2026-11-24T12:00:00+05:30') });
		expect(isPlaced(before)).toEqual([false]);
		itIs('2026-11-25T11:00:00+05:30');
		const [after] = json(await call(PHONE));
		expect(after).toMatchObject({
			placed: false,
			last_call_at: '2026-11-25T10:00:00+05:30',
			next_call_possible_at: '2026-11-26T10:00:00+05:30',
		});
		itIs('2026-11-26T10:00:00+05:30');
		expect(isPlaced(await call(PHONE))).toEqual([true]);
	});

	it('at a time of day are sent with their date', async () => {
		const bodies = acceptCalls(1);
		await harness.place({ ...limited(), when: 'timeOfDay', scheduledTime: '10:00' });
		expect(bodies).toEqual([{ ...BODY, scheduled_at: '2026-11-21T10:00:00+05:30' }]);
	});

	it('outside the calling hours count at the next opening', async () => {
		acceptCalls(1);
		const parameters = limited({}, { callingHours: { hours: HOURS } });
		itIs('2026-11-20T22:00:00+05:30');
		await callWith(parameters, PHONE);
		const [item] = json(await callWith(parameters, PHONE));
		expect(item).toMatchObject({ last_call_at: '2026-11-23T09:00:00+05:30' });
	});

	it("at a time of day that passes between two attempts aren't placed, and don't count", async () => {
		itIs('2026-11-20T18:29:59+05:30');
		callsEndpoint().reply(429, { success: false, error: 'slow down' }, { 'Retry-After': '5' });
		const bodies = acceptUpTo(1);
		const run = await harness.place({ ...limited(), when: 'timeOfDay', scheduledTime: '18:30' });
		expect(faultOf(run).message).toMatch(/^'Time in India' is in the past/);
		expect(bodies).toEqual([]);
		expect(isPlaced(await call(PHONE))).toEqual([true]);
	});

	it('with a time in Additional Body Fields are rejected', async () => {
		const run = await callWith(
			{
				...limited(),
				developerSettings: { additionalBodyFields: '{ "scheduled_at": "23:00" }' },
			},
			PHONE,
		);
		expect(faultOf(run).message).toBe(
			"'Additional Body Fields' has scheduled_at, so 'Limit Calls per Person' can't know the time of the call",
		);
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

describe('a call that is placed after several attempts', () => {
	it('counts at the time of the last one', async () => {
		acceptAfter(2, 55);
		expect(isPlaced(await call(PHONE))).toEqual([true]);
		itIs('2026-11-21T12:01:49+05:30');
		const [item] = json(await call(PHONE));
		expect(item).toMatchObject({
			placed: false,
			last_call_at: '2026-11-20T12:01:50+05:30',
			next_call_possible_at: '2026-11-21T12:01:50+05:30',
		});
	});

	it("counts at the time of the first one if n8n's database can't be written", async () => {
		acceptAfter(1, 55);
		callsEndpoint();
		store.beforeCall = (method) => {
			if (method === 'remove') throw new Error('database is locked');
		};
		expect(isPlaced(await call(PHONE))).toEqual([true]);
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
		const { workflow, start } = oneNodeWorkflow(node);
		const begun = await runKilled(harness.credentials, workflow, start, [{ json: {} }]);
		expect(isPlaced(await harness.place(limited()))).toEqual([false]);
		const again = await resume(harness.credentials, workflow, storedCopy(begun), 'retry');
		expect(faultOf(again).message).toContain('n8n has no record of the result');
	});
});

describe('attempts of the same execution', () => {
	it('Retry returns the placed calls, and places the others', async () => {
		const node = harness.placeCallNode({ ...perItem, ...limited() });
		const { workflow, start } = oneNodeWorkflow(node);
		const input = [PHONE, OTHER].map((phone) => ({ json: { phone } }));
		acceptCalls(1);
		callsEndpoint().reply(400, REJECTED);
		const failed = await runWorkflow(harness.credentials, workflow, start, input);
		const bodies = acceptCalls(1);
		const again = await retryFailed(harness.credentials, failed, workflow);
		expect(json(again)).toMatchObject([
			{ call_id: `call-${PHONE}`, placed: true },
			{ call_id: `call-${OTHER}`, placed: true },
		]);
		expect(bodies).toMatchObject([{ phone_number: OTHER }]);
	});

	it('Retry returns the placed calls even if the list of called numbers cannot be read', async () => {
		const node = harness.placeCallNode({ ...perItem, ...limited() });
		const { workflow, start } = oneNodeWorkflow(node);
		const input = [PHONE, OTHER].map((phone) => ({ json: { phone } }));
		acceptCalls(1);
		callsEndpoint().reply(502, '');
		const failed = await runWorkflow(harness.credentials, workflow, start, input);
		store.beforeCall = () => {
			throw new Error('database is locked');
		};
		const again = await retryFailed(harness.credentials, failed, workflow);
		expect(faultOf(again).message).toContain('the outcome is unknown');
		expect(faultOf(again).description).toContain('1 call was already placed');
	});

	it("Retry places a rejected call, also if n8n's database was locked for a moment when it was rejected", async () => {
		const node = harness.placeCallNode(limited());
		let failures = 0;
		callsEndpoint().reply(401, () => {
			// The next write removes the call from the list of called numbers.
			failures = 1;
			return { success: false, error: 'no' };
		});
		store.beforeCall = () => {
			if (failures-- > 0) throw new Error('database is locked');
		};
		const failed = await harness.run(node, [{}]);
		expect(faultOf(failed).message).toContain('token');
		acceptCalls(1);
		expect(isPlaced(await harness.retry(failed, node))).toEqual([true]);
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

describe('two executions at the same moment', () => {
	it('in one process place one call', async () => {
		const bodies = acceptCalls(1);
		const runs = await Promise.all([call(PHONE), call(PHONE), call(PHONE)]);
		expect(runs.flatMap(isPlaced).sort()).toEqual([false, false, true]);
		expect(bodies).toHaveLength(1);
	});

	it('the second one places the call if the first one was rejected', async () => {
		callsEndpoint().reply(400, REJECTED);
		acceptCalls(1);
		const [first, second] = await Promise.all([call(PHONE), call(PHONE)]);
		expect(faultOf(first).message).toContain('The service rejected');
		expect(isPlaced(second)).toEqual([true]);
	});
});

test('after Stop, a call that waits for an earlier one to the same person is returned as not sent', async () => {
	const parameters = { ...limited({ maximumCalls: 5 }), developerSettings: { concurrency: 2 } };
	const node = harness.placeCallNode({ ...parameters, personName: '={{ $json.offer }}' }, CONTINUE);
	const input = itemsOf([{ offer: 'A' }, { offer: 'B' }]);
	const execution = startNode(harness.credentials, node, input);
	const offers: unknown[] = [];
	callsEndpoint()
		.times(2)
		.optionally()
		.reply(200, async (_uri, body) => {
			offers.push(typeof body === 'string' ? body : body.person_name);
			await eventLoopTurns(50);
			execution.cancel();
			return { success: true, data: { call_id: String(offers.length) } };
		});
	const { data } = await stoppedResult(execution);
	expect(offers).toEqual(['A']);
	expect(data?.main?.[0]?.[1]?.json).toMatchObject({ details: { outcome: 'not_sent' } });
});

describe("n8n's store", () => {
	const LIST = "n8n can't read or write the list of called numbers, so the call wasn't placed";

	it.each([
		['from the start', 1, "n8n can't record the request before sending it, so it wasn't sent", ''],
		[
			'for the list',
			2,
			LIST,
			" Or remove 'Limit Calls per Person' and leave out people who were called recently. ",
		],
	])('stops the node before anyone is called if it fails %s', async (_when, first, words, way) => {
		let adds = 0;
		store.beforeCall = (made) => {
			if (made.startsWith('add') && ++adds >= first) throw new Error('database is locked');
		};
		const { message, description } = faultOf(await call(PHONE, OTHER));
		expect(message).toBe(`${words} [item 0]`);
		expect(description).toContain(`${way}n8n said: database is locked`);
	});

	it('with On Error set to continue, fails each item', async () => {
		let adds = 0;
		store.beforeCall = (made) => {
			if (made.startsWith('add') && ++adds === 2) throw new Error('database is locked');
		};
		const items = [{ phone: PHONE }, { phone: OTHER }];
		const run = await harness.place({ ...perItem, ...limited() }, { items, over: CONTINUE });
		const reason = expect.stringContaining(LIST);
		expect(json(run)).toMatchObject([{ error: reason }, { error: reason }]);
	});

	it('stops at the person whose call cannot be recorded', async () => {
		acceptCalls(1);
		let written = 0;
		store.beforeCall = (made) => {
			if (made === 'add 6' && ++written > 1) throw new Error('disk full');
		};
		const { message, description } = faultOf(await call(PHONE, OTHER));
		expect(message).toContain("n8n can't read or write the list of called numbers");
		expect(description).toContain('1 call was already placed in this run (item 0).');
	});

	/** With those of one call. */
	async function fillStore(texts: number): Promise<void> {
		acceptCalls(1);
		await call(OTHER);
		const context = executeContext(harness.placeCallNode(), [{ json: {} }]);
		const others = Array.from({ length: texts - store.size }, (_, i) => String(i));
		await context.helpers.checkProcessedAndRecord(others, 'workflow', { mode: 'entries' });
	}

	it('stops the node before anyone is called if not all items can be remembered', async () => {
		await fillStore(29_999 * TEXTS_PER_CALL + 1);
		const { message, description } = faultOf(await call(PHONE));
		expect(message).toBe(
			'n8n can remember 30,000 calls per workflow. About 29,999 are in use, too many to add 1 more, so no call was placed',
		);
		expect(description).toContain("DND List > Remembered Number > Forget once, with 'All Numbers'");
	});

	it('places the calls if all items can be remembered', async () => {
		await fillStore(29_999 * TEXTS_PER_CALL);
		acceptCalls(1);
		expect(isPlaced(await call(PHONE))).toEqual([true]);
	});

	it('keeps the called numbers when the node has many notes of requests', async () => {
		acceptCalls(2);
		await call(PHONE);
		const context = executeContext(harness.placeCallNode(), [{ json: {} }]);
		const notes = Array.from({ length: 21_000 }, (_, i) => `request ${i}`);
		await context.helpers.checkProcessedAndRecord(notes, 'node', { mode: 'entries' });
		const { workflow, start } = oneNodeWorkflow(harness.placeCallNode({ phoneNumber: OTHER }));
		await runKilled(harness.credentials, workflow, start, [{ json: {} }]);
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
				"The call wasn't placed, because the limit of 1 call in 1 day to this number is reached.",
			result: null,
		});
		expect(answer.next_step).toMatch(/^The latest call to it was placed or scheduled for Friday, /);
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
	// The first text of the store, and the two entries and the mark of the write-ahead log.
	expect(sizes).toEqual([1 + LIST_TEXTS + TEXTS_PER_CALL + 3]);
});
