import type { ITriggerFunctions } from 'n8n-workflow';
import pLimit from 'p-limit';
import { clock } from '../shared/n8n/connect';
import { emitSurely } from '../shared/n8n/onceEmitter';
import { fingerprint } from '../shared/service/chat/chatInput';
import { pause } from '../shared/service/chatSocket/pause';
import type { ChatEvent } from '../shared/service/chatSocket/types';

/**
 * After a restart the service may replay hundreds of events at once, and so many executions at the same time would
 * bring n8n's database to a standstill. So only this many are under way, …
 */
const MOST_UNDER_WAY = 20;

/** … where one that takes long makes room for the next after this time. */
const MAKE_ROOM_AFTER_MS = 5_000;

/** Starts one execution for each event: n8n stores the key, so the same event never starts a second one. */
export class EventEmitter {
	private readonly limit = pLimit(MOST_UNDER_WAY);

	private readonly place: string[];

	constructor(
		private readonly context: ITriggerFunctions,
		/** Aborted when the trigger is deactivated: what still waits then is replayed by the service. */
		private readonly signal: AbortSignal,
	) {
		this.place = [context.getWorkflow().id ?? '', context.getNode().id];
	}

	emit(sessionId: string, { envelope, eventId }: ChatEvent): void {
		const items = [{ json: { ...envelope, session_id: sessionId } }];
		const isTrial = this.context.getMode() === 'manual';
		const key = eventId === null || isTrial ? null : fingerprint(...this.place, sessionId, eventId);
		void this.limit(async () => {
			if (this.signal.aborted) return;
			if (key === null) {
				this.context.emit([items]);
				return;
			}
			const done = new AbortController();
			void emitSurely(this.context, items, key).finally(() => done.abort());
			await pause(clock, MAKE_ROOM_AFTER_MS, AbortSignal.any([done.signal, this.signal]));
		});
	}
}
