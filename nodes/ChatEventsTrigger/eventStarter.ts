import { randomUUID } from 'crypto';
import type { ITriggerFunctions } from 'n8n-workflow';
import { clock } from '../shared/n8n/http/accountClient';
import { emitExecution } from '../shared/n8n/triggers/emission';
import { StartQueue } from '../shared/n8n/triggers/startQueue';
import { sessionKey } from '../shared/chat/parseChatFields';
import { fingerprint } from '../shared/hash';
import { pause } from '../shared/clock';
import type { ChatEvent } from '../shared/chat/frames';

/**
 * Executions to start at the same time. After a restart the service may replay hundreds of events, and as many concurrent
 * executions would block n8n's database.
 */
const MAX_STARTING = 20;

export type SessionEvent = { sessionId: string; event: ChatEvent };

/** Starts one execution per event. n8n stores the event key, so the same event doesn't start a second one. */
export class EventStarter {
	private readonly queue = new StartQueue(MAX_STARTING);

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
		void this.queue.add((onFailure) =>
			this.waiting.delete(sessionEvent) ? this.start(sessionEvent, onFailure) : undefined,
		);
	}

	/**
	 * Passes the waiting events, and those that arrive in the meantime, to n8n until the timeout.
	 *
	 * @returns the remaining events, which don't start executions anymore
	 */
	async drain(ms: number): Promise<SessionEvent[]> {
		const tooLate = new AbortController();
		const late = pause(clock, ms, tooLate.signal);
		while (this.waiting.size > 0) {
			const allStarted = this.queue.allStarted().then(() => false);
			if (await Promise.race([late, allStarted])) break;
		}
		tooLate.abort();
		const remaining = [...this.waiting];
		this.waiting.clear();
		return remaining;
	}

	/** @returns when the execution has ended */
	private async start(sessionEvent: SessionEvent, onFailure: () => void): Promise<boolean> {
		const { sessionId, event } = sessionEvent;
		const items = [{ json: { ...event.envelope, session_id: sessionId } }];
		if (this.context.getMode() === 'manual') {
			this.context.emit([items]);
			return true;
		}
		// An event without an ID gets a random key, so that retries of its own start don't start it twice.
		const key = fingerprint([
			...this.keyPrefix,
			sessionKey(sessionId),
			event.eventId ?? randomUUID(),
		]);
		const isStarted = await emitExecution(this.context, items, key, { onFailure });
		if (!isStarted) this.onRejected(sessionEvent);
		return isStarted;
	}
}
