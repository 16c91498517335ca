import { randomUUID } from 'crypto';
import pLimit from 'p-limit';
import type { INodeExecutionData, IRun, ITriggerFunctions } from 'n8n-workflow';
import { clock } from '../shared/n8n/http/accountClient';
import { sessionKey } from '../shared/chat/parseChatFields';
import { fingerprint } from '../shared/hash';
import { settledOrTimeout } from '../shared/clock';
import type { ChatEvent } from '../shared/chat/frames';

/**
 * Executions to start at the same time. After a restart the service may replay hundreds of events, and as many concurrent
 * executions would block n8n's database.
 */
const MAX_STARTING = 20;

/** n8n says when an execution ends, but not when it's stored. It usually stores one within this time. */
const STORED_AFTER_MS = 250;

/** How often to check whether events are still waiting. */
const DRAIN_CHECK_MS = 50;

/** Before each attempt. n8n may temporarily fail to store an execution. The key makes another attempt safe. */
const ATTEMPT_DELAYS_MS = [0, 1_000, 5_000, 30_000, 60_000];

export type SessionEvent = { sessionId: string; event: ChatEvent };

/** Starts one execution per event. n8n stores the event key, so the same event doesn't start a second one. */
export class EventStarter {
	private readonly limit = pLimit(MAX_STARTING);

	/** Events that n8n hasn't received yet, oldest first. */
	private readonly waiting = new Set<SessionEvent>();

	private readonly keyPrefix: string[];

	/** @param onRejected called with an event that n8n rejected on every attempt */
	constructor(
		private readonly context: ITriggerFunctions,
		private readonly onRejected: (rejected: SessionEvent) => void,
	) {
		this.keyPrefix = [context.getWorkflow().id ?? '', context.getNode().id];
	}

	emit(sessionEvent: SessionEvent): void {
		this.waiting.add(sessionEvent);
		void this.limit(async () => {
			if (!this.waiting.delete(sessionEvent)) return;
			await settledOrTimeout(clock, STORED_AFTER_MS, this.start(sessionEvent));
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

	/** Resolves when the execution has ended, or couldn't be started. */
	private async start(sessionEvent: SessionEvent): Promise<void> {
		const { context, keyPrefix } = this;
		const { sessionId, event } = sessionEvent;
		const items = [{ json: { ...event.envelope, session_id: sessionId } }];
		if (context.getMode() === 'manual') {
			context.emit([items]);
			return;
		}
		// An event without an ID gets a random key, so that retries of its own start don't start it twice.
		const key = fingerprint([...keyPrefix, sessionKey(sessionId), event.eventId ?? randomUUID()]);
		if (!(await this.hasStarted(items, key))) this.onRejected(sessionEvent);
	}

	private async hasStarted(items: INodeExecutionData[], key: string): Promise<boolean> {
		for (const delay of ATTEMPT_DELAYS_MS) {
			if (delay > 0) await clock.sleep(delay);
			const done = this.context.helpers.createDeferredPromise<IRun>();
			try {
				this.context.emit([items], undefined, done, key);
				await done.promise;
				return true;
			} catch {
				// n8n has logged the reason. The next attempt has the same key.
			}
		}
		return false;
	}
}
