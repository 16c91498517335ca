import { ExplainedError } from '../service/errors';
import type { Explanation } from '../service/explanation';
import type { JsonValue } from '../values/json';
import {
	type Backoff,
	backoffMs,
	type Clock,
	pause,
	settledOrTimeout,
	whenAborted,
} from '../values/clock';
import { KeyedMutex } from '../values/keyedMutex';
import type { ChatConnection } from './connection';
import type { ConnectionUser } from './connectionUser';
import { type Ack, type ClientFrame, idText, isAck, outgoingFrame, OWN_PREFIX } from './frames';
import type { Ending } from './reconnectPolicy';
import type { Socket } from './socket';

/** The ack of a turn that completes inline arrives only after the agent's reply. */
export const ACK_TIMEOUT_MS = 120_000;

/** After `busy`, a message may be sent again. */
const MAX_BUSY_RETRIES = 5;

/** As for connections, because the document has no other figures for the chat engine. */
const BUSY_BACKOFF: Backoff = { firstMs: 1_000, maxMs: 30_000, jitter: 0.2 };

/** Sends one message of a session after another, with one frame in flight, and finds the ack of each. */
export class Sender {
	private readonly mutex = new KeyedMutex();
	/** The frame that waits for its ack. */
	private flight: { messageId: string; ack: PromiseWithResolvers<Ack | null> } | null = null;
	/** The IDs of sent frames whose ack may still come. */
	private readonly unconfirmed = new Set<string>();

	constructor(
		private readonly connection: ChatConnection,
		private readonly clock: Clock,
	) {}

	/** Waits until no message is being sent. The next one isn't sent before `release`, which is returned. */
	async hold(signal: AbortSignal): Promise<() => void> {
		return await this.mutex.acquire(this, signal);
	}

	/** For a time after which no ack of an earlier frame can arrive. */
	forgetEarlier(): void {
		this.unconfirmed.clear();
	}

	/**
	 * Sends a frame as soon as the session is connected, and waits for its ack. After `busy`, sends it again. Another message
	 * in between would change the order of the conversation, so it waits.
	 *
	 * @param timeoutMs how long to wait for the ack of one attempt
	 * @returns null if the message was sent, and not confirmed
	 * @throws ExplainedError if nothing was sent
	 */
	async send(user: ConnectionUser, frame: ClientFrame, timeoutMs: number): Promise<Ack | null> {
		const { signal } = user;
		const { text, messageId } = outgoingFrame(frame);
		const release = await this.hold(signal);
		let acked: Promise<Ack | null> | undefined;
		try {
			for (let busy = 0; ; ) {
				const socket = await this.connection.connected(signal);
				if (socket === null) throw notSent(user.ending);
				acked = this.sendOn(socket, text, messageId, timeoutMs);
				if (acked === undefined) {
					await socket.ended;
					continue;
				}
				const ack = await Promise.race([acked, whenAborted(signal).then(() => null)]);
				if (ack?.state !== 'busy' || busy === MAX_BUSY_RETRIES) return ack;
				busy += 1;
				await pause(this.clock, backoffMs(BUSY_BACKOFF, busy), signal);
			}
		} finally {
			// A node that is stopped doesn't wait for its ack, but the next message does.
			void Promise.resolve(acked).finally(release);
		}
	}

	/** Undefined if the socket didn't take the frame. */
	private sendOn(
		socket: Socket,
		text: string,
		messageId: string,
		timeoutMs: number,
	): Promise<Ack | null> | undefined {
		// Set before sending, because a socket may respond synchronously.
		const flight = { messageId, ack: Promise.withResolvers<Ack | null>() };
		this.flight = flight;
		if (socket.send(text)) return this.untilAck(socket, flight, timeoutMs);
		this.flight = null;
		return undefined;
	}

	/** If no ack comes, the socket is closed, so that no ack on it is about an earlier frame. */
	private async untilAck(
		socket: Socket,
		{ messageId, ack: { promise, resolve } }: NonNullable<Sender['flight']>,
		timeoutMs: number,
	): Promise<Ack | null> {
		void socket.ended.then(() => resolve(null));
		await settledOrTimeout(this.clock, timeoutMs, promise);
		// Without effect if there's an ack.
		resolve(null);
		const ack = await promise;
		this.flight = null;
		if (ack === null) {
			this.unconfirmed.add(messageId);
			socket.close();
		} else {
			this.unconfirmed.delete(messageId);
		}
		return ack;
	}

	/** @returns whether a frame waited for it */
	receive(ack: JsonValue | undefined): boolean {
		if (this.flight === null || !isAck(ack) || !this.isAckOf(this.flight.messageId, ack))
			return false;
		this.flight.ack.resolve(ack);
		return true;
	}

	/**
	 * The document shows `message_id` only on the acks of some states, and doesn't say that a late ack can't arrive on the
	 * next socket. So an ack that doesn't name its frame counts only if no other frame waits for one.
	 */
	private isAckOf(messageId: string, ack: Ack): boolean {
		const id = idText(ack.message_id);
		const isOfAnother = id?.startsWith(OWN_PREFIX) === true;
		const isOnly = [...this.unconfirmed].every((earlier) => earlier === messageId);
		return id === messageId || (!isOfAnother && isOnly);
	}
}

const STOPPED: Explanation = {
	message: "The message wasn't sent because the execution was stopped",
	resolution: 'Send the message again in a new execution.',
};

/** @param ending why no connection is possible. Null if the node was stopped */
function notSent(ending: Ending | null): ExplainedError {
	if (ending === null) return new ExplainedError('not_sent', STOPPED.message, STOPPED.resolution);
	const message = `${ending.message}, so nothing was sent`;
	return new ExplainedError('not_sent', message, ending.resolution, ending);
}
