import { parseFrame } from './frames';
import { RecentIds } from './recentIds';
import type { Ack, ChatEvent, Log } from './types';

/**
 * Takes what arrives on a session's sockets, across reconnects: acks to the frame that waits, each event once to the
 * listeners, the rest counted. Nothing thrown here or by a listener reaches the socket.
 */
export class Inbox {
	readonly counts: Record<string, number> = {};

	private readonly seen = new RecentIds();

	private readonly listeners = new Set<(event: ChatEvent) => void>();

	private isShut = false;

	constructor(
		private readonly sessionId: string,
		private readonly log: Log,
		/** Says whether a frame was waiting for the ack. */
		private readonly onAck: (ack: Ack) => boolean,
	) {}

	subscribe(listener: (event: ChatEvent) => void): () => void {
		this.listeners.add(listener);
		return () => this.listeners.delete(listener);
	}

	/** Whatever still arrives is dropped. */
	shut(): void {
		this.isShut = true;
	}

	receive(data: unknown): void {
		if (this.isShut) return;
		const incoming = parseFrame(data);
		if (incoming.kind === 'event') this.deliver(incoming.event);
		else if (incoming.kind === 'ignored') this.count(incoming.why);
		else if (!this.onAck(incoming.ack)) this.count('unexpected_ack');
	}

	private deliver(event: ChatEvent): void {
		const { eventId } = event;
		if (eventId !== null && this.seen.has(eventId)) {
			this.count('duplicate');
			return;
		}
		if (eventId !== null) this.seen.add(eventId);
		for (const listener of [...this.listeners]) {
			try {
				listener(event);
			} catch (cause) {
				// A replay is then its second chance.
				if (eventId !== null) this.seen.forget(eventId);
				this.log.warn('A chat event could not be handed on', {
					sessionId: this.sessionId,
					eventId,
					cause,
				});
			}
		}
	}

	private count(what: string): void {
		this.counts[what] = (this.counts[what] ?? 0) + 1;
		this.log.debug('Frame of the chat session left out', { sessionId: this.sessionId, what });
	}
}
