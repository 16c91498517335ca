import { randomUUID } from 'crypto';
import type { ITriggerFunctions } from 'n8n-workflow';
import pLimit from 'p-limit';
import { clock } from '../shared/n8n/http/accountClient';
import { emitWithRetry } from '../shared/n8n/triggers/executionStarter';
import { sessionKey } from '../shared/chat/parseChatFields';
import { fingerprint } from '../shared/hash';
import { pause } from '../shared/clock';
import type { ChatEvent } from '../shared/chat/frames';

/**
 * After a restart the service may replay hundreds of events at once, and so many executions at the same time would
 * bring n8n's database to a standstill. So only this many are under way, …
 */
const MAX_STARTING = 20;

/** … where one that takes long makes room for the next after this time, … */
const NEXT_AFTER_MS = 5_000;

/** … and sooner while the trigger is being closed: n8n waits for it. */
const NEXT_IN_CLOSING_AFTER_MS = 1_000;

export type SessionEvent = { sessionId: string; event: ChatEvent };

/** Starts one execution for each event: n8n stores the key, so the same event never starts a second one. */
export class EventStarter {
	private readonly limit = pLimit(MAX_STARTING);

	/** Not yet given to n8n, oldest first. */
	private readonly waiting = new Set<SessionEvent>();

	private readonly closing = new AbortController();

	private readonly place: string[];

	/** Called with an event that n8n did not take however often it was offered. */
	constructor(
		private readonly context: ITriggerFunctions,
		private readonly onRejected: (rejected: SessionEvent) => void,
	) {
		this.place = [context.getWorkflow().id ?? '', context.getNode().id];
	}

	emit(sessionEvent: SessionEvent): void {
		this.waiting.add(sessionEvent);
		void this.limit(async () => {
			if (this.waiting.delete(sessionEvent)) await this.start(sessionEvent);
		});
	}

	/**
	 * Gives n8n what waits, and what comes meanwhile, for as long as that takes within the time.
	 *
	 * @returns the events that n8n was not given; they start nothing any more
	 */
	async drain(ms: number): Promise<SessionEvent[]> {
		this.closing.abort();
		const tooLate = new AbortController();
		const late = pause(clock, ms, tooLate.signal);
		while (this.waiting.size > 0) {
			// Begins when everything that waited before it has begun.
			const turn = this.limit(() => false);
			if (await Promise.race([late, turn])) break;
		}
		tooLate.abort();
		const rest = [...this.waiting];
		this.waiting.clear();
		return rest;
	}

	private async start(sessionEvent: SessionEvent): Promise<void> {
		const { sessionId, event } = sessionEvent;
		const items = [{ json: { ...event.envelope, session_id: sessionId } }];
		if (this.context.getMode() === 'manual') {
			this.context.emit([items]);
			return;
		}
		// Without an ID each arrival counts as an event of its own; a key is still needed to offer it again safely.
		const key = fingerprint([...this.place, sessionKey(sessionId), event.eventId ?? randomUUID()]);
		const done = new AbortController();
		void emitWithRetry(this.context, items, key)
			.then((isTaken) => {
				if (!isTaken) this.onRejected(sessionEvent);
			})
			.finally(() => done.abort());
		await this.untilRoom(done.signal);
	}

	private async untilRoom(done: AbortSignal): Promise<void> {
		const either = AbortSignal.any([done, this.closing.signal]);
		if (!this.closing.signal.aborted && (await pause(clock, NEXT_AFTER_MS, either))) return;
		await pause(clock, NEXT_IN_CLOSING_AFTER_MS, done);
	}
}
