import { whenAborted, type Clock, deferred, DONE, pause } from '../clock';
import type { ChatEnded } from './endings';
import type { ManagedSocket } from './managedSocket';
import type { Ack, ChatEvent } from './frames';
import type { Acknowledgement, OutgoingFrame, SentFrames } from './sentFrames';
import { MATCH_TIMEOUT_MS } from './timings';

export type Readiness =
	| { kind: 'open' }
	| { kind: 'ended'; ending: ChatEnded }
	| { kind: 'closed_by_us' };

/** Why a session isn't connected. */
export type NotReady = Exclude<Readiness, { kind: 'open' }>;

export type AckResult =
	/** `isRepeat`: an earlier frame of the same message got no ack, perhaps in another execution. */
	| { kind: 'ack'; ack: Ack; isRepeat: boolean }
	| { kind: 'no_ack' }
	/** An ack arrived that may be about this frame or about an earlier one. */
	| { kind: 'unmatched' }
	/** The socket ended before the ack. */
	| { kind: 'lost'; code: number | null }
	/** Sent, but the sender stopped waiting for the ack. */
	| { kind: 'aborted' }
	/** The session was closed before the ack. */
	| { kind: 'session_closed' }
	| { kind: 'not_sent'; readiness: NotReady };

/** Sends one frame at a time and waits for its ack. Closes the socket if the ack doesn't arrive. */
export class AckWaiter {
	private waiting: { messageKey: string; resolve: (found: Acknowledgement) => void } | null = null;

	constructor(
		private readonly clock: Clock,
		private readonly sent: SentFrames,
	) {}

	get isWaiting(): boolean {
		return this.waiting !== null;
	}

	/** The sender stopped waiting for the ack. */
	giveUp(frame: OutgoingFrame): void {
		this.sent.giveUp(frame);
	}

	/** @returns whether a frame was waiting for an ack */
	receive(ack: Ack, from: ManagedSocket): boolean {
		const { waiting } = this;
		const found = this.sent.take(ack, from.number, waiting?.messageKey ?? null);
		waiting?.resolve(found);
		return waiting !== null;
	}

	/** A customer's message may show which frame an ack is about. */
	noteEvent(event: ChatEvent): void {
		const { waiting } = this;
		const found = this.sent.noteEvent(event, waiting?.messageKey ?? null);
		waiting?.resolve(found);
	}

	/** Null if the socket didn't accept the frame. */
	write(socket: ManagedSocket, frame: OutgoingFrame, timeoutMs: number): Promise<AckResult> | null {
		const result = deferred<AckResult>();
		const isRepeat = this.sent.isGivenUp(frame);
		const settled = new AbortController();
		const unmatched = new AbortController();
		// Set before sending, because a socket may respond synchronously.
		this.waiting = {
			messageKey: frame.messageKey,
			resolve: (found) => {
				if (found.kind === 'matched') result.resolve({ kind: 'ack', ack: found.ack, isRepeat });
				if (found.kind === 'unmatched') unmatched.abort(DONE);
			},
		};
		this.sent.add(frame, socket.number, this.clock.elapsed());
		if (!socket.send(frame.text)) {
			this.waiting = null;
			this.sent.remove(frame);
			return null;
		}
		void socket.ended.then(({ code }) => result.resolve({ kind: 'lost', code }));
		void pause(this.clock, timeoutMs, settled.signal).then(() =>
			result.resolve({ kind: unmatched.signal.aborted ? 'unmatched' : 'no_ack' }),
		);
		void whenAborted(unmatched.signal).then(async () => {
			const hasPassed = await pause(this.clock, MATCH_TIMEOUT_MS, settled.signal);
			if (hasPassed) result.resolve({ kind: 'unmatched' });
		});
		return result.promise.then((settledResult) => {
			this.waiting = null;
			if (settledResult.kind !== 'ack') this.sent.giveUp(frame);
			this.sent.forgetMatched();
			settled.abort(DONE);
			if (settledResult.kind === 'no_ack') socket.close('no_ack');
			return settledResult;
		});
	}
}
