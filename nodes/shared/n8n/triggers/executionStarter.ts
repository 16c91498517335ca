import { randomUUID } from 'crypto';
import {
	type INodeExecutionData,
	type ITriggerFunctions,
	type ITriggerResponse,
	type IWebhookFunctions,
	type IWebhookResponseData,
	NodeOperationError,
} from 'n8n-workflow';
import { settledOrTimeout } from '../../clock';
import { fingerprint } from '../../hash';
import type { JsonObject } from '../../json';
import { BoundedMap } from '../../boundedMap';
import {
	activeTrigger,
	CLOSING_MS,
	findTrigger,
	registerTrigger,
	triggerKey,
} from './activeTriggers';
import { emitExecution } from './emission';
import { clock } from '../http/accountClient';
import { storedKeysOf, storeKey, withEventKey } from '../idempotency/eventDeduplication';
import { startsOnEngine2 } from '../run/engine2';
import { StartQueue } from './startQueue';
import { NO_EXECUTION, type WebhookResponder } from './webhookResponse';

/**
 * Recently used keys of this process. An execution with a pending key waits or hasn't ended. Only saves work: n8n's stored
 * key decides.
 */
const recentKeys = new BoundedMap<'pending' | 'ended'>(20_000);

/** By trigger, so that a workflow that n8n can't start doesn't keep others waiting. */
const queues = new Map<string, StartQueue>();

/** Executions of a trigger that start at the same time. */
const MAX_STARTING = 5;

/** Executions of a trigger that wait in memory to be started. */
const MAX_WAITING = 5_000;

/** Total size of the bodies of all executions that wait. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

let waitingBytes = 0;

/** Call this in `trigger()`, so that `webhook()` of the same node can start executions with a key that n8n stores. */
export function openStarter(
	trigger: ITriggerFunctions,
	close: () => Promise<void> = async () => {},
): ITriggerResponse {
	return registerTrigger(trigger, async () => {
		await close();
		await settledOrTimeout(clock, CLOSING_MS, queueOf(triggerKey(trigger)).allStarted());
	});
}

/** By trigger: the keys that another process has stored with the workflow, when they were last read. */
const storedKeysByTrigger = new Map<string, readonly string[]>();

/** What to do before and after n8n gets an execution. */
export type StartListener = {
	/** Called before each attempt. n8n stores the trigger's static data with it. */
	beforeEmit: () => void;
	/** @param isStarted whether n8n could start the execution */
	onEnd: (isStarted: boolean) => void;
};

/** Starts executions with an active trigger, at most one per key. */
export class TriggerStarter {
	private readonly triggerKey: string;

	constructor(private readonly trigger: ITriggerFunctions) {
		this.triggerKey = triggerKey(trigger);
	}

	/** Whether this key has started an execution, as far as this process knows. */
	isUsed(value: string): boolean {
		const key = keyOf(this.triggerKey, value);
		return recentKeys.has(key) || storedKeysByTrigger.get(this.triggerKey)?.includes(key) === true;
	}

	/** Whether an execution with this key waits or hasn't ended. n8n may still be unable to start it. */
	isPending(value: string): boolean {
		return recentKeys.get(keyOf(this.triggerKey, value)) === 'pending';
	}

	/**
	 * Starts an execution, after those that wait already.
	 *
	 * @param value undefined to start an execution in any case
	 * @param bytes of the items, which stay in memory until the execution starts
	 * @returns when the next execution may start
	 */
	async start(
		items: INodeExecutionData[],
		value: string | undefined,
		{ beforeEmit, onEnd }: StartListener,
		bytes = 0,
	): Promise<void> {
		const key = keyOf(this.triggerKey, value ?? randomUUID());
		if (value !== undefined) recentKeys.set(key, 'pending');
		waitingBytes += bytes;
		await queueOf(this.triggerKey).add((onFailure) => {
			const trigger = activeTrigger(this.triggerKey) ?? this.trigger;
			const ended = emitExecution(trigger, items, key, { beforeEmit, onFailure });
			void ended.then((isStarted) => {
				if (!isStarted) recentKeys.delete(key);
				else if (value !== undefined) recentKeys.set(key, 'ended');
				onEnd(isStarted);
			});
			return ended;
		});
		waitingBytes -= bytes;
	}
}

/** Starts the execution of a delivery: at most one per key, or one per delivery without a key. */
export class ExecutionStarter {
	private readonly triggerKey: string;

	/** Only without a trigger, because n8n keeps the workflow and the request in memory with it. */
	private readonly context: IWebhookFunctions | undefined;

	private readonly starter: TriggerStarter | undefined;

	/** @param trigger if it's active in this process. Otherwise, n8n starts the execution with the output of `webhook()`. */
	constructor(
		context: IWebhookFunctions,
		readonly trigger: ITriggerFunctions | undefined,
		/** In the editor's test, every delivery runs. */
		readonly isTest: boolean,
		/** Size of the delivered body. */
		private readonly bytes = 0,
	) {
		this.triggerKey = triggerKey(context);
		this.context = trigger === undefined ? context : undefined;
		this.starter = trigger === undefined ? undefined : new TriggerStarter(trigger);
		if (trigger !== undefined) storedKeysByTrigger.set(this.triggerKey, storedKeysOf(context));
	}

	/** Whether one request may have several events. */
	get acceptsMultiple(): boolean {
		return this.trigger !== undefined || this.isTest;
	}

	/** Whether n8n starts the execution, because the trigger is active in another process. */
	get isElsewhere(): boolean {
		return this.trigger === undefined && !this.isTest;
	}

	/**
	 * Whether this key has started an execution, as far as this process knows. Always false if n8n starts the execution,
	 * because n8n may have failed and asked the sender to deliver again. The execution then checks (`eventDeduplication.ts`).
	 */
	isUsed(value: string | undefined): boolean {
		return value !== undefined && this.starter?.isUsed(value) === true;
	}

	/**
	 * Starts the execution and responds to the sender: immediately if the trigger starts it, because the trigger makes
	 * several attempts. Otherwise, n8n responds when it has stored the execution.
	 *
	 * @param listener if the trigger starts it
	 */
	emit(
		items: INodeExecutionData[],
		value: string | undefined,
		responder: WebhookResponder,
		body: JsonObject,
		listener?: StartListener,
	): IWebhookResponseData {
		const { trigger, starter } = this;
		const key = value === undefined || this.isTest ? undefined : keyOf(this.triggerKey, value);
		if (trigger === undefined || starter === undefined) {
			if (key !== undefined && this.context !== undefined) storeKey(this.context, key);
			const workflowData = [key === undefined ? items : withEventKey(items, key)];
			return responder.leaveToN8n()
				? { workflowData, webhookResponse: body }
				: { workflowData, noWebhookResponse: true };
		}
		responder.send(200, body);
		// Notifies the workflow's owner if n8n didn't start the execution after all attempts.
		const onEnd = (isStarted: boolean) => {
			if (!isStarted) trigger.saveFailedExecution(notStarted(trigger, items));
			listener?.onEnd(isStarted);
		};
		const beforeEmit = () => listener?.beforeEmit();
		const isChecked = key !== undefined && !startsOnEngine2(trigger);
		const output = isChecked ? withEventKey(items, key) : items;
		void starter.start(output, value, { beforeEmit, onEnd }, this.bytes);
		return NO_EXECUTION;
	}
}

function queueOf(key: string): StartQueue {
	const queue = queues.get(key) ?? new StartQueue(MAX_STARTING);
	queues.set(key, queue);
	return queue;
}

/** n8n's index has the keys of the whole instance, so the trigger is part of the key. */
function keyOf(trigger: string, value: string): string {
	return fingerprint([trigger, value]);
}

/**
 * Handles one delivery. In a process without the trigger, its return value starts the execution. If the trigger isn't
 * active yet, the delivery may outlive its webhook.
 *
 * @param handle gets no starter if n8n can't start anything now
 * @param bytes size of the body, which stays in memory until the execution starts
 */
export async function withStarter(
	context: IWebhookFunctions,
	handle: (starter: ExecutionStarter | undefined) => Promise<IWebhookResponseData>,
	bytes = 0,
): Promise<IWebhookResponseData> {
	if (context.getMode() === 'manual')
		return await handle(new ExecutionStarter(context, undefined, true, bytes));
	const { waiting } = queueOf(triggerKey(context));
	const isFull = waiting >= MAX_WAITING || waitingBytes >= MAX_WAITING_BYTES;
	if (isFull) return await handle(undefined);
	const { found, outlivesWebhook } = findTrigger(context);
	waitingBytes += bytes;
	const handling = found.then(async (trigger) => {
		// n8n starts nothing for a webhook that has returned.
		if (trigger === 'closed' || (trigger === 'elsewhere' && outlivesWebhook))
			return await handle(undefined);
		const here = trigger === 'elsewhere' ? undefined : trigger;
		return await handle(new ExecutionStarter(context, here, false, bytes));
	});
	void handling.catch(() => {}).finally(() => (waitingBytes -= bytes));
	if (!outlivesWebhook) return await handling;
	handling.catch((error: unknown) => {
		context.logger.error(`A delivery started no workflow: ${String(error)}`);
	});
	return NO_EXECUTION;
}

function notStarted(trigger: ITriggerFunctions, items: INodeExecutionData[]): NodeOperationError {
	const [callId] = items.map(({ json }) => json.call_id);
	const event = typeof callId === 'string' ? `call ${callId}` : 'an event';
	return new NodeOperationError(trigger.getNode(), `n8n couldn't start the workflow for ${event}`, {
		description:
			"The reason is in n8n's log. The sender got a success response, so the event may not be sent again.",
	});
}
