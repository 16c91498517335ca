import {
	backoffMs,
	type Clock,
	deferred,
	type Deferred,
	pause,
	settledOrTimeout,
	whenAborted,
} from '../values/clock';
import { KeyedMutex } from '../values/keyedMutex';
import type { ChatConnection } from './connection';
import type { ConnectionUser } from './connectionUser';
import {
	type Ack,
	type ChatEvent,
	type ClientFrame,
	idText,
	isMessage,
	type Message,
	messagesOf,
	type OutgoingFrame,
	outgoingFrame,
	OWN_PREFIX,
} from './frames';
import { CHAT_BACKOFF, type Ending } from './reconnectPolicy';
import type { Socket } from './socket';

/** The ack of a turn that completes inline arrives only after the agent's reply. */
export const ACK_TIMEOUT_MS = 120_000;

/** After `busy`, a message may be sent again. */
const MAX_BUSY_RETRIES = 5;

/** Resends of a frame without an ack. Only frames with an idempotency key are sent again. */
const MAX_RESENDS = 2;

/**
 * How long after the ack of a message an event with its text is about it. The document doesn't say how far they are apart.
 * Both are about the same turn, so a few seconds are enough, and within them, hardly anyone writes the same again.
 */
const EVENT_LAG_MS = 5_000;

/** What became of a message. */
export type SendOutcome =
	/** `isRepeat`: an earlier attempt got no ack, so only an accepting ack settles the outcome. */
	| { kind: 'ack'; ack: Ack; isRepeat: boolean }
	/** Sent, but not confirmed. */
	| { kind: 'unknown' }
	/** `ending`: why no connection is possible. Null if the user stopped. */
	| { kind: 'not_sent'; ending: Ending | null };

/** Sends one message of a session after another, with one frame in flight, and finds the ack of each. */
export class Sender {
	/** `message` for all frames of a message, `frame` until the ack of one. */
	private readonly mutex = new KeyedMutex();
	/** The frame that waits for its ack. */
	private flight: { messageId: string; ack: Deferred<Ack | 'no_ack'> } | null = null;
	/** The IDs of sent frames that got no ack. */
	private readonly unconfirmed = new Set<string>();
	/** Messages, and replies on acks, whose events may still come, because the ack was first. */
	private announced: Array<Message & { sentAtFrame: number; ackedAt: number }> = [];

	constructor(
		private readonly connection: ChatConnection,
		private readonly clock: Clock,
	) {}

	/** Whether a frame waits for its ack. */
	get isWaiting(): boolean {
		return this.flight !== null;
	}

	/** Waits until no frame waits for its ack. The next one isn't sent before `release`, which is returned. */
	async hold(signal: AbortSignal): Promise<() => void> {
		return await this.mutex.acquire('frame', signal);
	}

	/** For a time after which no ack of an earlier frame can arrive. */
	forgetEarlier(): void {
		this.unconfirmed.clear();
	}

	/**
	 * The number of frames before the message of this event was confirmed, or its reply returned. Infinity if it wasn't. Each
	 * message has one event, so the next one with the same text is about another message.
	 */
	takeSentAtFrame(event: ChatEvent): number {
		this.forgetLate();
		const found = this.announced.find((message) => isMessage(event, message));
		this.announced = this.announced.filter((message) => message !== found);
		return found?.sentAtFrame ?? Infinity;
	}

	private forgetLate(): void {
		const since = this.clock.elapsed() - EVENT_LAG_MS;
		this.announced = this.announced.filter(({ ackedAt }) => ackedAt > since);
	}

	/**
	 * Sends a frame as soon as the session is connected, and waits for its ack. Sends it again only if that is safe: after
	 * `busy`, and after a missing ack if it has an idempotency key. Another message in between would change the order of the
	 * conversation, so it waits.
	 *
	 * @param timeoutMs how long to wait for the ack of one attempt
	 */
	async send(user: ConnectionUser, frame: ClientFrame, timeoutMs: number): Promise<SendOutcome> {
		const { signal } = user;
		const outgoing = outgoingFrame(frame);
		const release = await this.mutex.acquire('message', signal);
		const unheardBefore = user.unheard.length;
		try {
			for (let busy = 0, unconfirmed = 0; ; ) {
				const ack = await this.attempt(outgoing, signal, timeoutMs);
				if (ack === 'not_sent') {
					return unconfirmed > 0 ? { kind: 'unknown' } : { kind: 'not_sent', ending: user.ending };
				} else if (ack === 'no_ack') {
					unconfirmed += 1;
					const mayResend = frame.idempotency_key !== undefined && unconfirmed <= MAX_RESENDS;
					if (!mayResend) return { kind: 'unknown' };
				} else if (ack.state === 'busy' && busy < MAX_BUSY_RETRIES) {
					busy += 1;
					await pause(this.clock, backoffMs(CHAT_BACKOFF, busy), signal);
				} else {
					this.announce(messagesOf(frame, ack), user.unheard.slice(unheardBefore));
					return { kind: 'ack', ack, isRepeat: unconfirmed > 0 };
				}
			}
		} finally {
			release();
		}
	}

	/**
	 * The document doesn't say whether the ack of a message or its event is first.
	 *
	 * @param events those since the message was sent
	 */
	private announce(messages: Message[], events: ChatEvent[]): void {
		this.forgetLate();
		const { frameCount: sentAtFrame } = this.connection;
		const ackedAt = this.clock.elapsed();
		const late = messages.filter((one) => !events.some((event) => isMessage(event, one)));
		this.announced.push(...late.map((message) => ({ ...message, sentAtFrame, ackedAt })));
	}

	/** If the signal is aborted, it returns immediately, but the next frame still waits for the ack. */
	private async attempt(
		frame: OutgoingFrame,
		signal: AbortSignal,
		timeoutMs: number,
	): Promise<Ack | 'no_ack' | 'not_sent'> {
		const release = await this.hold(signal);
		for (;;) {
			const socket = await this.connection.connected(signal);
			if (socket === null) {
				release();
				return 'not_sent';
			}
			// Set before sending, because a socket may respond synchronously.
			this.flight = { messageId: frame.messageId, ack: deferred() };
			if (socket.send(frame.text)) {
				const acked = this.untilAck(socket, this.flight, timeoutMs).finally(release);
				return await Promise.race([acked, whenAborted(signal).then(() => 'no_ack' as const)]);
			}
			this.flight = null;
			await socket.ended;
		}
	}

	/** If no ack comes, the socket is closed, so that no ack on it is about an earlier frame. */
	private async untilAck(
		socket: Socket,
		{ messageId, ack: { promise, resolve } }: NonNullable<Sender['flight']>,
		timeoutMs: number,
	): Promise<Ack | 'no_ack'> {
		void socket.ended.then(() => resolve('no_ack'));
		await settledOrTimeout(this.clock, timeoutMs, promise);
		// Without effect if there's an ack.
		resolve('no_ack');
		const ack = await promise;
		this.flight = null;
		if (ack === 'no_ack') {
			this.unconfirmed.add(messageId);
			socket.close();
		} else {
			this.unconfirmed.delete(messageId);
		}
		return ack;
	}

	/** @returns whether a frame waited for it */
	receive(ack: Ack): boolean {
		if (this.flight === null || !this.isAckOf(this.flight.messageId, ack)) return false;
		this.flight.ack.resolve(ack);
		return true;
	}

	/**
	 * The document shows `message_id` only on the acks of some states, and doesn't say that a late ack can't arrive on the
	 * next socket. So an ack that doesn't name its frame counts only if no other frame waits for one.
	 */
	private isAckOf(messageId: string, ack: Ack): boolean {
		const id = idText(ack.message_id);
		if (id === messageId) return true;
		const isOfAnother = id?.startsWith(OWN_PREFIX) === true;
		return !isOfAnother && [...this.unconfirmed].every((earlier) => earlier === messageId);
	}
}
