import {
	type IExecuteFunctions,
	type IPollFunctions,
	type ITriggerFunctions,
	type ITriggerResponse,
	type IWebhookFunctions,
	NodeOperationError,
} from 'n8n-workflow';
import { settledOrTimeout } from '../../clock';
import { clock } from '../http/accountClient';

type TriggerRegistry = {
	/** The triggers that are active in this process, by workflow and node. */
	active: Map<string, ITriggerFunctions>;
	/** Elapsed time at which a trigger was closed. Most of them become active again soon. */
	closedAt: Map<string, number>;
	/** Callbacks that wait for a trigger to become active. */
	waiters: Map<string, Set<() => void>>;
	/** About the start of this process, because n8n loads this file with the first node that imports it. */
	loadedAt: number;
};

/** Change the number with the type, because two versions of this file can share the registry. */
const REGISTRY = Symbol.for('n8n-nodes-voice-chat-agent.activeTriggers.1');

const { active, closedAt, waiters, loadedAt } = openRegistry();

/** After a start, n8n accepts deliveries for some time before it has activated its workflows. */
const START_UP_MS = 120_000;

/** While a workflow is published again, its trigger is inactive for some seconds. */
const RENEWAL_MS = 15_000;

/** Webhooks that wait for a trigger. n8n keeps a sandbox of about 10 MB for each. */
export const MAX_WAITING_WEBHOOKS = 50;

/** Deliveries that wait in memory. */
const MAX_WAITING_DELIVERIES = 5_000;

/** n8n waits while a trigger closes. Work in progress gets this time to finish. */
export const CLOSING_MS = 10_000;

/** Call this in `trigger()`, so that `webhook()` of the same node finds it. */
export function registerTrigger(
	trigger: ITriggerFunctions,
	close: () => Promise<void>,
): ITriggerResponse {
	const key = triggerKey(trigger);
	active.set(key, trigger);
	closedAt.delete(key);
	waiters.get(key)?.forEach((resume) => resume());
	return {
		closeFunction: async () => {
			if (active.get(key) === trigger) {
				active.delete(key);
				closedAt.set(key, clock.elapsed());
			}
			await close();
		},
	};
}

/** The trigger with this key that is active now. */
export function activeTrigger(key: string): ITriggerFunctions | undefined {
	return active.get(key);
}

/** `elsewhere`: in another process of n8n. `closed`: inactive for now. */
export type FoundTrigger = ITriggerFunctions | 'elsewhere' | 'closed';

/**
 * Finds the trigger of this webhook's node. After a start of n8n, waits until it's active. Separate webhook processes
 * never have triggers. This is stored with the workflow, so that only the first delivery waits.
 *
 * @returns the trigger, and whether the webhook must return before it's found. Then only the trigger can start an
 * execution.
 */
export function findTrigger(context: IWebhookFunctions): {
	found: Promise<FoundTrigger>;
	outlivesWebhook: boolean;
} {
	const key = triggerKey(context);
	const here = active.get(key);
	const data = context.getWorkflowStaticData('node');
	if (here !== undefined) {
		if (data.servedElsewhere === true) delete data.servedElsewhere;
		return { found: Promise.resolve(here), outlivesWebhook: false };
	}
	const others = waiters.get(key)?.size ?? 0;
	if (others >= MAX_WAITING_DELIVERIES)
		return { found: Promise.resolve('closed'), outlivesWebhook: false };
	const renewalLeft = renewalLeftMs(key);
	if (renewalLeft > 0) {
		const renewed = becomesActive(key, renewalLeft);
		return { found: renewed.then((trigger) => trigger ?? 'closed'), outlivesWebhook: true };
	}
	if (data.servedElsewhere === true)
		return { found: Promise.resolve('elsewhere'), outlivesWebhook: false };
	const opened = becomesActive(key, loadedAt + START_UP_MS - clock.elapsed());
	const found = opened.then((trigger) => {
		if (trigger === undefined) data.servedElsewhere = true;
		return trigger ?? 'elsewhere';
	});
	return { found, outlivesWebhook: others >= MAX_WAITING_WEBHOOKS };
}

/** After this time, another main process has become the leader and has the trigger. */
function renewalLeftMs(key: string): number {
	const closed = closedAt.get(key);
	if (closed === undefined) return 0;
	const left = closed + RENEWAL_MS - clock.elapsed();
	if (left <= 0) closedAt.delete(key);
	return left;
}

async function becomesActive(key: string, ms: number): Promise<ITriggerFunctions | undefined> {
	if (ms <= 0) return active.get(key);
	const callbacks = waiters.get(key) ?? new Set();
	waiters.set(key, callbacks);
	let resume = () => {};
	const opened = new Promise<void>((resolve) => {
		resume = resolve;
		callbacks.add(resume);
	});
	await settledOrTimeout(clock, ms, opened);
	callbacks.delete(resume);
	if (callbacks.size === 0) waiters.delete(key);
	return active.get(key);
}

/** Identifies a trigger by workflow and node. */
export function triggerKey(
	context: ITriggerFunctions | IWebhookFunctions | IExecuteFunctions | IPollFunctions,
): string {
	return `${context.getWorkflow().id ?? ''}/${context.getNode().id}`;
}

/**
 * When the package is updated, n8n loads this file again, but keeps the triggers that are active. So a class of n8n, which
 * isn't loaded again, keeps the registry.
 */
function openRegistry(): TriggerRegistry {
	const kept: unknown = Reflect.get(NodeOperationError, REGISTRY);
	if (isRegistry(kept)) return kept;
	const value: TriggerRegistry = {
		active: new Map(),
		closedAt: new Map(),
		waiters: new Map(),
		loadedAt: clock.elapsed(),
	};
	Reflect.defineProperty(NodeOperationError, REGISTRY, { value, configurable: true });
	return value;
}

function isRegistry(value: unknown): value is TriggerRegistry {
	return typeof value === 'object' && value !== null && 'active' in value;
}
