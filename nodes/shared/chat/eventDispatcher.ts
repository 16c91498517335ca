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
	/** If the session is closed, the connection stays open until the returned function is called. */
	keepOpen(): () => void;
	/** Aborted if no more events will arrive. */
	readonly signal: AbortSignal;
	/** Null if the connection ended for another reason, or hasn't ended. */
	readonly stopReason: StopReason | null;
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

	/** The latest events with the listeners that failed. A replay is delivered to those listeners again. */
	private readonly seen = new BoundedMap<OnEvent[]>(MAX_REMEMBERED);

	private readonly listeners = new Set<OnEvent>();

	private readonly tooLargeListeners = new Set<OnTooLarge>();

	/** By content, because a replayed frame is reported only once. */
	private readonly tooLargeFrames = new BoundedMap<true>(MAX_REMEMBERED);

	constructor(
		private readonly sessionId: string,
		private readonly log: Log,
	) {}

	subscribe(listener: OnEvent, onTooLarge: OnTooLarge = () => {}): () => void {
		this.listeners.add(listener);
		this.tooLargeListeners.add(onTooLarge);
		return () => {
			this.listeners.delete(listener);
			this.tooLargeListeners.delete(onTooLarge);
		};
	}

	/** Counts a frame that can't be read. */
	ignore(why: IgnoredFrame, frame: unknown): void {
		this.count(why);
		const reason = LOST_CONTENT[why];
		if (reason !== undefined && this.counts[why] === 1) {
			const message = `A frame of a chat session can't be read, because ${reason}. ${AFTER_LOSS}`;
			this.log.warn(message, { sessionId: this.sessionId });
		}
		if (why !== 'too_large' || typeof frame !== 'string') return;
		const hash = fingerprint(frame);
		if (this.tooLargeFrames.get(hash) === true) return;
		this.tooLargeFrames.set(hash, true);
		const { sessionId } = this;
		this.log.warn('A frame of a chat session is too large to read', {
			sessionId,
			chars: frame.length,
		});
		for (const listener of [...this.tooLargeListeners]) listener(frame.length);
	}

	deliver(event: ChatEvent, mayBeReplay = false): void {
		const { eventId } = event;
		const pending = eventId === null ? undefined : this.seen.get(eventId);
		if (pending?.length === 0) {
			this.count('duplicate');
			return;
		}
		const listeners = [...this.listeners].filter((one) => pending?.includes(one) !== false);
		const failed = listeners.filter((listener) => !this.dispatch(event, mayBeReplay, listener));
		if (eventId !== null) this.seen.set(eventId, failed);
	}

	/** @returns whether the listener succeeded */
	private dispatch(event: ChatEvent, mayBeReplay: boolean, listener: OnEvent): boolean {
		try {
			listener(event, mayBeReplay);
			return true;
		} catch (cause) {
			this.log.warn("A chat event couldn't be delivered", {
				sessionId: this.sessionId,
				eventId: event.eventId,
				cause,
			});
			return false;
		}
	}

	count(kind: string): void {
		this.counts[kind] = (this.counts[kind] ?? 0) + 1;
		this.log.debug('Ignored a frame of the chat session', { sessionId: this.sessionId, kind });
	}
}
