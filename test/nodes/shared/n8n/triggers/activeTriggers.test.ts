import {
	findTrigger,
	registerTrigger,
} from '../../../../../nodes/shared/n8n/triggers/activeTriggers';
import {
	engineHarness,
	makeWorkflow,
	triggerContext,
	useFakeTime,
	webhookContext,
} from '../../../../engine';

const harness = engineHarness();
beforeEach(useFakeTime);
afterEach(() => jest.useRealTimers());
const after = async (ms: number) => await jest.advanceTimersByTimeAsync(ms);

/** Longer than n8n accepts deliveries before its triggers are active. */
const STARTED_MS = 120_000;

let count = 0;

/** One trigger node: its trigger, and deliveries to its webhook. */
function triggerNode(workflowId = 'wf-1', id = `trigger-${++count}`) {
	const node = harness.node('callCompletedTrigger', { id });
	const workflow = makeWorkflow([node]);
	workflow.id = workflowId;
	const close = jest.fn(async () => await Promise.resolve());
	return {
		id,
		close,
		activate: () => {
			const trigger = triggerContext(harness.credentials, workflow, node);
			return { trigger, ...registerTrigger(trigger, close) };
		},
		deliver: () => {
			const { context } = webhookContext(harness.credentials, workflow, node, {});
			const { found, outlivesWebhook } = findTrigger(context);
			const result: { found?: unknown; outlivesWebhook: boolean } = { outlivesWebhook };
			void found.then((trigger) => (result.found = trigger));
			return result;
		},
		servedElsewhere: () => workflow.getStaticData('node', node).servedElsewhere,
	};
}

test('an active trigger is found immediately', async () => {
	const { activate, deliver } = triggerNode();
	const { trigger } = activate();
	const delivery = deliver();
	await after(0);
	expect(delivery).toEqual({ outlivesWebhook: false, found: trigger });
});

test('the trigger of a copied workflow, with the same ID of its node, is another one', async () => {
	const own = triggerNode('original');
	const copy = triggerNode('copy', own.id);
	const [{ trigger }, { trigger: other }] = [own.activate(), copy.activate()];
	const deliveries = [own.deliver(), copy.deliver()];
	await after(0);
	expect(deliveries.map(({ found }) => found)).toEqual([trigger, other]);
	expect(trigger).not.toBe(other);
});

test('a process without the trigger waits for it only once', async () => {
	const { activate, deliver, servedElsewhere } = triggerNode();
	const delivery = deliver();
	// The time began when the test loaded the nodes.
	await after(STARTED_MS / 2);
	expect(delivery.found).toBeUndefined();
	await after(STARTED_MS / 2);
	expect([delivery.found, servedElsewhere()]).toEqual(['elsewhere', true]);
	const next = deliver();
	await after(0);
	expect(next).toEqual({ outlivesWebhook: false, found: 'elsewhere' });
	const { trigger } = activate();
	const here = deliver();
	await after(0);
	expect([here.found, servedElsewhere()]).toEqual([trigger, undefined]);
});

test('waiting deliveries get the trigger that becomes active', async () => {
	const { activate, deliver, servedElsewhere } = triggerNode();
	const deliveries = [deliver(), deliver()];
	await after(1_000);
	const { trigger } = activate();
	await after(0);
	expect(deliveries.map(({ found }) => found)).toEqual([trigger, trigger]);
	expect(servedElsewhere()).toBeUndefined();
});

test('50 waiting deliveries keep their webhooks, and the 5,001st is rejected', async () => {
	const { activate, deliver } = triggerNode();
	const deliveries = Array.from({ length: 5_001 }, () => deliver());
	await after(0);
	expect(deliveries.filter(({ outlivesWebhook }) => !outlivesWebhook)).toHaveLength(51);
	expect(deliveries.slice(0, 50).every(({ outlivesWebhook }) => !outlivesWebhook)).toBe(true);
	expect(deliveries.map(({ found }) => found).filter(Boolean)).toEqual(['closed']);
	expect(deliveries.at(-1)?.found).toBe('closed');
	activate();
	await after(0);
	expect(deliveries.every(({ found }) => found !== undefined)).toBe(true);
});

describe('a trigger that was closed', () => {
	test('is awaited up to 15 seconds, because publishing again may take that long', async () => {
		const { activate, deliver, close } = triggerNode();
		await activate().closeFunction?.();
		expect(close).toHaveBeenCalledTimes(1);
		await after(5_000);
		const delivery = deliver();
		expect(delivery.outlivesWebhook).toBe(true);
		await after(9_999);
		expect(delivery.found).toBeUndefined();
		await after(1);
		expect(delivery.found).toBe('closed');
	});

	test('and becomes active again is found', async () => {
		const { activate, deliver } = triggerNode();
		await activate().closeFunction?.();
		const delivery = deliver();
		await after(14_000);
		const { trigger } = activate();
		await after(0);
		expect(delivery.found).toBe(trigger);
	});

	test('longer ago counts as active in another process', async () => {
		const { activate, deliver } = triggerNode();
		await activate().closeFunction?.();
		await after(STARTED_MS);
		const delivery = deliver();
		await after(0);
		expect(delivery).toEqual({ outlivesWebhook: false, found: 'elsewhere' });
	});

	test('after its successor became active does not deactivate it', async () => {
		const { activate, deliver, close } = triggerNode();
		const { closeFunction } = activate();
		const { trigger } = activate();
		await closeFunction?.();
		expect(close).toHaveBeenCalledTimes(1);
		const delivery = deliver();
		await after(0);
		expect(delivery).toEqual({ outlivesWebhook: false, found: trigger });
	});
});
