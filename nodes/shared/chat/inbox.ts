import { fingerprint } from '../hash';
import { type Ack, type ChatEvent, type IgnoredFrame, parseFrame } from './frames';

type Listener = (event: ChatEvent) => void;

/** Told of a frame that was too large to be read, and so of something that is lost. */
export type OnTooLarge = (chars: number) => void;

export interface Log {
	debug(message: string, details?: Record<string, unknown>): void;
	info(message: string, details?: Record<string, unknown>): void;
	warn(message: string, details?: Record<string, unknown>): void;
}

/**
 * Takes what arrives on a session's sockets, across reconnects: acks to the frame that waits, each event once to each
 * listener, the rest counted. Nothing thrown here or by a listener reaches the socket.
 */
export class Inbox {
	readonly counts: Record<string, number> = {};

	/** The latest events, with the listeners that could not take them: a replay is their second chance. */
	private readonly seen = new RecentIds<Listener[]>();

	private readonly listeners = new Set<Listener>();

	private readonly onTooLarge = new Set<OnTooLarge>();

	/** Those that were too large, by what they said: each is told once, as a reconnect brings it again. */
	private readonly tooLarge = new RecentIds<true>();

	private isShut = false;

	constructor(
		private readonly sessionId: string,
		private readonly log: Log,
		/** Says whether a frame was waiting for the ack. */
		private readonly onAck: (ack: Ack) => boolean,
	) {}

	subscribe(listener: Listener, onTooLarge: OnTooLarge = () => {}): () => void {
		this.listeners.add(listener);
		this.onTooLarge.add(onTooLarge);
		return () => {
			this.listeners.delete(listener);
			this.onTooLarge.delete(onTooLarge);
		};
	}

	/** Whatever still arrives is dropped. */
	shut(): void {
		this.isShut = true;
	}

	receive(frame: unknown): void {
		if (this.isShut) return;
		const received = parseFrame(frame);
		if (received.kind === 'event') this.deliver(received.event);
		else if (received.kind === 'ignored') this.leaveOut(received.why, frame);
		else if (!this.onAck(received.ack)) this.count('unexpected_ack');
	}

	private leaveOut(why: IgnoredFrame, frame: unknown): void {
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

	private deliver(event: ChatEvent): void {
		const { eventId } = event;
		const owed = eventId === null ? undefined : this.seen.get(eventId);
		if (owed?.length === 0) {
			this.count('duplicate');
			return;
		}
		const listeners = [...this.listeners].filter((one) => owed?.includes(one) !== false);
		const failed = listeners.filter((listener) => !this.handOn(event, listener));
		if (eventId !== null) this.seen.set(eventId, failed);
	}

	private handOn(event: ChatEvent, listener: Listener): boolean {
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

	private count(what: string): void {
		this.counts[what] = (this.counts[what] ?? 0) + 1;
		this.log.debug('Frame of the chat session left out', { sessionId: this.sessionId, what });
	}
}

/** Remembers something for each of the latest ids, so that replayed events are told from new ones without growing for ever. */
export class RecentIds<T> {
	private readonly values = new Map<string, T>();

	constructor(private readonly limit = 5_000) {}

	get(id: string): T | undefined {
		return this.values.get(id);
	}

	set(id: string, value: T): void {
		this.values.delete(id);
		this.values.set(id, value);
		if (this.values.size <= this.limit) return;
		const oldest = this.values.keys().next();
		if (!oldest.done) this.values.delete(oldest.value);
	}
}
