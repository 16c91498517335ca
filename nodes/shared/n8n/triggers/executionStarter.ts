import { randomUUID } from 'crypto';
import pLimit from 'p-limit';
import {
	type INodeExecutionData,
	type IRun,
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
import { clock } from '../http/accountClient';
import { withEventKey } from '../idempotency/eventDeduplication';
import { NO_EXECUTION, type WebhookResponder } from './webhookResponse';

/** Keys used here lately: saves work on repeats, n8n's stored key is what decides. */
const recentKeys = new BoundedMap<true>(20_000);

/** Keys kept with the workflow where the process of the webhook cannot store them with the execution. */
const MAX_RECENT_KEYS = 1_000;

/** n8n may be unable to store an execution for a moment; the key makes a further attempt safe. */
const ATTEMPT_WAITS_MS = [0, 1_000, 5_000, 30_000, 60_000];

/**
 * Hundreds of executions that start at once bring n8n's database to a standstill, and n8n rejects every request until
 * it recovers: so many start, …
 */
const inFlight = pLimit(5);

/** … where one that takes long makes room for the next after this time. */
const MAKE_ROOM_AFTER_MS = 1_000;

/** What waits to be started is kept in memory: so many executions, … */
const MAX_PENDING = 5_000;

/** … and so many bytes of the bodies that they came in. */
const MAX_PENDING_BYTES = 64 * 1024 * 1024;

let pendingBytes = 0;

/** Run as `trigger()`, so that `webhook()` of the same node can emit with a key that n8n stores. */
export function openStarter(
	trigger: ITriggerFunctions,
	close: () => Promise<void> = async () => {},
): ITriggerResponse {
	return registerTrigger(trigger, async () => {
		await close();
		// Begins when everything that waited before it has begun.
		await settledOrTimeout(
			clock,
			CLOSING_MS,
			inFlight(async () => {}),
		);
	});
}

/** By the trigger: the keys that another process has kept with the workflow, as last read. */
const keptElsewhere = new Map<string, readonly string[]>();

/** Starts at most one execution for each key, or one for each delivery where there is no key. */
export class ExecutionStarter {
	private readonly place: string;

	/** Only where there is no trigger: with it n8n keeps the workflow and the request, for as long as a call is verified. */
	private readonly context: IWebhookFunctions | undefined;

	/** @param trigger of this process; without it n8n starts the execution with what `webhook()` returns */
	constructor(
		context: IWebhookFunctions,
		readonly trigger: ITriggerFunctions | undefined,
		/** The editor's test runs every delivery. */
		private readonly isTest: boolean,
		/** Of the body that was delivered. */
		private readonly bytes = 0,
	) {
		this.place = triggerKey(context);
		this.context = trigger === undefined ? context : undefined;
		if (trigger !== undefined) keptElsewhere.set(this.place, keptKeysOf(context));
	}

	/** Whether one request can start several executions, or all of them are one. */
	get takesSeveral(): boolean {
		return this.trigger !== undefined || this.isTest;
	}

	/**
	 * Whether this key has already started an execution, as far as this process can tell: not where n8n itself starts it,
	 * as it may have failed and asked the sender to deliver again. There the execution finds out (`startedOnce.ts`).
	 */
	isUsed(value: string | undefined): boolean {
		if (value === undefined || this.trigger === undefined) return false;
		const key = this.keyOf(value);
		return recentKeys.has(key) || keptElsewhere.get(this.place)?.includes(key) === true;
	}

	/**
	 * Starts the execution and answers the sender: at once where the trigger sees to it that n8n takes it, and else as soon
	 * as n8n has stored it.
	 */
	emit(
		items: INodeExecutionData[],
		value: string | undefined,
		reply: WebhookResponder,
		answer: JsonObject,
	): IWebhookResponseData {
		const key = value === undefined || this.isTest ? undefined : this.keyOf(value);
		if (this.trigger === undefined) {
			if (key !== undefined) this.keep(key);
			const workflowData = [key === undefined ? items : withEventKey(items, key)];
			return reply.leave()
				? { workflowData, webhookResponse: answer }
				: { workflowData, noWebhookResponse: true };
		}
		reply.send(200, answer);
		if (key !== undefined) recentKeys.set(key, true);
		pendingBytes += this.bytes;
		void this.emitInTurn(this.trigger, items, key ?? this.keyOf(randomUUID()));
		return NO_EXECUTION;
	}

	/** Shows the workflow's owner what n8n did not start however often it was asked to. */
	private async emitInTurn(
		trigger: ITriggerFunctions,
		items: INodeExecutionData[],
		key: string,
	): Promise<void> {
		await inFlight(async () => {
			const emitting = emitWithRetry(activeTrigger(this.place) ?? trigger, items, key);
			void emitting.then((isStarted) => {
				if (!isStarted) trigger.saveFailedExecution(notStarted(trigger, items));
			});
			await Promise.race([emitting, clock.sleep(MAKE_ROOM_AFTER_MS)]);
			pendingBytes -= this.bytes;
		});
	}

	/** n8n's index holds the keys of the whole instance. */
	private keyOf(value: string): string {
		return fingerprint([this.place, value]);
	}

	private keep(key: string): void {
		if (this.context === undefined) return;
		const data = this.context.getWorkflowStaticData('node');
		data.usedKeys = [...keptKeysOf(this.context), key].slice(-MAX_RECENT_KEYS);
	}
}

function keptKeysOf(context: IWebhookFunctions): string[] {
	const { usedKeys } = context.getWorkflowStaticData('node');
	return Array.isArray(usedKeys) ? usedKeys.map(String) : [];
}

/**
 * Takes one delivery to its end. What is returned to n8n can start an execution in a process without the trigger;
 * where the trigger itself is still to come, the delivery may outlive its webhook.
 *
 * @param take gets no emitter where n8n cannot start anything now
 * @param bytes of the delivered body that are kept until its execution starts
 */
export async function withStarter(
	context: IWebhookFunctions,
	take: (emitter: ExecutionStarter | undefined) => Promise<IWebhookResponseData>,
	bytes = 0,
): Promise<IWebhookResponseData> {
	if (context.getMode() === 'manual')
		return await take(new ExecutionStarter(context, undefined, true, bytes));
	const isFull = inFlight.pendingCount >= MAX_PENDING || pendingBytes >= MAX_PENDING_BYTES;
	if (isFull) return await take(undefined);
	const { found, isLong } = findTrigger(context);
	pendingBytes += bytes;
	const taking = found.then(async (trigger) => {
		// Once its webhook has returned, n8n starts nothing for it any more.
		if (trigger === 'closed' || (trigger === 'elsewhere' && isLong)) return await take(undefined);
		const here = trigger === 'elsewhere' ? undefined : trigger;
		return await take(new ExecutionStarter(context, here, false, bytes));
	});
	void taking.catch(() => {}).finally(() => (pendingBytes -= bytes));
	if (!isLong) return await taking;
	taking.catch((error: unknown) => {
		context.logger.error(`A delivery started no workflow: ${String(error)}`);
	});
	return NO_EXECUTION;
}

/** Resolves when the execution has ended, or to false when n8n could not start it. */
export async function emitWithRetry(
	trigger: ITriggerFunctions,
	items: INodeExecutionData[],
	key: string,
): Promise<boolean> {
	for (const wait of ATTEMPT_WAITS_MS) {
		if (wait > 0) await clock.sleep(wait);
		const done = trigger.helpers.createDeferredPromise<IRun>();
		try {
			trigger.emit([items], undefined, done, key);
			await done.promise;
			return true;
		} catch {
			// n8n has logged why it could not start; the next attempt has the same key.
		}
	}
	recentKeys.delete(key);
	return false;
}

function notStarted(trigger: ITriggerFunctions, items: INodeExecutionData[]): NodeOperationError {
	const [callId] = items.map(({ json }) => json.call_id);
	const what = typeof callId === 'string' ? `call ${callId}` : 'what was delivered';
	return new NodeOperationError(trigger.getNode(), `n8n could not start the workflow for ${what}`, {
		description: 'n8n’s log says why. The delivery was received and is not repeated by itself.',
	});
}
