import { randomUUID } from 'crypto';
import pLimit from 'p-limit';
import {
	ExecutionCancelledError,
	type INodeExecutionData,
	type IRun,
	type ITriggerFunctions,
} from 'n8n-workflow';
import { clock } from '../host/clock';
import { sessionKey } from '../core/chat/parseChatFields';
import { BoundedMap } from '../core/values/boundedMap';
import { fingerprint } from '../core/values/hash';
import { settledOrTimeout } from '../core/values/clock';
import { type ChatEvent, idText } from '../core/chat/frames';

/**
 * Executions that run at the same time, of all triggers in this process. n8n is busy when they begin, and a webhook of
 * another workflow waits for them. Without a limit, a full n8n would take more executions than it can store, and fail for
 * other workflows.
 */
const running = pLimit(10);

/** A longer execution mostly waits, such as for a model, so it doesn't count anymore. Some never end. */
const MAX_COUNTED_MS = 2_000;

export const EVENT_LIMITS = {
	/** Events that wait in memory for their execution. */
	waiting: 10_000,
	/** Events to recognize when the service replays them, so that n8n needn't reject each one. */
	known: 5_000,
};

/** How often to check whether events are still waiting. */
const DRAIN_CHECK_MS = 50;

/** Before each attempt. n8n may temporarily fail to store an execution. The key makes another attempt safe. */
const ATTEMPT_DELAYS_MS = [0, 1_000, 5_000, 30_000, 60_000];

export type SessionEvent = { sessionId: string; event: ChatEvent };

/** Starts one execution per event. n8n stores the event key, so the same event doesn't start a second one. */
export class EventStarter {
	/** Events that n8n hasn't received yet, oldest first. */
	private readonly waiting = new Set<SessionEvent>();

	/** By their keys. */
	private readonly known = new BoundedMap<true>(EVENT_LIMITS.known);

	private readonly keyPrefix: string[];

	/** @param onLost called with an event that n8n rejected on every attempt, or for which there was no room */
	constructor(
		private readonly context: ITriggerFunctions,
		private readonly onLost: (lost: SessionEvent) => void,
	) {
		this.keyPrefix = [context.getWorkflow().id ?? '', context.getNode().id];
	}

	emit(sessionEvent: SessionEvent): void {
		if (this.waiting.size >= EVENT_LIMITS.waiting) {
			this.onLost(sessionEvent);
			return;
		}
		const key = this.keyOf(sessionEvent);
		if (this.known.has(key)) return;
		this.known.set(key, true);
		this.waiting.add(sessionEvent);
		void running(async () => {
			if (!this.waiting.delete(sessionEvent)) return;
			await settledOrTimeout(clock, MAX_COUNTED_MS, this.start(sessionEvent, key));
		});
	}

	/**
	 * Passes the waiting events, and those that arrive in the meantime, to n8n until the timeout.
	 *
	 * @returns the remaining events, which don't start executions anymore
	 */
	async drain(ms: number): Promise<SessionEvent[]> {
		const end = clock.elapsed() + ms;
		while (this.waiting.size > 0 && clock.elapsed() < end) await clock.sleep(DRAIN_CHECK_MS);
		const remaining = [...this.waiting];
		this.waiting.clear();
		return remaining;
	}

	/** Resolves when the execution has ended or waits, or couldn't be started. */
	private async start(sessionEvent: SessionEvent, key: string): Promise<void> {
		const { context } = this;
		const { sessionId, event } = sessionEvent;
		const items = [{ json: { ...event, session_id: sessionId } }];
		if (context.getMode() === 'manual') {
			context.emit([items]);
			return;
		}
		if (await this.hasStarted(items, key)) return;
		// The service may send it again.
		this.known.delete(key);
		this.onLost(sessionEvent);
	}

	/** An event without an ID gets a random one, so that retries of its own start don't start it twice. */
	private keyOf({ sessionId, event }: SessionEvent): string {
		const eventId = idText(event.event_id) ?? randomUUID();
		return fingerprint([...this.keyPrefix, sessionKey(sessionId), eventId]);
	}

	private async hasStarted(items: INodeExecutionData[], key: string): Promise<boolean> {
		for (const delay of ATTEMPT_DELAYS_MS) {
			if (delay > 0) await clock.sleep(delay);
			const done = this.context.helpers.createDeferredPromise<IRun>();
			try {
				this.context.emit([items], undefined, done, key);
				await done.promise;
				return true;
			} catch (error) {
				// It had started. If n8n doesn't save failed executions, its key is gone, and it would start again.
				if (error instanceof ExecutionCancelledError) return true;
				// n8n has logged the reason. The next attempt has the same key.
			}
		}
		return false;
	}
}
