import type {
	IExecuteFunctions,
	IPollFunctions,
	ITriggerFunctions,
	ITriggerResponse,
	IWebhookFunctions,
} from 'n8n-workflow';
import { settledOrTimeout } from '../../clock';
import { clock } from '../http/accountClient';

/** The triggers that are active in this process, by workflow and node. */
const active = new Map<string, ITriggerFunctions>();

/** When those that are active no longer were closed: most of them come back within a moment. */
const closedAt = new Map<string, number>();

/** Who waits for a trigger to become active. */
const waiters = new Map<string, Set<() => void>>();

/** About when this process began: n8n loads this file with the first node that needs it. */
const loadedAt = clock.elapsed();

/** After its start n8n takes deliveries some time before it has activated its workflows. */
const START_UP_MS = 120_000;

/** A trigger that is renewed, as by publishing its workflow again, is away for a moment. */
const RENEWAL_MS = 15_000;

/** Deliveries whose webhooks wait with them for a trigger: n8n keeps a sandbox, some 10 MB, for each. */
export const MAX_WAITING_WEBHOOKS = 50;

/** Deliveries that wait in memory. */
const MAX_WAITING_DELIVERIES = 5_000;

/** n8n waits for a trigger that closes; what is under way has this long. */
export const CLOSING_MS = 10_000;

/** Run as `trigger()`, so that `webhook()` of the same node finds it. */
export function registerTrigger(
	trigger: ITriggerFunctions,
	close: () => Promise<void>,
): ITriggerResponse {
	const place = triggerKey(trigger);
	active.set(place, trigger);
	closedAt.delete(place);
	waiters.get(place)?.forEach((wake) => wake());
	return {
		closeFunction: async () => {
			if (active.get(place) === trigger) {
				active.delete(place);
				closedAt.set(place, clock.elapsed());
			}
			await close();
		},
	};
}

/** The trigger of a place as it is now; it may have been renewed since. */
export function activeTrigger(place: string): ITriggerFunctions | undefined {
	return active.get(place);
}

/** `elsewhere`: in another process of n8n; `closed`: there is none, and will be none for now. */
export type FoundTrigger = ITriggerFunctions | 'elsewhere' | 'closed';

/**
 * The trigger of the node whose webhook this is. After a start of n8n it may not be active yet, and is waited for.
 * n8n's separate webhook processes never have it: that a workflow is served by one of them is kept with the
 * workflow, so that only the first one ever waits.
 *
 * @returns the trigger, and whether the webhook had better return before it is found: there an execution can be
 * started by the trigger alone
 */
export function findTrigger(context: IWebhookFunctions): {
	found: Promise<FoundTrigger>;
	isLong: boolean;
} {
	const place = triggerKey(context);
	const here = active.get(place);
	const data = context.getWorkflowStaticData('node');
	if (here !== undefined) {
		if (data.servedElsewhere === true) delete data.servedElsewhere;
		return { found: Promise.resolve(here), isLong: false };
	}
	const others = waiters.get(place)?.size ?? 0;
	if (others >= MAX_WAITING_DELIVERIES) return { found: Promise.resolve('closed'), isLong: false };
	const renewalLeft = renewalLeftMs(place);
	if (renewalLeft > 0) {
		const renewed = becomesActive(place, renewalLeft);
		return { found: renewed.then((trigger) => trigger ?? 'closed'), isLong: true };
	}
	if (data.servedElsewhere === true) return { found: Promise.resolve('elsewhere'), isLong: false };
	const opened = becomesActive(place, loadedAt + START_UP_MS - clock.elapsed());
	const found = opened.then((trigger) => {
		if (trigger === undefined) data.servedElsewhere = true;
		return trigger ?? 'elsewhere';
	});
	return { found, isLong: others >= MAX_WAITING_WEBHOOKS };
}

/** A main process that no longer leads its n8n does not get the trigger back: it is then served as by any other. */
function renewalLeftMs(place: string): number {
	const closed = closedAt.get(place);
	if (closed === undefined) return 0;
	const left = closed + RENEWAL_MS - clock.elapsed();
	if (left <= 0) closedAt.delete(place);
	return left;
}

async function becomesActive(place: string, ms: number): Promise<ITriggerFunctions | undefined> {
	if (ms <= 0) return active.get(place);
	const those = waiters.get(place) ?? new Set();
	waiters.set(place, those);
	let wake = () => {};
	const opened = new Promise<void>((resolve) => {
		wake = resolve;
		those.add(wake);
	});
	await settledOrTimeout(clock, ms, opened);
	those.delete(wake);
	if (those.size === 0) waiters.delete(place);
	return active.get(place);
}

/** Names a trigger: the node of a workflow. */
export function triggerKey(
	context: ITriggerFunctions | IWebhookFunctions | IExecuteFunctions | IPollFunctions,
): string {
	return `${context.getWorkflow().id ?? ''}/${context.getNode().id}`;
}
