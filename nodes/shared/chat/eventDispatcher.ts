import { fingerprint } from '../hash';
import { BoundedMap } from '../boundedMap';
import type { ChatEvent, IgnoredFrame } from './frames';

/** Events that a replay may bring again. */
const MAX_REPLAYED = 5_000;

type Listener = (event: ChatEvent) => void;

/** Told of a frame that was too large to be read, and so of something that is lost. */
export type OnTooLarge = (chars: number) => void;

export interface Log {
	debug(message: string, details?: Record<string, unknown>): void;
	info(message: string, details?: Record<string, unknown>): void;
	warn(message: string, details?: Record<string, unknown>): void;
}

/**
 * The events of a session, across its sockets: each goes once to each listener, and what is left out is counted.
 * Nothing thrown by a listener reaches the socket.
 */
export class EventDispatcher {
	readonly counts: Record<string, number> = {};

	/** The latest events, with the listeners that could not take them: a replay is their second chance. */
	private readonly seen = new BoundedMap<Listener[]>(MAX_REPLAYED);

	private readonly listeners = new Set<Listener>();

	private readonly onTooLarge = new Set<OnTooLarge>();

	/** Those that were too large, by what they said: each is told once, as a reconnect brings it again. */
	private readonly tooLarge = new BoundedMap<true>(MAX_REPLAYED);

	constructor(
		private readonly sessionId: string,
		private readonly log: Log,
	) {}

	subscribe(listener: Listener, onTooLarge: OnTooLarge = () => {}): () => void {
		this.listeners.add(listener);
		this.onTooLarge.add(onTooLarge);
		return () => {
			this.listeners.delete(listener);
			this.onTooLarge.delete(onTooLarge);
		};
	}

	/** A frame that cannot be read. */
	ignore(why: IgnoredFrame, frame: unknown): void {
		this.count(why);
		if (why !== 'too_large' || typeof frame !== 'string') return;
		const name = fingerprint(frame);
		if (this.tooLarge.get(name) === true) return;
		this.tooLarge.set(name, true);
		const { sessionId } = this;
		this.log.warn('A frame of a chat session is too large to be read', {
			sessionId,
			chars: frame.length,
		});
		for (const tell of [...this.onTooLarge]) tell(frame.length);
	}

	deliver(event: ChatEvent): void {
		const { eventId } = event;
		const owed = eventId === null ? undefined : this.seen.get(eventId);
		if (owed?.length === 0) {
			this.count('duplicate');
			return;
		}
		const listeners = [...this.listeners].filter((one) => owed?.includes(one) !== false);
		const failed = listeners.filter((listener) => !this.dispatch(event, listener));
		if (eventId !== null) this.seen.set(eventId, failed);
	}

	private dispatch(event: ChatEvent, listener: Listener): boolean {
		try {
			listener(event);
			return true;
		} catch (cause) {
			this.log.warn('A chat event could not be handed on', {
				sessionId: this.sessionId,
				eventId: event.eventId,
				cause,
			});
			return false;
		}
	}

	count(what: string): void {
		this.counts[what] = (this.counts[what] ?? 0) + 1;
		this.log.debug('Frame of the chat session left out', { sessionId: this.sessionId, what });
	}
}
