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

/** Longer than n8n takes deliveries before its triggers are active. */
const STARTED_MS = 120_000;

let count = 0;

/** One trigger node: its trigger, and deliveries to its webhook. */
function place(workflowId = 'wf-1', id = `trigger-${++count}`) {
	const node = harness.node('callCompletedTrigger', { id });
	const workflow = makeWorkflow([node]);
	workflow.id = workflowId;
	const close = jest.fn(async () => await Promise.resolve());
	return {
		id,
		close,
		open: () => {
			const trigger = triggerContext(harness.credentials, workflow, node);
			return { trigger, ...registerTrigger(trigger, close) };
		},
		deliver: () => {
			const { context } = webhookContext(harness.credentials, workflow, node, {});
			const { found, isLong } = findTrigger(context);
			const answer: { found?: unknown; isLong: boolean } = { isLong };
			void found.then((trigger) => (answer.found = trigger));
			return answer;
		},
		servedElsewhere: () => workflow.getStaticData('node', node).servedElsewhere,
	};
}

test('an active trigger is found at once', async () => {
	const { open, deliver } = place();
	const { trigger } = open();
	const delivery = deliver();
	await after(0);
	expect(delivery).toEqual({ isLong: false, found: trigger });
});

test('the trigger of a copied workflow, with the same ID of its node, is another one', async () => {
	const own = place('original');
	const copy = place('copy', own.id);
	const [{ trigger }, { trigger: other }] = [own.open(), copy.open()];
	const deliveries = [own.deliver(), copy.deliver()];
	await after(0);
	expect(deliveries.map(({ found }) => found)).toEqual([trigger, other]);
	expect(trigger).not.toBe(other);
});

test('a process without the trigger waits for it once, and from then on not at all', async () => {
	const { open, deliver, servedElsewhere } = place();
	const delivery = deliver();
	await after(STARTED_MS - 5_000);
	expect(delivery.found).toBeUndefined();
	await after(5_000);
	expect([delivery.found, servedElsewhere()]).toEqual(['elsewhere', true]);
	const next = deliver();
	await after(0);
	expect(next).toEqual({ isLong: false, found: 'elsewhere' });
	const { trigger } = open();
	const here = deliver();
	await after(0);
	expect([here.found, servedElsewhere()]).toEqual([trigger, undefined]);
});

test('a trigger that becomes active while deliveries wait is given to each of them', async () => {
	const { open, deliver, servedElsewhere } = place();
	const deliveries = [deliver(), deliver()];
	await after(1_000);
	const { trigger } = open();
	await after(0);
	expect(deliveries.map(({ found }) => found)).toEqual([trigger, trigger]);
	expect(servedElsewhere()).toBeUndefined();
});

test('of those that wait 50 keep their webhooks, and the 5,001st is to come again', async () => {
	const { open, deliver } = place();
	const deliveries = Array.from({ length: 5_001 }, () => deliver());
	await after(0);
	expect(deliveries.filter(({ isLong }) => !isLong)).toHaveLength(51);
	expect(deliveries.slice(0, 50).every(({ isLong }) => !isLong)).toBe(true);
	expect(deliveries.map(({ found }) => found).filter(Boolean)).toEqual(['closed']);
	expect(deliveries.at(-1)?.found).toBe('closed');
	open();
	await after(0);
	expect(deliveries.every(({ found }) => found !== undefined)).toBe(true);
});

describe('a trigger that was closed', () => {
	test('is waited for up to 15 seconds after its closing, for that is how long renewing may take', async () => {
		const { open, deliver, close } = place();
		await open().closeFunction?.();
		expect(close).toHaveBeenCalledTimes(1);
		await after(5_000);
		const delivery = deliver();
		expect(delivery.isLong).toBe(true);
		await after(9_999);
		expect(delivery.found).toBeUndefined();
		await after(1);
		expect(delivery.found).toBe('closed');
	});

	test('and comes back is found', async () => {
		const { open, deliver } = place();
		await open().closeFunction?.();
		const delivery = deliver();
		await after(14_000);
		const { trigger } = open();
		await after(0);
		expect(delivery.found).toBe(trigger);
	});

	test('longer ago is taken for one of another process', async () => {
		const { open, deliver } = place();
		await open().closeFunction?.();
		await after(STARTED_MS);
		const delivery = deliver();
		await after(0);
		expect(delivery).toEqual({ isLong: false, found: 'elsewhere' });
	});

	test('when its successor was active already takes nothing from it', async () => {
		const { open, deliver, close } = place();
		const { closeFunction } = open();
		const { trigger } = open();
		await closeFunction?.();
		expect(close).toHaveBeenCalledTimes(1);
		const delivery = deliver();
		await after(0);
		expect(delivery).toEqual({ isLong: false, found: trigger });
	});
});
