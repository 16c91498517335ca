import type { IDataObject, INodeParameters, IRun } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { engineTool, executeContext, output, records, skipSleeps } from '../../engine';
import {
	acceptCalls,
	acceptUpTo,
	BODY,
	callsEndpoint,
	CONTINUE,
	faultOf,
	HOURS,
	NIGHT,
	NOON,
	people,
	phoneOf,
	placeCallHarness,
} from './placeCallHarness';

const harness = placeCallHarness();
const { store } = harness;

const KOLKATA = { settings: { timezone: 'Asia/Kolkata' } };
const limited = (over: INodeParameters = {}): INodeParameters => ({
	...{ callLimit: 'day', maximumCalls: 1, ...over },
});
const perItem = { phoneNumber: '={{ $json.phone }}', countryCode: '={{ $json.country ?? "IN" }}' };
const PHONE = '9876543210';
const OTHER = '9876543211';
const expired = Object.assign(new Error('expired'), { code: 'CERT_HAS_EXPIRED' });
const REJECTED = { success: false, error: 'phone_number is implausible' };

let itIs: (iso: string) => void;
beforeEach(() => (itIs = skipSleeps(Date.parse(NOON))));
afterEach(() => jest.restoreAllMocks());

const isPlaced = (run: IRun) => records(run).map(({ placed }) => placed);
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
		expect(records(await call(PHONE))).toEqual([
			{ phone: PHONE, call_id: `call-${PHONE}`, placed: true, phone_key: `91${PHONE}` },
		]);
		itIs('2026-11-20T12:00:05+05:30');
		const second = await call(PHONE);
		expect(second.data.resultData.error).toBeUndefined();
		expect(output(second, 'Node')).toEqual([
			{
				json: {
					phone: PHONE,
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
		const when = { when: 'dateTime', scheduledAt: '=2026-11-27T{{ 10 + $itemIndex }}:00:00+05:30' };
		const options = {
			...{ ...limited({ maximumCalls: 2 }), ...when },
			developerSettings: { concurrency: 5 },
		};
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
			expect(isPlaced(await callWith(limited({ callLimit: period }), PHONE))).toEqual([true]);
			for (const time of still) {
				itIs(time);
				const [item] = records(await callWith(limited({ callLimit: period }), PHONE));
				expect(item).toMatchObject({ placed: false, next_call_possible_at: next });
			}
			itIs(next);
			expect(isPlaced(await callWith(limited({ callLimit: period }), PHONE))).toEqual([true]);
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

	it.each([
		['On Error set to stop', {}, 28],
		['On Error set to continue', CONTINUE, 1],
	])(
		'with %s, reserves the calls of all items in one access, notes so in another, and forgets those that were not placed',
		async (_how, over, count) => {
			acceptCalls(2);
			callsEndpoint().reply(400, REJECTED);
			if (over === CONTINUE) acceptCalls(27);
			const items = people(30);
			const node = { ...perItem, ...limited() };
			const before = store.calls.length;
			await harness.place(node, { items, over });
			const calls = store.calls.slice(before);
			expect(calls.filter((made) => made.startsWith('add') && made !== 'add 2')).toEqual([
				...['add 30', 'add 30'],
			]);
			expect(calls).toContain(`remove ${count}`);
			const bodies = acceptCalls(count);
			await harness.place(node, { items });
			expect(bodies.map(phoneOf)).toEqual(
				people(30)
					.slice(2, 2 + count)
					.map(({ phone }) => phone),
			);
		},
	);

	it("counts in the time zone of the workflow, whatever those of its nodes' calling hours are", async () => {
		acceptCalls(1);
		const wholeDay = { callingDays: 'Mon-Sun', callingFrom: '00:00', callingUntil: '24:00' };
		const hours = { ...HOURS, ...wholeDay };
		const inZone = async (timeZone: string) =>
			await harness.place(limited({ ...hours, timeZone }), {
				settings: { timezone: 'America/New_York' },
			});
		// Three different days.
		itIs('2026-11-20T10:30:00Z');
		const zones = ['Pacific/Pago_Pago', 'Asia/Kolkata', 'Pacific/Kiritimati'];
		const runs: IRun[] = [];
		for (const zone of zones) runs.push(await inZone(zone));
		expect(runs.flatMap(isPlaced)).toEqual([true, false, false]);
		expect(runs.flatMap((run) => records(run)).at(-1)).toMatchObject({
			next_call_possible_at: '2026-11-21T00:00:00-05:00',
		});
	});

	it.each([
		['Africa/Cairo', '2026-04-23T12:00:00+02:00', '2026-04-24T01:00:00+03:00'],
		['Africa/Cairo', '2026-04-24T12:00:00+03:00', '2026-04-25T00:00:00+03:00'],
		['America/Santiago', '2026-09-06T12:00:00-03:00', '2026-09-07T00:00:00-03:00'],
		['Asia/Beirut', '2026-03-29T12:00:00+03:00', '2026-03-30T00:00:00+03:00'],
		['America/Havana', '2026-03-08T12:00:00-04:00', '2026-03-09T00:00:00-04:00'],
	])('in %s on %s, the next call is possible from %s', async (timezone, now, next) => {
		acceptCalls(1);
		itIs(now);
		const settings = { settings: { timezone } };
		await harness.place(limited(), settings);
		expect(records(await harness.place(limited(), settings))).toMatchObject([
			{ placed: false, next_call_possible_at: next },
		]);
	});

	it('calls a person once in simultaneous executions', async () => {
		const bodies = acceptCalls(2);
		const runs = await Promise.all([call(PHONE, OTHER), call(PHONE, OTHER)]);
		expect(runs.flatMap(isPlaced).sort()).toEqual([false, false, true, true]);
		expect(bodies.map(phoneOf).sort()).toEqual([PHONE, OTHER]);
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
		expect(records(sameDay)).toMatchObject([
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
			itIs('2026-11-21T00:00:01+05:30');
			return { success: true, data: { call_id: 'a' } };
		});
		acceptCalls(2);
		await callWith(limited(), OTHER, PHONE);
		// One for each call.
		expect(store.size).toBe(2);
		expect(isPlaced(await call(OTHER, PHONE))).toEqual([true, false]);
	});

	it('count for the day on which they are placed, even if n8n needs days to reserve them', async () => {
		const days = ['2026-11-21T00:00:01+05:30', '2026-11-22T00:00:01+05:30'];
		store.beforeCall = () => {
			const [next] = days.splice(0, 1);
			if (next !== undefined) itIs(next);
		};
		acceptCalls(1);
		expect(isPlaced(await call(PHONE))).toEqual([true]);
		expect([days, store.size]).toEqual([[], 1]);
		expect(isPlaced(await call(PHONE))).toEqual([false]);
	});

	it('that the service delays until the hours end count at the next opening, also for the limit', async () => {
		const parameters = limited(HOURS);
		const scheduled = { ...BODY, scheduled_at: '2026-11-23T09:00:00+05:30' };
		for (const sent of [[scheduled], []]) {
			itIs('2026-11-20T17:59:58+05:30');
			callsEndpoint().reply(429, { success: false, error: 'slow down' }, { 'Retry-After': '5' });
			const bodies = acceptUpTo(1);
			expect(isPlaced(await callWith(parameters, PHONE))).toEqual([sent.length > 0]);
			expect(bodies).toEqual(sent);
		}
		// Nothing counts for the day on which nobody was called.
		expect(store.size).toBe(1);
	});

	it('count from zero in another period', async () => {
		acceptCalls(2);
		for (const period of ['day', 'week'])
			expect(isPlaced(await callWith(limited({ callLimit: period }), PHONE))).toEqual([true]);
	});

	it('outside the calling hours count at the next opening', async () => {
		acceptCalls(1);
		const parameters = limited(HOURS);
		itIs(NIGHT);
		await callWith(parameters, PHONE);
		const [item] = records(await callWith(parameters, PHONE));
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
			const lockedUntil = clock.now() + 50_000;
			store.beforeCall = () => {
				if (clock.now() < lockedUntil) throw new Error('database is locked');
			};
			return REJECTED;
		});
		await harness.place(limited(), { over: CONTINUE });
		store.beforeCall = () => {};
		const bodies = acceptUpTo(1);
		const [item] = records(await harness.place(limited(), { over: CONTINUE }));
		expect(item).not.toMatchObject({ placed: false });
		expect(bodies).toHaveLength(1);
	});

	it("never sent, because n8n's database fails after the call was reserved", async () => {
		let adds = 0;
		store.beforeCall = (made) => {
			if (made.startsWith('add') && ++adds > 1) throw new Error('disk full');
		};
		expect(faultOf(await call(PHONE)).message).toContain("didn't send it");
		expect(adds).toBeGreaterThan(1);
		store.beforeCall = () => {};
		acceptCalls(1);
		expect(isPlaced(await call(PHONE))).toEqual([true]);
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
	/** Calls the first of these people, and n8n is killed then. Returns the node and the execution. */
	const killedAfterOneCall = async (rows: IDataObject[], parameters: INodeParameters = {}) => {
		const node = harness.placeCallNode({ ...perItem, ...limited(), ...parameters });
		acceptCalls(1);
		callsEndpoint().reply(400, REJECTED);
		// The node doesn't come to its end.
		store.beforeCall = (made) => {
			if (made.startsWith('remove')) throw new Error('killed');
		};
		const begun = await harness.kill(node, rows);
		store.beforeCall = () => {};
		return { node: { ...node, ...CONTINUE }, begun };
	};
	const outcomes = (run: IRun) =>
		records(run).map(({ placed, not_placed_reason, details }) =>
			placed === true ? 'placed' : (not_placed_reason ?? details),
		);
	const unknown = expect.objectContaining({ outcome: 'unknown' });

	it('Retry calls those whose call had been reserved, but not begun, when n8n was killed. Another execution does not', async () => {
		const { node, begun } = await killedAfterOneCall(people(4));
		const other = await callWith(limited(), ...people(4).map(({ phone }) => phone));
		expect(isPlaced(other)).toEqual([false, false, false, false]);
		const bodies = acceptCalls(2);
		const again = await harness.retryAfterKill(begun, node);
		expect(outcomes(again)).toEqual([unknown, unknown, 'placed', 'placed']);
		expect(bodies.map(phoneOf)).toEqual(
			people(4)
				.slice(2)
				.map(({ phone }) => phone),
		);
		const later = await callWith(limited(), ...people(4).map(({ phone }) => phone));
		expect(isPlaced(later)).toEqual([false, false, false, false]);
	});

	it('a second Retry after another kill calls those that are still left', async () => {
		const { node, begun } = await killedAfterOneCall(people(5));
		acceptCalls(1);
		callsEndpoint().reply(400, REJECTED);
		store.beforeCall = (made) => {
			if (made.startsWith('remove 1')) throw new Error('killed');
		};
		const stopped = { ...node, onError: 'stopWorkflow' as const };
		await harness.retryAfterKill(begun, stopped, [...people(5).slice(2)]);
		store.beforeCall = () => {};
		const bodies = acceptCalls(1);
		const last = await harness.retryAfterKill(begun, node);
		expect(outcomes(last)).toEqual([unknown, unknown, unknown, unknown, 'placed']);
		expect(bodies.map(phoneOf)).toEqual([people(5)[4]?.phone]);
	});

	it('Retry does not call a person more often than the limit says', async () => {
		const at = (hour: number) => `2026-11-20T${hour}:00:00+05:30`;
		const rows = [
			...people(2).map((row) => ({ ...row, at: at(13) })),
			...[14, 15].map((hour) => ({ phone: '9876543299', at: at(hour) })),
		];
		const when = { when: 'dateTime', scheduledAt: '={{ $json.at }}' };
		const { node, begun } = await killedAfterOneCall(rows, when);
		const bodies = acceptCalls(1);
		const again = await harness.retryAfterKill(begun, node);
		expect(outcomes(again)).toEqual([unknown, unknown, 'placed', 'call_limit_reached']);
		expect(bodies).toHaveLength(1);
	});

	it('Retry returns the placed calls even if the list of called numbers cannot be read', async () => {
		const node = harness.placeCallNode({ ...perItem, ...limited() });
		acceptCalls(1);
		callsEndpoint().reply(502, '');
		const failed = await harness.run(node, [{ phone: PHONE }, { phone: OTHER }]);
		// Before, the node reads its notes.
		let areNotesRead = false;
		store.beforeCall = (made) => {
			if (areNotesRead) throw new Error('database is locked');
			areNotesRead = made.startsWith('remove');
		};
		const again = await harness.retry(failed, node);
		expect(faultOf(again).message).toContain('the outcome is unknown');
		expect(faultOf(again).description).toContain('Completed in this run: row 1.');
	});
});

describe("n8n's store", () => {
	const LIST = "n8n can't read or write the list of called numbers, so the call wasn't placed";

	it('if the list cannot be read, stops the node before anyone is called, or fails each item', async () => {
		let adds = 0;
		store.beforeCall = (made) => {
			if (made.startsWith('add') && ++adds <= 2) throw new Error('database is locked');
		};
		const items = [{ phone: PHONE }, { phone: OTHER }];
		const parameters = { ...perItem, ...limited() };
		const { message, description } = faultOf(await harness.place(parameters, { items }));
		expect(message).toBe(`${LIST} [row 1]`);
		expect(description).toContain(
			" Or set 'Limit Calls per Person' to 'No Limit' and leave out people who were called recently. n8n said: database is locked",
		);
		const run = await harness.place(parameters, { items, over: CONTINUE });
		const reason = expect.stringContaining(LIST);
		expect(records(run)).toMatchObject([{ error: reason }, { error: reason }]);
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
	it('says who cannot be called until when', async () => {
		acceptCalls(1);
		await call(PHONE);
		const answer = await engineTool(harness.placeCallNode(limited()))();
		expect(answer).toMatchObject({
			outcome: 'not_sent',
			what_happened:
				"The call wasn't placed, because the limit of 1 call per day to this number is reached.",
			next_step: expect.stringMatching(
				/^The next one is possible from \w+, \d+ November 2026, 00:00 .*Do not call this number before that, also not in another format\. You can call other people\. Tell the user you are chatting with when the next call is possible\.$/,
			),
			result: null,
		});
	});

	it('says how many calls are possible in which period', async () => {
		const weekly = limited({ maximumCalls: 2, callLimit: 'week' });
		acceptCalls(2);
		await callWith(weekly, PHONE);
		await callWith(weekly, PHONE);
		expect(await engineTool(harness.placeCallNode(weekly))()).toMatchObject({
			what_happened: expect.stringContaining('the limit of 2 calls per week to this number'),
		});
	});

	it('a call over the limit does not count for Maximum Calls per Agent Run', async () => {
		acceptCalls(2);
		await call(PHONE);
		const node = harness.placeCallNode({
			phoneNumber: "={{ $fromAI('phone') }}",
			...limited({ options: { maximumCallsPerRun: 1 } }),
		});
		const tool = engineTool(node);
		expect(await tool({ phone: PHONE })).toMatchObject({ outcome: 'not_sent' });
		expect(await tool({ phone: OTHER })).toMatchObject({ outcome: 'done' });
	});
});
