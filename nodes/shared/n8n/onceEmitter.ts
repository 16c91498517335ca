import { createHash } from 'crypto';
import {
	sleep,
	type INodeExecutionData,
	type IRun,
	type ITriggerFunctions,
	type ITriggerResponse,
	type IWebhookFunctions,
	type IWebhookResponseData,
	type NodeOperationError,
	type NodeApiError,
} from 'n8n-workflow';
import { NO_EXECUTION } from './webhookAnswer';

/** The triggers that run in this process, by workflow and node. */
const triggers = new Map<string, ITriggerFunctions>();

/** Keys used here lately: saves work on repeats, n8n's stored key is what decides. */
const recentKeys = new Set<string>();
const MOST_RECENT_KEYS = 20_000;

/** Keys kept with the workflow where the process of the webhook cannot store them with the execution. */
const MOST_KEPT_KEYS = 1_000;

/** n8n may be unable to store an execution for a moment; the key makes a second attempt safe. */
const ATTEMPT_WAITS_MS = [0, 1_000, 5_000, 30_000];

/** Run as `trigger()`, so that `webhook()` of the same node can emit with a key that n8n stores. */
export function openEmitter(trigger: ITriggerFunctions): ITriggerResponse {
	const place = placeOf(trigger);
	triggers.set(place, trigger);
	return {
		closeFunction: async () => {
			if (triggers.get(place) === trigger) triggers.delete(place);
		},
	};
}

/** Starts at most one execution for each key, or one for each delivery where there is no key. */
export class OnceEmitter {
	private readonly trigger: ITriggerFunctions | undefined;
	private readonly place: string;
	/** The editor's test runs every delivery. */
	private readonly isTest: boolean;

	constructor(private readonly context: IWebhookFunctions) {
		this.place = placeOf(context);
		this.trigger = triggers.get(this.place);
		this.isTest = context.getMode() === 'manual';
	}

	/** Whether this key has already started an execution, as far as this process can tell. */
	isUsed(value: string | undefined): boolean {
		if (value === undefined || this.isTest) return false;
		const key = this.keyOf(value);
		return recentKeys.has(key) || (this.trigger === undefined && this.keptKeys().includes(key));
	}

	emit(items: INodeExecutionData[], value: string | undefined): IWebhookResponseData {
		const key = value === undefined || this.isTest ? undefined : this.keyOf(value);
		if (key !== undefined) remember(key);
		if (this.trigger === undefined || this.isTest) {
			if (key !== undefined) this.keep(key);
			return { noWebhookResponse: true, workflowData: [items] };
		}
		if (key === undefined) this.trigger.emit([items]);
		else void emitSurely(this.trigger, items, key);
		return NO_EXECUTION;
	}

	/** Shows the workflow's owner what could not become an execution. */
	report(error: NodeOperationError | NodeApiError): void {
		if (this.trigger === undefined) this.context.logger.error(error.message);
		else this.trigger.saveFailedExecution(error);
	}

	/** n8n's index holds the keys of the whole instance. */
	private keyOf(value: string): string {
		return createHash('sha256').update(`${this.place}\n${value}`).digest('hex');
	}

	private keptKeys(): string[] {
		const { usedKeys } = this.context.getWorkflowStaticData('node');
		return Array.isArray(usedKeys) ? usedKeys.map(String) : [];
	}

	private keep(key: string): void {
		const data = this.context.getWorkflowStaticData('node');
		data.usedKeys = [...this.keptKeys(), key].slice(-MOST_KEPT_KEYS);
	}
}

function placeOf(context: ITriggerFunctions | IWebhookFunctions): string {
	return `${context.getWorkflow().id ?? ''}/${context.getNode().id}`;
}

function remember(key: string): void {
	recentKeys.add(key);
	if (recentKeys.size <= MOST_RECENT_KEYS) return;
	const [oldest] = recentKeys;
	if (oldest !== undefined) recentKeys.delete(oldest);
}

/** Resolves when the execution has ended, or to false when n8n could not start it. */
export async function emitSurely(
	trigger: ITriggerFunctions,
	items: INodeExecutionData[],
	key: string,
): Promise<boolean> {
	for (const wait of ATTEMPT_WAITS_MS) {
		if (wait > 0) await sleep(wait);
		const done = trigger.helpers.createDeferredPromise<IRun>();
		trigger.emit([items], undefined, done, key);
		try {
			await done.promise;
			return true;
		} catch {
			// n8n has logged why it could not start; the next attempt has the same key.
		}
	}
	recentKeys.delete(key);
	return false;
}
