import { BoundedMap } from '../boundedMap';
import type { ChatEvent } from './frames';

/** Events to remember, because the service may replay them. */
const MAX_REMEMBERED = 5_000;

/**
 * Whether the service sent an event again. `possible`: it arrived on a new socket, where the service may replay recent
 * events. `certain`: it arrived before this listener was subscribed.
 */
export type Replay = 'no' | 'possible' | 'certain';

export type OnEvent = (event: ChatEvent, replay: Replay) => void;

export interface Log {
	debug(message: string, details?: Record<string, unknown>): void;
	info(message: string, details?: Record<string, unknown>): void;
	warn(message: string, details?: Record<string, unknown>): void;
}

/**
 * Delivers the events of a session, from all its sockets, once to each listener. A listener also gets replayed events that
 * arrived before it was subscribed, because a trigger that is published again missed them. An error in a listener doesn't
 * reach the socket.
 */
export class EventDispatcher {
	/** The number of events so far, replays included. */
	private count = 0;

	/** The number that each of the latest events had when it arrived last, by its ID. */
	private readonly arrivals = new BoundedMap<number>(MAX_REMEMBERED);

	/** With the number of events before each one was subscribed. */
	private readonly listeners = new Map<OnEvent, number>();

	constructor(
		private readonly sessionId: string,
		private readonly log: Log,
	) {}

	/** @returns a function that unsubscribes */
	subscribe(listener: OnEvent): () => void {
		this.listeners.set(listener, this.count);
		return () => this.listeners.delete(listener);
	}

	deliver(event: ChatEvent, mayBeReplay: boolean): void {
		const { eventId } = event;
		const lastArrival = eventId === null ? undefined : this.arrivals.get(eventId);
		this.count += 1;
		if (eventId !== null) this.arrivals.set(eventId, this.count);
		const replay = lastArrival !== undefined ? 'certain' : mayBeReplay ? 'possible' : 'no';
		for (const [listener, before] of [...this.listeners]) {
			const hasGotIt = lastArrival !== undefined && lastArrival > before;
			if (hasGotIt) continue;
			try {
				listener(event, replay);
			} catch (cause) {
				const { sessionId } = this;
				this.log.warn("A chat event couldn't be delivered", { sessionId, eventId, cause });
			}
		}
	}
}
