import omit from 'lodash/omit';
import type {
	IExecuteFunctions,
	INodeExecutionData,
	ITriggerFunctions,
	IWebhookFunctions,
} from 'n8n-workflow';
import { type CheckTimes, FirstExecutions } from './firstExecution';
import { isJsonObject } from '../../json';
import { clock } from '../http/accountClient';
import { activeTrigger, triggerKey } from '../triggers/activeTriggers';

/** The first item has the event key in this field, beside `json`, on its way from the webhook to the worker. */
const EVENT_KEY_FIELD = 'eventKey';

/** How executions of a trigger check their event. */
type Check = {
	times: CheckTimes;
	/** Two texts for each event, and one for each repeat in another process. */
	maxTexts: number;
};

/**
 * The pause is longer than n8n takes to read and write the keys of a node. An overloaded webhook process can start an
 * execution minutes after another process started one for the same event, so 5,000 events are kept. n8n writes 27 bytes
 * per text each time, so more would keep its database busy.
 */
const SHARED: Check = {
	times: { pauseMs: 1_000, minIntervalMs: 200, maxIntervalMs: 5_000 },
	maxTexts: 10_000,
};

/**
 * If no webhook process has delivered an event yet: n8n compares the keys. This only finds the first event that a webhook
 * process delivers, too. Each execution writes on its own, so that it starts at once.
 */
const UNSHARED: Check = {
	times: { pauseMs: 20, minIntervalMs: 4, maxIntervalMs: 4 },
	maxTexts: 1_000,
};

/**
 * In queue mode, n8n stores a key only with the executions that the main process starts. Those of webhook processes have
 * none. So each execution has the key of its event, and checks whether it's the first.
 */
export function withEventKey(items: INodeExecutionData[], key: string): INodeExecutionData[] {
	return items.map((item, index) => (index === 0 ? { ...item, [EVENT_KEY_FIELD]: { key } } : item));
}

/** The latest keys that webhook processes, or triggers on Engine 2.0, have stored with the workflow. */
export function storedKeysOf(
	context: IWebhookFunctions | ITriggerFunctions | IExecuteFunctions,
): string[] {
	const { usedKeys } = context.getWorkflowStaticData('node');
	return Array.isArray(usedKeys) ? usedKeys.map(String) : [];
}

/**
 * Runs as `execute()` of a trigger. Passes the items on, or nothing if the same event has already started an execution.
 * A manual retry is intended, so it passes.
 */
export async function passFirstOnly(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const items = context.getInputData();
	const event = items[0]?.[EVENT_KEY_FIELD];
	if (!isJsonObject(event) || typeof event.key !== 'string') return [items];
	const passed = items.map((item) => ({ ...omit(item, EVENT_KEY_FIELD), json: item.json }));
	return [!isChecked(context) || (await isFirst(context, event.key)) ? passed : []];
}

/** In the trigger's own process, n8n has compared the key with those of all executions. */
function isChecked(context: IExecuteFunctions): boolean {
	const mode = context.getMode();
	if (mode === 'webhook') return true;
	return mode === 'trigger' && activeTrigger(triggerKey(context)) === undefined;
}

/** By trigger: the executions in this process that check their key. */
const checking = new Map<string, FirstExecutions>();

async function isFirst(context: IExecuteFunctions, key: string): Promise<boolean> {
	const isShared = context.getMode() === 'webhook' || storedKeysOf(context).length > 0;
	const { times, maxTexts: maxEntries } = isShared ? SHARED : UNSHARED;
	const record = async (texts: string[]) => {
		const options = { mode: 'entries', maxEntries } as const;
		const { new: added } = await context.helpers.checkProcessedAndRecord(texts, 'node', options);
		return added.map(String);
	};
	const trigger = triggerKey(context);
	const executions = checking.get(trigger) ?? new FirstExecutions(clock);
	checking.set(trigger, executions);
	try {
		return await executions.isFirst(key, context.getExecutionId(), record, times);
	} finally {
		if (executions.isIdle) checking.delete(trigger);
	}
}
