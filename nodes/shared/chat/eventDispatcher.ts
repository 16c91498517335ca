import { fingerprint } from '../hash';
import { MAX_DEPTH } from '../json';
import { BoundedMap } from '../boundedMap';
import type { ChatEvent, IgnoredFrame } from './frames';

/** Events to remember, because the service may replay them. */
const MAX_REMEMBERED = 5_000;

/**
 * Whether the service sent an event again. `possible`: it arrived on a new socket, where the service may replay recent
 * events. `certain`: it arrived before this listener was subscribed.
 */
export type Replay = 'no' | 'possible' | 'certain';

export type OnEvent = (event: ChatEvent, replay: Replay) => void;

/** Called with the length of a frame that was too large to read. Its content is lost. */
export type OnTooLarge = (chars: number) => void;

/** Why this process no longer uses a connection: the execution was stopped, or the tool reached its time limit. */
export type StopReason = 'stopped' | 'time_limit';

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
 * Delivers the events of a session, from all its sockets, once to each listener. A listener also gets replayed events that
 * arrived before it was subscribed, because a trigger that is published again missed them. An error in a listener doesn't
 * reach the socket.
 */
export class EventDispatcher {
	/** How often something was delivered. */
	private deliveries = 0;

	/** The latest events, and frames that were too large, each with its latest delivery. */
	private readonly delivered = new BoundedMap<number>(MAX_REMEMBERED);

	/** `since`: the deliveries before it was subscribed. */
	private readonly listeners = new Map<OnEvent, { since: number; onTooLarge: OnTooLarge }>();

	private readonly reported = new Set<IgnoredFrame>();

	constructor(
		private readonly sessionId: string,
		private readonly log: Log,
	) {}

	subscribe(listener: OnEvent, onTooLarge: OnTooLarge = () => {}): () => void {
		this.listeners.set(listener, { since: this.deliveries, onTooLarge });
		return () => this.listeners.delete(listener);
	}

	deliver(event: ChatEvent, mayBeReplay: boolean): void {
		const { eventId } = event;
		const { earlier, missed } = this.recipients(eventId);
		const replay = earlier ? 'certain' : mayBeReplay ? 'possible' : 'no';
		for (const [listener] of missed) {
			try {
				listener(event, replay);
			} catch (cause) {
				const { sessionId } = this;
				this.log.warn("A chat event couldn't be delivered", { sessionId, eventId, cause });
			}
		}
	}

	/** Reports a frame that can't be read. */
	ignore(why: IgnoredFrame | 'unexpected_ack', frame: unknown): void {
		const { sessionId } = this;
		this.log.debug('Ignored a frame of the chat session', { sessionId, why });
		if (why === 'unexpected_ack') return;
		const reason = LOST_CONTENT[why];
		if (reason !== undefined && !this.reported.has(why)) {
			this.reported.add(why);
			const message = `A frame of a chat session can't be read, because ${reason}. ${AFTER_LOSS}`;
			this.log.warn(message, { sessionId });
		}
		if (why !== 'too_large' || typeof frame !== 'string') return;
		// By content, because a replayed frame is reported only once.
		const { earlier, missed } = this.recipients(fingerprint(frame));
		const chars = frame.length;
		if (!earlier)
			this.log.warn('A frame of a chat session is too large to read', { sessionId, chars });
		for (const [, { onTooLarge }] of missed) onTooLarge(chars);
	}

	/** The listeners that haven't got it, and whether it was delivered earlier. */
	private recipients(id: string | null) {
		const earlier = id === null ? undefined : this.delivered.get(id);
		this.deliveries += 1;
		if (id !== null) this.delivered.set(id, this.deliveries);
		const all = [...this.listeners];
		const missed = earlier === undefined ? all : all.filter(([, { since }]) => since >= earlier);
		return { earlier: earlier !== undefined, missed };
	}
}
