import { fingerprint } from '../hash';
import { MAX_DEPTH } from '../json';
import { BoundedMap } from '../boundedMap';
import type { ChatEvent, IgnoredFrame } from './frames';

/** Events to remember, because the service may replay them. */
const MAX_REMEMBERED = 5_000;

/** @param mayBeReplay whether the event arrived on a new socket, where the service may replay recent events */
export type OnEvent = (event: ChatEvent, mayBeReplay: boolean) => void;

/** Called with the length of a frame that was too large to read. Its content is lost. */
export type OnTooLarge = (chars: number) => void;

/** Why this process no longer uses a connection: the execution was stopped, or the tool reached its time limit. */
export type StopReason = 'stopped' | 'time_limit';

/** A source of events, such as `ChatLease` or `ChatConnection`. */
export interface EventLink {
	subscribe(listener: OnEvent, onTooLarge?: OnTooLarge): () => void;
	/** Aborted if no more events will arrive, with a `StopReason` if this process doesn't need them anymore. */
	readonly signal: AbortSignal;
}

export interface Log {
	debug(message: string, details?: Record<string, unknown>): void;
	info(message: string, details?: Record<string, unknown>): void;
	warn(message: string, details?: Record<string, unknown>): void;
}

/** Frames that no chat traffic needs. What they said is lost, so they're reported once per connection. */
const LOST_CONTENT: { [why in IgnoredFrame]?: string } = {
	binary: "it's binary",
	too_deep: `it's nested more than ${MAX_DEPTH} levels deep`,
};

const AFTER_LOSS =
	'Check the conversation in the service, and report this to your service provider. More of them are logged at the debug level only.';

/**
 * Delivers the events of a session, from all its sockets, once to each listener. Counts frames and events that it ignores.
 * An error in a listener doesn't reach the socket.
 */
export class EventDispatcher {
	readonly counts: Record<string, number> = {};

	/** The latest events, and frames that were too large, because the service may replay them. */
	private readonly seen = new BoundedMap<true>(MAX_REMEMBERED);

	private readonly listeners = new Map<OnEvent, OnTooLarge>();

	constructor(
		private readonly sessionId: string,
		private readonly log: Log,
	) {}

	subscribe(listener: OnEvent, onTooLarge: OnTooLarge = () => {}): () => void {
		this.listeners.set(listener, onTooLarge);
		return () => this.listeners.delete(listener);
	}

	deliver(event: ChatEvent, mayBeReplay: boolean): void {
		const { eventId } = event;
		if (eventId !== null && !this.isNew(eventId)) {
			this.count('duplicate');
			return;
		}
		for (const listener of [...this.listeners.keys()]) {
			try {
				listener(event, mayBeReplay);
			} catch (cause) {
				const { sessionId } = this;
				this.log.warn("A chat event couldn't be delivered", { sessionId, eventId, cause });
			}
		}
	}

	/** Counts a frame that can't be read. */
	ignore(why: IgnoredFrame, frame: unknown): void {
		const { sessionId } = this;
		this.count(why);
		const reason = LOST_CONTENT[why];
		if (reason !== undefined && this.counts[why] === 1) {
			const message = `A frame of a chat session can't be read, because ${reason}. ${AFTER_LOSS}`;
			this.log.warn(message, { sessionId });
		}
		// By content, because a replayed frame is reported only once.
		if (why !== 'too_large' || typeof frame !== 'string' || !this.isNew(fingerprint(frame))) return;
		const chars = frame.length;
		this.log.warn('A frame of a chat session is too large to read', { sessionId, chars });
		for (const onTooLarge of [...this.listeners.values()]) onTooLarge(chars);
	}

	count(kind: string): void {
		this.counts[kind] = (this.counts[kind] ?? 0) + 1;
		this.log.debug('Ignored a frame of the chat session', { sessionId: this.sessionId, kind });
	}

	private isNew(id: string): boolean {
		if (this.seen.has(id)) return false;
		this.seen.set(id, true);
		return true;
	}
}
