import omit from 'lodash/omit';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { isFirstExecution } from './firstExecution';
import { runExclusive } from '../../keyedMutex';
import { isJsonObject } from '../../json';
import { clock } from '../http/accountClient';
import { triggerKey } from '../triggers/activeTriggers';

/** The first item has the event key in this field, beside `json`, on its way from the webhook to the worker. */
const EVENT_KEY_FIELD = 'eventKey';

/** Longer than n8n takes to read and write the keys of a node. */
const WRITES_END_MS = 1_000;

/** Two texts per event. */
const MAX_TEXTS = 2_000;

/** A webhook can't give n8n a key to store with the execution, so the execution checks whether it's the first. */
export function withEventKey(items: INodeExecutionData[], key: string): INodeExecutionData[] {
	return items.map((item, index) => (index === 0 ? { ...item, [EVENT_KEY_FIELD]: { key } } : item));
}

/**
 * Runs as `execute()` of a trigger. Passes the items on, or nothing if the same event has already started an execution.
 * A manual retry is intended, so it passes.
 */
export async function passFirstOnly(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const items = context.getInputData();
	const event = items[0]?.[EVENT_KEY_FIELD];
	if (!isJsonObject(event) || typeof event.key !== 'string') return [items];
	const { key } = event;
	const passed = items.map((item) => ({ ...omit(item, EVENT_KEY_FIELD), json: item.json }));
	if (context.getMode() !== 'webhook') return [passed];
	const { helpers } = context;
	const record = async (texts: string[]) =>
		await runExclusive(triggerKey(context), async () => {
			const options = { mode: 'entries', maxEntries: MAX_TEXTS } as const;
			const { new: added } = await helpers.checkProcessedAndRecord(texts, 'node', options);
			return added.map(String);
		});
	const pause = async () => await clock.sleep(WRITES_END_MS);
	const isFirst = await isFirstExecution(record, key, context.getExecutionId(), pause);
	return [isFirst ? passed : []];
}
