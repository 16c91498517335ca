import { TriggerContext } from 'n8n-core';
import {
	type INode,
	type INodeExecutionData,
	type IRun,
	type ITriggerFunctions,
	type IWebhookFunctions,
} from 'n8n-workflow';
import { z } from 'zod';
import {
	emitWithRetry,
	ExecutionStarter,
	openStarter,
	withStarter,
} from '../../../../../nodes/shared/n8n/triggers/executionStarter';
import { WebhookResponder } from '../../../../../nodes/shared/n8n/triggers/webhookResponse';
import {
	makeAdditionalData,
	makeNode,
	makeWorkflow,
	PACKAGE,
	setupEngine,
	TestCredentialsHelper,
	useFakeTime,
	webhookContext,
} from '../../../../engine';

beforeAll(setupEngine);

const credentials = new TestCredentialsHelper();
const node = makeNode({ type: `${PACKAGE}.callCompletedTrigger`, name: 'Trigger' });
const items = [{ json: { call_id: 'c1' } }];
const ANSWER = { received: true };
const replyTo = (context: IWebhookFunctions) => new WebhookResponder(context);

const ENDED = z.custom<IRun>().parse({});

/** A trigger whose n8n cannot store an execution for the first so many times. */
function offering(rejections: number, of: INode = node) {
	const offers: Array<{ key: string | undefined; at: number }> = [];
	const failed: Error[] = [];
	const emit: ITriggerFunctions['emit'] = (_items, _response, done, key) => {
		offers.push({ key, at: Date.now() });
		if (offers.length > rejections) done?.resolve(ENDED);
		else done?.reject(new Error('the database is locked'));
	};
	return { trigger: triggerOf(of, emit, failed), offers, failed };
}

/** A trigger whose executions end when they are told to. */
function lasting(of: INode = node) {
	const begun: unknown[] = [];
	const ends: Array<() => void> = [];
	let hasEnded = false;
	const emit: ITriggerFunctions['emit'] = (data, _response, done) => {
		begun.push(data[0]?.[0]?.json.n);
		const end = () => done?.resolve(ENDED);
		if (hasEnded) end();
		else ends.push(end);
	};
	return {
		trigger: triggerOf(of, emit, []),
		begun,
		/** From here on each ends as soon as it begins. */
		endAll: () => {
			hasEnded = true;
			ends.forEach((end) => end());
		},
	};
}

function triggerOf(of: INode, emit: ITriggerFunctions['emit'], failed: Error[]) {
	const never = (): never => {
		throw new Error('the trigger is not stopped');
	};
	return new TriggerContext(
		makeWorkflow([of]),
		of,
		makeAdditionalData(credentials, 'trigger'),
		'trigger',
		'activate',
		emit,
		never,
		(error) => failed.push(error),
	);
}

let places = 0;
/** A trigger node that no other test has opened. */
const fresh = () => makeNode({ ...node, id: `trigger-${++places}` });
const webhookOf = (of: INode) => webhookContext(credentials, makeWorkflow([of]), of, {}).context;

describe('what is offered to n8n', () => {
	beforeEach(useFakeTime);
	afterEach(() => jest.useRealTimers());

	test.each([
		[0, [0]],
		[1, [0, 1_000]],
		[2, [0, 1_000, 6_000]],
		[3, [0, 1_000, 6_000, 36_000]],
		[9, [0, 1_000, 6_000, 36_000, 96_000]],
	])(
		'it cannot take it %i times: offered at %j ms, with the same key',
		async (rejections, times) => {
			const { trigger, offers } = offering(rejections);
			const started = Date.now();
			const offered = emitWithRetry(trigger, items, 'key-1');
			await jest.advanceTimersByTimeAsync(600_000);
			await offered;
			expect(offers).toEqual(times.map((at) => ({ key: 'key-1', at: started + at })));
		},
	);
});

test('in a process without triggers the newest 1,000 keys are kept with the workflow', () => {
	const workflow = makeWorkflow([node]);
	const { context } = webhookContext(credentials, workflow, node, {});
	const emitter = new ExecutionStarter(context, undefined, false);
	const kept = () => z.array(z.string()).parse(workflow.getStaticData('node', node).usedKeys);
	emitter.emit(items, 'call-0', replyTo(webhookOf(node)), ANSWER);
	const [oldest] = kept();
	for (let call = 1; call < 1_000; call += 1)
		emitter.emit(items, `call-${call}`, replyTo(webhookOf(node)), ANSWER);
	expect(kept()).toHaveLength(1_000);
	expect(kept()[0]).toBe(oldest);
	emitter.emit(items, 'call-1000', replyTo(webhookOf(node)), ANSWER);
	expect(kept()).toHaveLength(1_000);
	expect(kept()).not.toContain(oldest);
});

test('what was started without the trigger is known where the trigger is, and nowhere else: n8n may not have stored it', () => {
	const { context } = webhookContext(credentials, makeWorkflow([node]), node, {});
	const without = new ExecutionStarter(context, undefined, false);
	without.emit(items, 'call-0', replyTo(context), ANSWER);
	const emitter = new ExecutionStarter(context, offering(0).trigger, false);
	expect([emitter.isUsed('call-0'), emitter.isUsed('call-1')]).toEqual([true, false]);
	expect(without.isUsed('call-0')).toBe(false);
});

test('this process knows the newest 20,000 keys', () => {
	const context = webhookOf(node);
	const emitter = new ExecutionStarter(context, offering(0).trigger, false);
	const emit = (key: string) => emitter.emit(items, key, replyTo(context), ANSWER);
	for (let call = 0; call < 20_000; call += 1) emit(`mine-${call}`);
	expect(emitter.isUsed('mine-0')).toBe(true);
	emit('mine-20000');
	const known = ['mine-0', 'mine-1', 'mine-20000'].map((key) => emitter.isUsed(key));
	expect(known).toEqual([false, true, true]);
});

describe('the sender', () => {
	const deliver = (trigger: ITriggerFunctions | undefined, isLate = false) => {
		const { context, response } = webhookContext(credentials, makeWorkflow([node]), node, {});
		const reply = new WebhookResponder(context);
		if (isLate) reply.reject({ status: 503, message: 'Later.' });
		const emitter = new ExecutionStarter(context, trigger, false);
		return { given: emitter.emit(items, undefined, reply, ANSWER), body: response.body };
	};

	test('is answered at once where the trigger sees to it that n8n takes the event', () => {
		expect(deliver(offering(0).trigger)).toEqual({
			given: { noWebhookResponse: true },
			body: ANSWER,
		});
	});

	test('is answered by n8n, when it has stored the execution, in a process without the trigger', () => {
		expect(deliver(undefined)).toEqual({
			given: { workflowData: [items], webhookResponse: ANSWER },
			body: undefined,
		});
	});

	test('is answered once, even if the event comes to its execution later', () => {
		expect(deliver(undefined, true)).toMatchObject({
			given: { workflowData: [items], noWebhookResponse: true },
			body: { received: false },
		});
	});
});

describe('what waits for its turn', () => {
	beforeEach(useFakeTime);
	afterEach(() => jest.useRealTimers());
	const settled = async () => await jest.advanceTimersByTimeAsync(0);

	test('is started by the trigger as it is by then: itself when it is gone, its successor when it was renewed', async () => {
		const place = fresh();
		const [former, successor] = [offering(0, place), offering(0, place)];
		const emitter = new ExecutionStarter(webhookOf(place), former.trigger, false);
		emitter.emit(items, 'before', replyTo(webhookOf(node)), ANSWER);
		await settled();
		expect([former.offers.length, successor.offers.length]).toEqual([1, 0]);
		openStarter(successor.trigger);
		emitter.emit(items, 'after', replyTo(webhookOf(node)), ANSWER);
		await settled();
		expect([former.offers.length, successor.offers.length]).toEqual([1, 1]);
	});

	test('five begin at once, one more for each that ends or takes a second', async () => {
		const { trigger, begun, endAll } = lasting();
		const emitter = new ExecutionStarter(webhookOf(node), trigger, false);
		for (let n = 0; n < 12; n++)
			emitter.emit([{ json: { n } }], `turn-${n}`, replyTo(webhookOf(node)), ANSWER);
		await jest.advanceTimersByTimeAsync(999);
		expect(begun).toEqual([0, 1, 2, 3, 4]);
		await jest.advanceTimersByTimeAsync(1);
		expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
		endAll();
		await settled();
		expect(begun).toHaveLength(12);
	});

	test('5,000 wait; what comes then is to come again', async () => {
		const place = fresh();
		const { trigger, begun, endAll } = lasting(place);
		openStarter(trigger);
		const emitter = new ExecutionStarter(webhookOf(place), trigger, false);
		const isTaken = async () => {
			const take = jest.fn(async () => await Promise.resolve({}));
			await withStarter(webhookOf(place), take);
			return take.mock.calls.some(([given]: unknown[]) => given !== undefined);
		};
		for (let n = 0; n < 5_004; n++)
			emitter.emit([{ json: { n } }], `crowd-${n}`, replyTo(webhookOf(node)), ANSWER);
		await settled();
		expect(begun).toHaveLength(5);
		expect(await isTaken()).toBe(true);
		emitter.emit(items, 'crowd-5004', replyTo(webhookOf(node)), ANSWER);
		await settled();
		expect(await isTaken()).toBe(false);
		endAll();
		await settled();
		expect(begun).toHaveLength(5_005);
		expect(await isTaken()).toBe(true);
	});

	test.each<[string, INodeExecutionData[]]>([
		['call c1', items],
		['what was delivered', [{ json: { call_id: 7 } }]],
		['what was delivered', []],
	])('what n8n never starts is told to the owner: %s', async (what, delivered) => {
		const { trigger, failed } = offering(9);
		const emitter = new ExecutionStarter(webhookOf(node), trigger, false);
		emitter.emit(delivered, 'never', replyTo(webhookOf(node)), ANSWER);
		await jest.advanceTimersByTimeAsync(95_999);
		expect([failed.length, emitter.isUsed('never')]).toEqual([0, true]);
		await jest.advanceTimersByTimeAsync(1);
		expect(failed).toMatchObject([
			{
				message: `n8n could not start the workflow for ${what}`,
				description: 'n8n’s log says why. The delivery was received and is not repeated by itself.',
			},
		]);
		expect(emitter.isUsed('never')).toBe(false);
	});

	test('a trigger that closes waits for what waited, ten seconds at most', async () => {
		const place = fresh();
		const { trigger, begun, endAll } = lasting(place);
		const { closeFunction } = openStarter(trigger);
		const emitter = new ExecutionStarter(webhookOf(place), trigger, false);
		for (let n = 0; n < 100; n++)
			emitter.emit([{ json: { n } }], `closing-${n}`, replyTo(webhookOf(node)), ANSWER);
		let isClosed = false;
		void closeFunction?.().then(() => (isClosed = true));
		await jest.advanceTimersByTimeAsync(9_999);
		expect([isClosed, begun.length]).toEqual([false, 50]);
		await jest.advanceTimersByTimeAsync(1);
		expect(isClosed).toBe(true);
		endAll();
		await settled();
	});
});

test('bodies of 64 MB wait to be started, and no more, until there is room again', async () => {
	useFakeTime();
	const place = fresh();
	const { trigger, endAll } = lasting(place);
	openStarter(trigger);
	const context = webhookOf(place);
	const isTaken = async (megabytes: number) => {
		let taken = false;
		const take = async (emitter: ExecutionStarter | undefined) => {
			taken = emitter !== undefined;
			return await Promise.resolve(emitter?.emit(items, undefined, replyTo(context), ANSWER) ?? {});
		};
		await withStarter(context, take, megabytes * 1024 * 1024);
		return taken;
	};
	const taken: boolean[] = [];
	// Five of them begin.
	for (let delivery = 0; delivery < 12; delivery++) taken.push(await isTaken(8));
	expect(taken).toEqual([...Array<boolean>(8).fill(true), ...Array<boolean>(4).fill(false)]);
	endAll();
	await jest.advanceTimersByTimeAsync(10_000);
	expect(await isTaken(8)).toBe(true);
	await jest.advanceTimersByTimeAsync(10_000);
	jest.useRealTimers();
});

describe('a delivery whose trigger is to come', () => {
	beforeEach(useFakeTime);
	afterEach(() => {
		jest.useRealTimers();
		jest.restoreAllMocks();
	});

	const deliver = (of: INode, end: (emitter: ExecutionStarter | undefined) => Promise<object>) => {
		const context = webhookOf(of);
		const log = jest.spyOn(context.logger, 'error').mockReturnValue();
		const given: Array<'trigger' | 'webhook' | 'none'> = [];
		const returned = withStarter(context, async (emitter) => {
			given.push(!emitter ? 'none' : emitter.trigger ? 'trigger' : 'webhook');
			return await end(emitter);
		});
		return { given, returned, log };
	};
	const start = async (emitter: ExecutionStarter | undefined) =>
		await Promise.resolve(emitter?.emit(items, undefined, replyTo(webhookOf(node)), ANSWER) ?? {});

	test.each([
		[true, ['trigger']],
		[false, ['none']],
	])(
		'just after it was closed, its webhook ends at once; it comes back: %s',
		async (returns, expected) => {
			const place = fresh();
			const { closeFunction } = openStarter(offering(0, place).trigger);
			await closeFunction?.();
			const { given, returned, log } = deliver(place, start);
			expect(await returned).toEqual({ noWebhookResponse: true });
			await jest.advanceTimersByTimeAsync(14_999);
			expect(given).toEqual([]);
			if (returns) openStarter(offering(0, place).trigger);
			await jest.advanceTimersByTimeAsync(1);
			expect(given).toEqual(expected);
			expect(log).not.toHaveBeenCalled();
		},
	);

	test('what n8n cannot start when its webhook is gone is turned down', async () => {
		const place = fresh();
		const deliveries = Array.from({ length: 51 }, () => deliver(place, start));
		const last = deliveries.at(-1);
		expect(await last?.returned).toEqual({ noWebhookResponse: true });
		await jest.advanceTimersByTimeAsync(120_000);
		for (const { given, returned } of deliveries.slice(0, 50)) {
			expect(given).toEqual(['webhook']);
			expect(await returned).toMatchObject({ workflowData: [items] });
		}
		expect(last?.given).toEqual(['none']);
		expect(last?.log).not.toHaveBeenCalled();
	});

	test('a defect stands in the log', async () => {
		const place = fresh();
		const { closeFunction } = openStarter(offering(0, place).trigger);
		await closeFunction?.();
		const { log } = deliver(place, async () => await Promise.reject(new Error('a defect')));
		await jest.advanceTimersByTimeAsync(15_000);
		expect(log.mock.calls).toEqual([['A delivery started no workflow: Error: a defect']]);
	});
});
