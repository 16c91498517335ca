import type { INodeExecutionData, IRun, ITriggerFunctions } from 'n8n-workflow';
import { settledOrTimeout } from '../../clock';
import { clock } from '../http/accountClient';
import { storedKeysOf } from '../idempotency/eventDeduplication';
import { startsOnEngine2 } from '../run/engine2';

/** Keys stored with the workflow, if they can't be stored with the execution: by a webhook's process, and on Engine 2.0. */
export const MAX_RECENT_KEYS = 1_000;

/** Engine 2.0 doesn't say when it has an execution. */
const ENGINE_2_DELAY_MS = 250;

/** Before each attempt. n8n may temporarily fail to store an execution. The key makes another attempt safe. */
const ATTEMPT_DELAYS_MS = [0, 1_000, 5_000, 30_000, 60_000];

/** n8n stores an execution within this time, unless it's busy. */
const STORED_AFTER_MS = 250;

/** After a failed attempt. Then others may start, because n8n may be unable to store only this one. */
const NOT_STORED_AFTER_MS = 10_000;

/** While n8n is busy, timers fire later than this. */
const MAX_TIMER_DELAY_MS = 50;

/** How many times n8n gets {@link STORED_AFTER_MS} while it's busy. */
const MAX_ROUNDS = 4;

/** An execution that a trigger passes to n8n. */
export type Emission = {
	/** When it has ended: whether n8n could start it. */
	ended: Promise<boolean>;
	/** When the next one may start. */
	stored: Promise<void>;
};

/**
 * Starts an execution with several attempts. n8n says when it ends, but not when it's stored. A workflow can take
 * minutes, so the next execution doesn't wait for its end. It waits only while n8n is busy or can't store this one.
 *
 * @param beforeEmit called before each attempt
 */
export function emitExecution(
	trigger: ITriggerFunctions,
	items: INodeExecutionData[],
	key: string,
	beforeEmit: () => void = () => {},
): Emission {
	let hasFailed = false;
	const onFailure = () => (hasFailed = true);
	const ended = startsOnEngine2(trigger)
		? emitOnEngine2(trigger, items, key, beforeEmit)
		: emitWithRetry(trigger, items, key, beforeEmit, onFailure);
	return { ended, stored: untilStored(ended, () => hasFailed) };
}

async function untilStored(ended: Promise<boolean>, hasFailed: () => boolean): Promise<void> {
	const end = ended.then(() => true);
	for (let round = 0; round < MAX_ROUNDS; round++) {
		const due = clock.elapsed() + STORED_AFTER_MS;
		const timer = clock.sleep(STORED_AFTER_MS).then(() => false);
		if (await Promise.race([end, timer])) return;
		if (hasFailed()) {
			await settledOrTimeout(clock, NOT_STORED_AFTER_MS, ended);
			return;
		}
		if (clock.elapsed() - due <= MAX_TIMER_DELAY_MS) return;
	}
}

async function emitWithRetry(
	trigger: ITriggerFunctions,
	items: INodeExecutionData[],
	key: string,
	beforeEmit: () => void,
	onFailure: () => void,
): Promise<boolean> {
	for (const delay of ATTEMPT_DELAYS_MS) {
		if (delay > 0) await clock.sleep(delay);
		const done = trigger.helpers.createDeferredPromise<IRun>();
		try {
			beforeEmit();
			trigger.emit([items], undefined, done, key);
			await done.promise;
			return true;
		} catch {
			// n8n has logged the reason. The next attempt has the same key.
			onFailure();
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
	beforeEmit: () => void,
): Promise<boolean> {
	const used = storedKeysOf(trigger);
	if (used.includes(key)) return true;
	trigger.getWorkflowStaticData('node').usedKeys = [...used, key].slice(-MAX_RECENT_KEYS);
	beforeEmit();
	trigger.emit([items]);
	await clock.sleep(ENGINE_2_DELAY_MS);
	return true;
}
