import { TriggerContext } from 'n8n-core';
import {
	type INode,
	type INodeExecutionData,
	type ITriggerFunctions,
	type IWebhookFunctions,
} from 'n8n-workflow';
import { z } from 'zod';
import { emitExecution } from '../../../../../nodes/shared/n8n/triggers/emission';
import {
	ExecutionStarter,
	openStarter,
	withStarter,
} from '../../../../../nodes/shared/n8n/triggers/executionStarter';
import { clock } from '../../../../../nodes/shared/n8n/http/accountClient';
import { withEventKey } from '../../../../../nodes/shared/n8n/idempotency/eventDeduplication';
import { WebhookResponder } from '../../../../../nodes/shared/n8n/triggers/webhookResponse';
import {
	ENDED,
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
let node: INode;
beforeAll(() => {
	node = makeNode({ type: `${PACKAGE}.callCompletedTrigger`, name: 'Trigger' });
});
const items = [{ json: { call_id: 'c1' } }];
const BODY = { received: true };
const replyTo = (context: IWebhookFunctions) => new WebhookResponder(context);

/** A trigger whose n8n fails to store an execution the first times. */
function offering(rejections: number, of: INode = node, failsAfterMs = 0) {
	const offers: Array<{ key: string | undefined; at: number }> = [];
	const failed: Error[] = [];
	const emit: ITriggerFunctions['emit'] = (_items, _response, done, key) => {
		offers.push({ key, at: Date.now() });
		const fail = () => done?.reject(new Error('the database is locked'));
		if (offers.length > rejections) done?.resolve(ENDED);
		else if (failsAfterMs === 0) fail();
		else setTimeout(fail, failsAfterMs);
	};
	return { trigger: triggerOf(of, emit, failed), offers, failed };
}

/** A trigger whose executions end when the test ends them. */
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
		/** From now on, each execution ends as soon as it starts. */
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
/** A trigger node that no other test uses. */
const fresh = () => makeNode({ ...node, id: `trigger-${++places}` });
const webhookOf = (of: INode) => webhookContext(credentials, makeWorkflow([of]), of, {}).context;

describe('starting an execution', () => {
	beforeEach(useFakeTime);
	afterEach(() => jest.useRealTimers());

	test.each([
		[0, [0]],
		[1, [0, 1_000]],
		[2, [0, 1_000, 6_000]],
		[3, [0, 1_000, 6_000, 36_000]],
		[9, [0, 1_000, 6_000, 36_000, 96_000]],
	])('after %i failures, attempts are at %j ms with the same key', async (rejections, times) => {
		const { trigger, offers } = offering(rejections);
		const started = Date.now();
		const ended = emitExecution(trigger, items, 'key-1');
		await jest.advanceTimersByTimeAsync(600_000);
		await ended;
		expect(offers).toEqual(times.map((at) => ({ key: 'key-1', at: started + at })));
	});

	test('n8n gets a key again only when the execution with it has ended', async () => {
		const { trigger, begun, endAll } = lasting();
		const both = Promise.all(['key-1', 'key-1'].map((key) => emitExecution(trigger, items, key)));
		await jest.advanceTimersByTimeAsync(600_000);
		expect(begun).toHaveLength(1);
		endAll();
		expect(await both).toEqual([true, true]);
		await emitExecution(trigger, items, 'key-1');
		expect(begun).toHaveLength(2);
	});
});

describe('on Engine 2.0, which starts nothing if a trigger waits for the end', () => {
	beforeEach(useFakeTime);
	afterEach(() => jest.useRealTimers());

	/** A trigger in a workflow on Engine 2.0, and the arguments of its emissions. */
	function onEngine2() {
		const workflow = makeWorkflow([node], {}, { engineType: 'v2' });
		const emissions: unknown[][] = [];
		const emit: ITriggerFunctions['emit'] = (...args) => emissions.push(args);
		const data = makeAdditionalData(credentials, 'trigger');
		const trigger = new TriggerContext(workflow, node, data, 'trigger', 'activate', emit);
		const start = async (key: string) => {
			const ended = emitExecution(trigger, items, key);
			await jest.advanceTimersByTimeAsync(1_000);
			return await ended;
		};
		return { emissions, start, keys: () => workflow.getStaticData('node', node).usedKeys };
	}

	test('an execution starts once per key, and the key is stored with the workflow before', async () => {
		const { emissions, start, keys } = onEngine2();
		expect(await start('key-1')).toBe(true);
		expect(keys()).toEqual(['key-1']);
		expect(await start('key-1')).toBe(true);
		expect(await start('key-2')).toBe(true);
		expect(emissions).toEqual([[[items]], [[items]]]);
		expect(keys()).toEqual(['key-1', 'key-2']);
	});

	test('the newest 1,000 keys are stored', async () => {
		const { start, keys } = onEngine2();
		for (let event = 0; event <= 1_000; event++) await start(`key-${event}`);
		const stored = z.array(z.string()).parse(keys());
		expect([stored.length, stored[0], stored.at(-1)]).toEqual([1_000, 'key-1', 'key-1000']);
	});
});

test('in a process without triggers, the newest 1,000 keys are stored with the workflow', () => {
	const workflow = makeWorkflow([node]);
	const { context } = webhookContext(credentials, workflow, node, {});
	const starter = new ExecutionStarter(context, undefined, false);
	const storedKeys = () => z.array(z.string()).parse(workflow.getStaticData('node', node).usedKeys);
	starter.emit(items, 'call-0', replyTo(webhookOf(node)), BODY);
	const [oldest] = storedKeys();
	for (let call = 1; call < 1_000; call += 1)
		starter.emit(items, `call-${call}`, replyTo(webhookOf(node)), BODY);
	expect(storedKeys()).toHaveLength(1_000);
	expect(storedKeys()[0]).toBe(oldest);
	starter.emit(items, 'call-1000', replyTo(webhookOf(node)), BODY);
	expect(storedKeys()).toHaveLength(1_000);
	expect(storedKeys()).not.toContain(oldest);
});

test('keys that were used without the trigger are known only to the process with the trigger', () => {
	const { context } = webhookContext(credentials, makeWorkflow([node]), node, {});
	const without = new ExecutionStarter(context, undefined, false);
	without.emit(items, 'call-0', replyTo(context), BODY);
	const starter = new ExecutionStarter(context, offering(0).trigger, false);
	expect([starter.isUsed('call-0'), starter.isUsed('call-1')]).toEqual([true, false]);
	expect(without.isUsed('call-0')).toBe(false);
});

test('an execution that a trigger starts has the key that n8n gets, so that a worker can compare it', () => {
	const emissions: unknown[] = [];
	const emit: ITriggerFunctions['emit'] = (data, _response, done, key) => {
		emissions.push([data, [withEventKey(items, key ?? '')]]);
		done?.resolve(ENDED);
	};
	const starter = new ExecutionStarter(webhookOf(node), triggerOf(node, emit, []), false);
	starter.emit(items, 'call-key', replyTo(webhookOf(node)), BODY);
	const [[emitted, expected] = []] = z.array(z.array(z.unknown())).parse(emissions);
	expect(emitted).toEqual(expected);
});

test('a process remembers the newest 20,000 keys', () => {
	const context = webhookOf(node);
	const starter = new ExecutionStarter(context, offering(0).trigger, false);
	const emit = (key: string) => starter.emit(items, key, replyTo(context), BODY);
	for (let call = 0; call < 20_000; call += 1) emit(`mine-${call}`);
	expect(starter.isUsed('mine-0')).toBe(true);
	emit('mine-20000');
	const known = ['mine-0', 'mine-1', 'mine-20000'].map((key) => starter.isUsed(key));
	expect(known).toEqual([false, true, true]);
});

describe('the sender', () => {
	const deliver = (trigger: ITriggerFunctions | undefined, isLate = false) => {
		const { context, response } = webhookContext(credentials, makeWorkflow([node]), node, {});
		const responder = new WebhookResponder(context);
		if (isLate) responder.reject({ status: 503, message: 'Later.' });
		const starter = new ExecutionStarter(context, trigger, false);
		return { given: starter.emit(items, undefined, responder, BODY), body: response.body };
	};

	test('gets an immediate response if the trigger starts the execution', () => {
		expect(deliver(offering(0).trigger)).toEqual({
			given: { noWebhookResponse: true },
			body: BODY,
		});
	});

	test('gets the response of n8n in a process without the trigger', () => {
		expect(deliver(undefined)).toEqual({
			given: { workflowData: [items], webhookResponse: BODY },
			body: undefined,
		});
	});

	test('gets one response, even if the execution starts later', () => {
		expect(deliver(undefined, true)).toMatchObject({
			given: { workflowData: [items], noWebhookResponse: true },
			body: { received: false },
		});
	});
});

describe('waiting executions', () => {
	beforeEach(useFakeTime);
	afterEach(() => jest.useRealTimers());
	const settled = async () => await jest.advanceTimersByTimeAsync(0);

	test('are started by the trigger that is active then, or the old one if there is nothing', async () => {
		const ownNode = fresh();
		const [former, successor] = [offering(0, ownNode), offering(0, ownNode)];
		const starter = new ExecutionStarter(webhookOf(ownNode), former.trigger, false);
		starter.emit(items, 'before', replyTo(webhookOf(node)), BODY);
		await settled();
		expect([former.offers.length, successor.offers.length]).toEqual([1, 0]);
		openStarter(successor.trigger);
		starter.emit(items, 'after', replyTo(webhookOf(node)), BODY);
		await settled();
		expect([former.offers.length, successor.offers.length]).toEqual([1, 1]);
	});

	const emitAll = (trigger: ITriggerFunctions, count: number) => {
		const starter = new ExecutionStarter(webhookOf(trigger.getNode()), trigger, false);
		for (let n = 0; n < count; n++)
			starter.emit([{ json: { n } }], `${n}`, replyTo(webhookOf(node)), BODY);
	};
	const differentKeys = ({ offers }: ReturnType<typeof offering>) =>
		new Set(offers.map(({ key }) => key)).size;

	test('start five at a time, and another one for each that ends or takes 250 milliseconds', async () => {
		const { trigger, begun, endAll } = lasting(fresh());
		emitAll(trigger, 12);
		await jest.advanceTimersByTimeAsync(249);
		expect(begun).toEqual([0, 1, 2, 3, 4]);
		await jest.advanceTimersByTimeAsync(1);
		expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
		endAll();
		await settled();
		expect(begun).toHaveLength(12);
	});

	test('wait for a second while n8n is busy, so that its timers are late', async () => {
		const { trigger, begun, endAll } = lasting(fresh());
		const elapsed = jest.spyOn(clock, 'elapsed').mockImplementation(() => 2 * Date.now());
		emitAll(trigger, 6);
		await jest.advanceTimersByTimeAsync(999);
		expect(begun).toHaveLength(5);
		await jest.advanceTimersByTimeAsync(1);
		expect(begun).toHaveLength(6);
		endAll();
		await settled();
		elapsed.mockRestore();
	});

	test("wait for those that n8n can't store", async () => {
		const { trigger, offers } = offering(10, fresh());
		emitAll(trigger, 6);
		await jest.advanceTimersByTimeAsync(5_999);
		// Two attempts of five executions.
		expect(offers).toHaveLength(10);
		await jest.advanceTimersByTimeAsync(1);
		// The third attempts, and the sixth execution.
		expect(offers).toHaveLength(16);
	});

	test("wait ten seconds at most for those that n8n can't store", async () => {
		const failing = offering(Infinity, fresh());
		emitAll(failing.trigger, 6);
		await jest.advanceTimersByTimeAsync(10_249);
		expect(differentKeys(failing)).toBe(5);
		await jest.advanceTimersByTimeAsync(1);
		expect(differentKeys(failing)).toBe(6);
		await jest.advanceTimersByTimeAsync(600_000);
	});

	test("wait for others that n8n can't store after a while, such as by a timeout of its database", async () => {
		const failing = offering(Infinity, fresh(), 5_000);
		emitAll(failing.trigger, 1_000);
		await jest.advanceTimersByTimeAsync(60_000);
		// 100 in the first five seconds, and then five in ten seconds.
		expect(differentKeys(failing)).toBeLessThanOrEqual(130);
	});

	test("don't wait for those of a workflow that n8n can't start, nor does the end of their trigger", async () => {
		const unpublished = offering(Infinity, fresh());
		emitAll(unpublished.trigger, 1_000);
		const { trigger, offers } = offering(0, fresh());
		emitAll(trigger, 5);
		await settled();
		expect(offers).toHaveLength(5);
		const closed = openStarter(trigger).closeFunction?.();
		await jest.advanceTimersByTimeAsync(250);
		await closed;
	});

	test('are limited to 5,000, and later deliveries are rejected', async () => {
		const ownNode = fresh();
		const { trigger, begun, endAll } = lasting(ownNode);
		openStarter(trigger);
		const starter = new ExecutionStarter(webhookOf(ownNode), trigger, false);
		const isTaken = async () => {
			const handle = jest.fn(async () => await Promise.resolve({}));
			await withStarter(webhookOf(ownNode), handle);
			return handle.mock.calls.some(([given]: unknown[]) => given !== undefined);
		};
		for (let n = 0; n < 5_004; n++)
			starter.emit([{ json: { n } }], `crowd-${n}`, replyTo(webhookOf(node)), BODY);
		await settled();
		expect(begun).toHaveLength(5);
		expect(await isTaken()).toBe(true);
		starter.emit(items, 'crowd-5004', replyTo(webhookOf(node)), BODY);
		await settled();
		expect(await isTaken()).toBe(false);
		endAll();
		await settled();
		expect(begun).toHaveLength(5_005);
		expect(await isTaken()).toBe(true);
	});

	test.each<[string, INodeExecutionData[]]>([
		['call c1', items],
		['an event', [{ json: { call_id: 7 } }]],
		['an event', []],
	])('the owner is notified if n8n never starts one: %s', async (what, delivered) => {
		const { trigger, failed } = offering(9, fresh());
		const starter = new ExecutionStarter(webhookOf(trigger.getNode()), trigger, false);
		starter.emit(delivered, 'never', replyTo(webhookOf(node)), BODY);
		await jest.advanceTimersByTimeAsync(95_999);
		expect([failed.length, starter.isUsed('never')]).toEqual([0, true]);
		await jest.advanceTimersByTimeAsync(1);
		expect(failed).toMatchObject([
			{
				message: `n8n couldn't start the workflow for ${what}`,
				description:
					"The reason is in n8n's log. The sender got a success response, so the event may not be sent again.",
			},
		]);
		expect(starter.isUsed('never')).toBe(false);
	});

	test('are started while the trigger closes, for at most ten seconds', async () => {
		const ownNode = fresh();
		const { trigger, begun, endAll } = lasting(ownNode);
		const { closeFunction } = openStarter(trigger);
		const starter = new ExecutionStarter(webhookOf(ownNode), trigger, false);
		for (let n = 0; n < 300; n++)
			starter.emit([{ json: { n } }], `closing-${n}`, replyTo(webhookOf(node)), BODY);
		let isClosed = false;
		void closeFunction?.().then(() => (isClosed = true));
		await jest.advanceTimersByTimeAsync(9_999);
		expect([isClosed, begun.length]).toEqual([false, 200]);
		await jest.advanceTimersByTimeAsync(1);
		expect(isClosed).toBe(true);
		endAll();
		await settled();
	});
});

test('bodies of waiting executions are limited to 64 MB', async () => {
	useFakeTime();
	const ownNode = fresh();
	const { trigger, endAll } = lasting(ownNode);
	openStarter(trigger);
	const context = webhookOf(ownNode);
	const isTaken = async (megabytes: number) => {
		let taken = false;
		const handle = async (starter: ExecutionStarter | undefined) => {
			taken = starter !== undefined;
			return await Promise.resolve(starter?.emit(items, undefined, replyTo(context), BODY) ?? {});
		};
		await withStarter(context, handle, megabytes * 1024 * 1024);
		return taken;
	};
	const taken: boolean[] = [];
	// Five of them start.
	for (let delivery = 0; delivery < 12; delivery++) taken.push(await isTaken(8));
	expect(taken).toEqual([...Array<boolean>(8).fill(true), ...Array<boolean>(4).fill(false)]);
	endAll();
	await jest.advanceTimersByTimeAsync(10_000);
	expect(await isTaken(8)).toBe(true);
	await jest.advanceTimersByTimeAsync(10_000);
	jest.useRealTimers();
});

describe('a delivery before its trigger is active', () => {
	beforeEach(useFakeTime);
	afterEach(() => {
		jest.useRealTimers();
		jest.restoreAllMocks();
	});

	const deliver = (of: INode, end: (starter: ExecutionStarter | undefined) => Promise<object>) => {
		const context = webhookOf(of);
		const log = jest.spyOn(context.logger, 'error').mockReturnValue();
		const given: Array<'trigger' | 'webhook' | 'nothing'> = [];
		const returned = withStarter(context, async (starter) => {
			given.push(!starter ? 'nothing' : starter.trigger ? 'trigger' : 'webhook');
			return await end(starter);
		});
		return { given, returned, log };
	};
	const start = async (starter: ExecutionStarter | undefined) =>
		await Promise.resolve(starter?.emit(items, undefined, replyTo(webhookOf(node)), BODY) ?? {});

	test.each([
		[true, ['trigger']],
		[false, ['nothing']],
	])(
		'just after the trigger was closed, its webhook ends immediately. It becomes active again: %s',
		async (returns, expected) => {
			const ownNode = fresh();
			const { closeFunction } = openStarter(offering(0, ownNode).trigger);
			await closeFunction?.();
			const { given, returned, log } = deliver(ownNode, start);
			expect(await returned).toEqual({ noWebhookResponse: true });
			await jest.advanceTimersByTimeAsync(14_999);
			expect(given).toEqual([]);
			if (returns) openStarter(offering(0, ownNode).trigger);
			await jest.advanceTimersByTimeAsync(1);
			expect(given).toEqual(expected);
			expect(log).not.toHaveBeenCalled();
		},
	);

	test('is rejected if n8n cannot start it after its webhook ended', async () => {
		const ownNode = fresh();
		const deliveries = Array.from({ length: 51 }, () => deliver(ownNode, start));
		const last = deliveries.at(-1);
		expect(await last?.returned).toEqual({ noWebhookResponse: true });
		await jest.advanceTimersByTimeAsync(120_000);
		for (const { given, returned } of deliveries.slice(0, 50)) {
			expect(given).toEqual(['webhook']);
			expect(await returned).toMatchObject({ workflowData: [items] });
		}
		expect(last?.given).toEqual(['nothing']);
		expect(last?.log).not.toHaveBeenCalled();
	});

	test('logs a defect', async () => {
		const ownNode = fresh();
		const { closeFunction } = openStarter(offering(0, ownNode).trigger);
		await closeFunction?.();
		const { log } = deliver(ownNode, async () => await Promise.reject(new Error('a defect')));
		await jest.advanceTimersByTimeAsync(15_000);
		expect(log.mock.calls).toEqual([['A delivery started no workflow: Error: a defect']]);
	});
});
