import type { IDataObject, INodeParameters, IRun } from 'n8n-workflow';
import { clock } from '../../../nodes/host/clock';
import { engineTool, output, records, startNode, stoppedResult, useTime } from '../../engine';
import { until } from '../../n8n/until';
import {
	acceptCalls,
	acceptUpTo,
	BODY,
	callsEndpoint,
	CONTINUE,
	faultOf,
	HOURS,
	itemsOf,
	NIGHT,
	NOON,
	people,
	phone,
	phoneOf,
	placeCallHarness,
} from './placeCallHarness';

const { store, place, placeCallNode, ...harness } = placeCallHarness();

const LIMIT = { callLimit: 'day', maximumCalls: 1 };
const perItem = { phoneNumber: '={{ $json.phone }}', countryCode: '={{ $json.country ?? "IN" }}' };
const [ASHA, RAVI] = [phone(0), phone(1)];
const REJECTED = { success: false, error: 'phone_number is implausible' };

const itIs = useTime(NOON);

/** An execution with the limit, which calls these people. */
const call = async (phones: string[], over: INodeParameters = {}, timezone = 'Asia/Kolkata') =>
	await place(
		{ ...perItem, ...LIMIT, ...over },
		{ items: phones.map((one) => ({ phone: one })), settings: { timezone } },
	);
const placedIn = (run: IRun) => records(run).map(({ placed }) => placed);
/** Whether it calls each of them. */
const isCalled = async (phones: string[], over: INodeParameters = {}) =>
	placedIn(await call(phones, over));
const at = (iso: string) => ({ when: 'dateTime', scheduledAt: `={{ "${iso}" }}` });

describe('Limit Calls per Person', () => {
	it('calls a person once over all executions, and returns when the next call is possible', async () => {
		const bodies = acceptCalls(1);
		const phone_key = `91${ASHA}`;
		expect(records(await call([ASHA]))).toEqual([
			{ phone: ASHA, call_id: `call-${ASHA}`, placed: true, phone_key },
		]);
		itIs('2026-11-20T12:00:05+05:30');
		const second = await call([ASHA]);
		expect(second.data.resultData.error).toBeUndefined();
		const notPlaced = {
			placed: false,
			call_id: null,
			not_placed_reason: 'call_limit_reached',
			next_call_possible_at: '2026-11-21T00:00:00+05:30',
		};
		expect(output(second, 'Node')).toEqual([
			{ json: { phone: ASHA, ...notPlaced, phone_key }, pairedItem: { item: 0 } },
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
		const run = await place({ ...perItem, ...LIMIT }, { items });
		expect(placedIn(run)).toEqual([true, false, true, true, false]);
	});

	it.each([
		// A Friday, the Sunday after it, and the days on which the next period begins.
		['day', ['2026-11-20T23:59:59+05:30'], '2026-11-21T00:00:00+05:30'],
		['week', ['2026-11-22T23:59:59+05:30'], '2026-11-23T00:00:00+05:30'],
		['month', ['2026-11-21T12:00:00', '2026-11-30T23:59:59+05:30'], '2026-12-01T00:00:00+05:30'],
	])('per %s, counts until the next one begins in the zone of the workflow', async (...one) => {
		const [callLimit, still, next_call_possible_at] = one;
		acceptCalls(2);
		expect(await isCalled([ASHA], { callLimit })).toEqual([true]);
		for (const time of still) {
			itIs(time);
			const again = records(await call([ASHA], { callLimit }));
			expect(again).toMatchObject([{ placed: false, next_call_possible_at }]);
		}
		itIs(next_call_possible_at);
		expect(await isCalled([ASHA], { callLimit })).toEqual([true]);
	});

	it.each([
		['2026-04-23T12:00:00+02:00', '2026-04-24T03:30:00+05:30'],
		['2026-04-24T12:00:00+03:00', '2026-04-25T02:30:00+05:30'],
	])(
		'at %s, before and after a skipped midnight, the next call is possible from %s where the person is',
		async (now, next) => {
			acceptCalls(1);
			itIs(now);
			await call([ASHA], {}, 'Africa/Cairo');
			expect(records(await call([ASHA], {}, 'Africa/Cairo'))).toMatchObject([
				{ placed: false, next_call_possible_at: next },
			]);
		},
	);

	it('counts the calls of all nodes in the workflow, and remembers nothing without the option', async () => {
		acceptCalls(3);
		await call([ASHA]);
		expect(placedIn(await place(LIMIT, { over: { id: 'another' } }))).toEqual([false]);
		await place();
		await place();
		expect(store.size).toBe(1);
	});

	it("counts a call once, whatever the service's own retries are, which also follow no calling hours", async () => {
		const bodies = acceptCalls(2);
		const options = { callSettings: { retryEnabled: true, retryMaxAttempts: 10 } };
		const over = { ...HOURS, maximumCalls: 2, options };
		expect(await isCalled([ASHA], over)).toEqual([true]);
		expect(await isCalled([ASHA], over)).toEqual([true]);
		expect(await isCalled([ASHA], over)).toEqual([false]);
		const retries = { retry_config: { enabled: true, max_attempts: 10 } };
		expect(bodies).toEqual(Array(2).fill({ ...BODY, call_config_overrides: retries }));
	});

	it('calls a person once in simultaneous executions', async () => {
		const bodies = acceptCalls(2);
		const both = await Promise.all([isCalled([ASHA, RAVI]), isCalled([ASHA, RAVI])]);
		expect(both.flat().sort()).toEqual([false, false, true, true]);
		expect(bodies.map(phoneOf).sort()).toEqual([ASHA, RAVI]);
	});

	it.each([
		['stop', {}, 8],
		['continue', CONTINUE, 1],
	])(
		'with On Error set to %s, claims a batch in one access and its calls of the limit in another, and forgets those that were not placed',
		async (_how, over, count) => {
			acceptCalls(2);
			callsEndpoint().reply(400, REJECTED);
			if (over === CONTINUE) acceptCalls(7);
			const items = people(10);
			const before = store.calls.length;
			await place({ ...perItem, ...LIMIT }, { items, over });
			const adds = store.calls.slice(before).filter((made) => made.startsWith('add'));
			// The first claim of an execution has a mark.
			expect(adds).toEqual(['add 11', 'add 10']);
			const bodies = acceptCalls(count);
			await place({ ...perItem, ...LIMIT }, { items });
			expect(bodies).toMatchObject(
				items.slice(2, 2 + count).map((row) => ({ phone_number: row.phone })),
			);
		},
	);
});

describe('scheduled calls', () => {
	it('count in the period for which they are scheduled', async () => {
		acceptCalls(3);
		await call([ASHA], at('2026-11-25T10:00:00+05:30'));
		expect(await isCalled([ASHA])).toEqual([true]);
		expect(records(await call([ASHA], at('2026-11-25T23:00:00+05:30')))).toMatchObject([
			{ placed: false, next_call_possible_at: '2026-11-26T00:00:00+05:30' },
		]);
		itIs('2026-11-25T11:00:00+05:30');
		expect(await isCalled([ASHA])).toEqual([false]);
		itIs('2026-11-26T00:00:00+05:30');
		expect(await isCalled([ASHA])).toEqual([true]);
	});

	it('that the service delays until the hours end count at the next opening, also for the limit', async () => {
		const scheduled = { ...BODY, scheduled_at: '2026-11-23T09:00:00+05:30' };
		for (const sent of [[scheduled], []]) {
			itIs('2026-11-20T17:59:58+05:30');
			callsEndpoint().reply(429, { success: false, error: 'slow down' }, { 'Retry-After': '5' });
			const bodies = acceptUpTo(1);
			expect(await isCalled([ASHA], HOURS)).toEqual([sent.length > 0]);
			expect(bodies).toEqual(sent);
		}
		itIs(NIGHT);
		expect(records(await call([ASHA], HOURS))).toMatchObject([
			{ placed: false, next_call_possible_at: '2026-11-24T00:00:00+05:30' },
		]);
		// Nothing counts for the day on which nobody was called.
		expect(store.size).toBe(1);
	});

	it('count for the day on which they are placed, even if n8n needs days to reserve them', async () => {
		const days = ['2026-11-21T00:00:01+05:30', '2026-11-22T00:00:01+05:30'];
		store.beforeCall = () => {
			const [next] = days.splice(0, 1);
			if (next !== undefined) itIs(next);
		};
		acceptCalls(1);
		expect(await isCalled([ASHA])).toEqual([true]);
		expect([days, store.size]).toEqual([[], 1]);
		expect(await isCalled([ASHA])).toEqual([false]);
	});
});

describe('a call counts unless it was certainly not placed', () => {
	const reject = () => callsEndpoint().reply(400, REJECTED);
	const failing = (fails: (made: string) => boolean) => {
		store.beforeCall = (made) => {
			if (fails(made)) throw new Error('disk full');
		};
	};
	const expired = Object.assign(new Error('expired'), { code: 'CERT_HAS_EXPIRED' });

	it.each<[string, respond: () => unknown, message: string, isCalledAgain: boolean]>([
		['rejected', reject, 'The service rejected', true],
		['never sent', () => callsEndpoint().replyWithError(expired), "wasn't sent", true],
		['with an unknown outcome', () => callsEndpoint().reply(502, ''), 'is unknown', false],
		[
			"rejected, if n8n's database is locked for 50 seconds after that",
			() =>
				callsEndpoint().reply(400, () => {
					const lockedUntil = clock.now() + 50_000;
					failing(() => clock.now() < lockedUntil);
					return REJECTED;
				}),
			'The service rejected',
			true,
		],
		[
			"rejected, if n8n can't forget it",
			() => {
				reject();
				failing((made) => made.startsWith('remove'));
			},
			'The service rejected',
			false,
		],
		[
			'never sent, because n8n fails after it was claimed',
			() => {
				let adds = 0;
				failing((made) => made.startsWith('add') && ++adds > 1);
			},
			"so the call wasn't placed",
			true,
		],
	])('%s', async (_what, respond, message, isCalledAgain) => {
		respond();
		expect(faultOf(await call([ASHA])).message).toContain(message);
		store.beforeCall = () => {};
		acceptUpTo(1);
		expect(await isCalled([ASHA])).toEqual([isCalledAgain]);
	});

	it('if n8n was killed after placing it, and Retry reports it as unknown', async () => {
		acceptCalls(1);
		const node = placeCallNode(LIMIT);
		const begun = await harness.kill(node, [{}]);
		// The counted call, and the claims of the execution and the person.
		expect(store.size).toBe(3);
		expect(placedIn(await place(LIMIT))).toEqual([false]);
		const again = await harness.retryAfterKill(begun, node);
		expect(faultOf(again).message).toContain('n8n has no record of the result');
	});
});

describe('attempts of the same execution', () => {
	/** n8n is killed while it places calls: the first one was placed, and the second one rejected. */
	const killedAfterTwo = async (rows: IDataObject[], parameters: INodeParameters = {}) => {
		const node = placeCallNode({ ...perItem, ...LIMIT, ...parameters });
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

	it('Retry calls those of later batches, whose calls were not claimed when n8n was killed', async () => {
		const { node, begun } = await killedAfterTwo(people(52));
		const bodies = acceptCalls(2);
		const again = await harness.retryAfterKill(begun, node);
		expect(outcomes(again)).toEqual([...new Array(50).fill(unknown), 'placed', 'placed']);
		expect(bodies.map(phoneOf)).toEqual([phone(50), phone(51)]);
		const phones = people(52).map((row) => row.phone);
		expect(await isCalled(phones)).toEqual(new Array(52).fill(false));
	});

	it('Retry returns the placed calls even if the list of called numbers cannot be read', async () => {
		const node = placeCallNode({ ...perItem, ...LIMIT });
		acceptCalls(1);
		callsEndpoint().reply(502, '');
		const failed = await harness.run(node, people(2));
		store.beforeCall = () => {
			throw new Error('database is locked');
		};
		const { message, description } = faultOf(await harness.retry(failed, node));
		expect(message).toContain('the outcome is unknown');
		expect(description).toContain('Completed in an earlier attempt: row 1.');
	});
});

describe("n8n's store", () => {
	it('if the list of called numbers cannot be read, stops the node before anyone is called, or fails each item', async () => {
		const error =
			"n8n can't read or write the list of called numbers, so the call wasn't placed [row 1]";
		store.beforeCall = (made) => {
			// Claims have a mark besides.
			if (made === 'add 2') throw new Error('database is locked');
		};
		const { message, description } = faultOf(await call([ASHA, RAVI]));
		expect(message).toBe(error);
		expect(description).toContain(
			" Or set 'Limit Calls per Person' to 'No Limit' and leave out people who were called recently. n8n said: database is locked",
		);
		const items = people(2);
		const run = await place({ ...perItem, ...LIMIT }, { items, over: CONTINUE });
		expect(records(run)).toMatchObject([{ error }, { error: error.replace('row 1', 'row 2') }]);
	});

	it("does not delay the error of a canceled execution, which n8n stores as it's a moment later", async () => {
		const { promise: isReleased, resolve: release } = Promise.withResolvers<undefined>();
		const execution = startNode(placeCallNode({ ...perItem, ...LIMIT }), itemsOf(people(2)));
		callsEndpoint().reply(200, () => {
			store.beforeCall = async () => await isReleased;
			execution.cancel();
			return { success: true, data: { call_id: 'first' } };
		});
		const { error } = await stoppedResult(execution);
		release(undefined);
		expect(error?.message).toBe('The execution was canceled');
		acceptCalls(1);
		await until('the other person to be free', async () => (await isCalled([RAVI]))[0]);
	});
});

describe('a model', () => {
	it.each([
		[1, 'day', 'of 1 call per day'],
		[2, 'week', 'of 2 calls per week'],
	])('is told the limit (%i per %s), and when the next call is possible', async (...one) => {
		const [maximumCalls, callLimit, limit] = one;
		const parameters = { maximumCalls, callLimit };
		acceptCalls(maximumCalls);
		for (let calls = 0; calls < maximumCalls; calls++) await call([ASHA], parameters);
		expect(await engineTool(placeCallNode(parameters))()).toMatchObject({
			outcome: 'not_sent',
			what_happened: `The call wasn't placed, because the limit ${limit} to this number is reached.`,
			next_step: expect.stringMatching(
				/^The next one is possible from \w+, \d+ November 2026, 10:30 \(Asia\/Kolkata\)\. Do not call this number before that, also not in another format\. You can call other people\. In n8n, DND List > Forget allows it earlier\.$/,
			),
			result: null,
		});
	});

	it('may place another call after one over the limit, which does not count for Maximum Calls per Agent Run', async () => {
		acceptCalls(2);
		await call([ASHA]);
		const phoneNumber = "={{ $fromAI('phone') }}";
		const options = { maximumCallsPerRun: 1 };
		const tool = engineTool(placeCallNode({ phoneNumber, ...LIMIT, options }));
		expect(await tool({ phone: ASHA })).toMatchObject({ outcome: 'not_sent' });
		expect(await tool({ phone: RAVI })).toMatchObject({ outcome: 'done' });
	});
});
