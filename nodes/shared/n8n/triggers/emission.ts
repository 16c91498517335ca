import type { INodeExecutionData, IRun, ITriggerFunctions } from 'n8n-workflow';
import { clock } from '../http/accountClient';
import { storedKeysOf, storeKey } from '../idempotency/eventDeduplication';
import { startsOnEngine2 } from '../run/engine2';

/** Engine 2.0 doesn't say when it has an execution. */
const ENGINE_2_DELAY_MS = 250;

/** Before each attempt. n8n may temporarily fail to store an execution. The key makes another attempt safe. */
const ATTEMPT_DELAYS_MS = [0, 1_000, 5_000, 30_000, 60_000];

/**
 * By key: the executions that haven't ended. While one waits for n8n's limit of executions, n8n would replace it with
 * another one with the same key, and run both.
 */
const inProgress = new Map<string, Promise<boolean>>();

type AttemptListener = {
	/** Called before each attempt. */
	beforeEmit?: () => void;
	/** Called when n8n couldn't start the execution. */
	onFailure?: () => void;
};

/**
 * Starts an execution with several attempts, unless one with the same key is in progress.
 *
 * @returns when it has ended: whether n8n could start it
 */
export async function emitExecution(
	trigger: ITriggerFunctions,
	items: INodeExecutionData[],
	key: string,
	listener: AttemptListener = {},
): Promise<boolean> {
	const same = inProgress.get(key);
	if (same !== undefined) return await same;
	const emit = startsOnEngine2(trigger) ? emitOnEngine2 : emitWithRetry;
	const ended = emit(trigger, items, key, listener);
	inProgress.set(key, ended);
	return await ended.finally(() => inProgress.delete(key));
}

async function emitWithRetry(
	trigger: ITriggerFunctions,
	items: INodeExecutionData[],
	key: string,
	{ beforeEmit, onFailure }: AttemptListener,
): Promise<boolean> {
	for (const delay of ATTEMPT_DELAYS_MS) {
		if (delay > 0) await clock.sleep(delay);
		const done = trigger.helpers.createDeferredPromise<IRun>();
		try {
			beforeEmit?.();
			trigger.emit([items], undefined, done, key);
			await done.promise;
			return true;
		} catch {
			// n8n has logged the reason. The next attempt has the same key.
			onFailure?.();
		}
	}
	return false;
}

/**
 * Engine 2.0 starts no execution whose end a trigger waits for, and ignores the key. So the key is stored with the
 * workflow, which n8n does for each execution. Only n8n's log shows if the execution couldn't start.
 */
async function emitOnEngine2(
	trigger: ITriggerFunctions,
	items: INodeExecutionData[],
	key: string,
	{ beforeEmit }: AttemptListener,
): Promise<boolean> {
	if (storedKeysOf(trigger).includes(key)) return true;
	storeKey(trigger, key);
	beforeEmit?.();
	trigger.emit([items]);
	await clock.sleep(ENGINE_2_DELAY_MS);
	return true;
}
