import omit from 'lodash/omit';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { isFirstExecution } from './firstExecution';
import { runExclusive } from '../../keyedMutex';
import { isJsonObject } from '../../json';
import { clock } from '../http/accountClient';
import { triggerKey } from '../triggers/activeTriggers';

/** Under this name, beside its json, the first item carries the key of its event from the webhook to the worker. */
const EVENT_KEY_FIELD = 'startsOnce';

/** Longer than n8n takes to read and write what it has noted for a node. */
const WRITES_END_MS = 1_000;

/** Two texts an event. */
const MAX_TEXTS = 2_000;

/** n8n gives a webhook no key to store an execution with: the execution looks by itself whether it is the first. */
export function withEventKey(items: INodeExecutionData[], key: string): INodeExecutionData[] {
	return items.map((item, index) => (index === 0 ? { ...item, [EVENT_KEY_FIELD]: { key } } : item));
}

/**
 * Run as `execute()` of a trigger: passes on what started the execution, and nothing where the same event has started
 * another one. A retry by hand is wanted, so it passes.
 */
export async function passFirstOnly(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const items = context.getInputData();
	const carried = items[0]?.[EVENT_KEY_FIELD];
	if (!isJsonObject(carried) || typeof carried.key !== 'string') return [items];
	const { key } = carried;
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
