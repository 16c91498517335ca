import omit from 'lodash/omit';
import without from 'lodash/without';
import {
	type IExecuteFunctions,
	type INodeExecutionData,
	type ITriggerFunctions,
	type IWebhookFunctions,
	NodeOperationError,
} from 'n8n-workflow';
import { isJsonObject } from '../../json';
import { activeTrigger, triggerKey } from '../triggers/activeTriggers';
import { isFirstExecution } from './firstExecution';

/** The first item has the event key in this field, beside `json`, on its way from the webhook to the worker. */
const EVENT_KEY_FIELD = 'eventKey';

/** Keys stored with the workflow, if they can't be stored with the execution: by a webhook's process, and on Engine 2.0. */
const MAX_STORED_KEYS = 1_000;

/**
 * The triggers whose events webhook processes deliver, as far as this process knows. Their stored keys can't tell, because
 * the main process overwrites them when it stores the state of a reading.
 */
const sharedTriggers = new Set<string>();

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

/** Stores a key with the workflow, which n8n does after `webhook()`, and with each execution that a trigger starts. */
export function storeKey(context: IWebhookFunctions | ITriggerFunctions, key: string): void {
	const data = context.getWorkflowStaticData('node');
	data.usedKeys = [...without(storedKeysOf(context), key), key].slice(-MAX_STORED_KEYS);
}

/**
 * Runs as `execute()` of a trigger. Passes the items on, or nothing if the same event has already started an execution.
 * A manual retry is intended, so it passes. Its row ends later executions for the event, because the execution that failed
 * may have none.
 *
 * @throws NodeOperationError for a retry of a failed execution without an event
 */
export async function passFirstOnly(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const items = context.getInputData();
	const event = items[0]?.[EVENT_KEY_FIELD];
	if (!isJsonObject(event) || typeof event.key !== 'string') {
		if (context.getMode() === 'retry' && items.every(isEmpty)) throw nothingToRetry(context);
		return [items];
	}
	const passed = items.map((item) => ({ ...omit(item, EVENT_KEY_FIELD), json: item.json }));
	if (!isChecked(context)) return [passed];
	if (context.getMode() === 'retry') {
		await isFirst(context, event.key).catch(() => undefined);
		return [passed];
	}
	return [(await isFirst(context, event.key)) ? passed : []];
}

function isEmpty({ json }: INodeExecutionData): boolean {
	return Object.keys(json).length === 0;
}

/** A failed execution with which a trigger reports something has an empty item, so a retry would succeed. */
function nothingToRetry(context: IExecuteFunctions): NodeOperationError {
	return new NodeOperationError(
		context.getNode(),
		"This execution has no event, so a retry can't start the workflow",
		{ description: 'Read the message of the failed execution. It says what to do.' },
	);
}

/** In the trigger's own process, n8n has compared the key with those of all executions. */
function isChecked(context: IExecuteFunctions): boolean {
	const mode = context.getMode();
	if (mode === 'webhook') return true;
	if (mode !== 'trigger' && mode !== 'retry') return false;
	return activeTrigger(triggerKey(context)) === undefined;
}

async function isFirst(context: IExecuteFunctions, key: string): Promise<boolean> {
	const trigger = triggerKey(context);
	const storedKeys = storedKeysOf(context);
	if (context.getMode() === 'webhook' || storedKeys.length > 0) sharedTriggers.add(trigger);
	// The workflow stores the keys of as many, so that a worker that starts can delete their rows.
	const minEvents = sharedTriggers.has(trigger) ? MAX_STORED_KEYS : 0;
	return await isFirstExecution(context, key, minEvents, storedKeys);
}
