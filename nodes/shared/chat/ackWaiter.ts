import { whenAborted, type Clock, deferred, type Deferred, DONE, pause } from '../clock';
import type { ChatEnded } from './endings';
import type { ManagedSocket } from './managedSocket';
import type { Ack, ChatEvent } from './frames';
import type { Acknowledgement, OutgoingFrame, SentFrames } from './sentFrames';
import { PROOF_TIMEOUT_MS } from './timings';

export type Readiness =
	| { kind: 'open' }
	| { kind: 'ended'; ending: ChatEnded }
	| { kind: 'closed_by_us' };

/** What became of one frame: its ack, none in time, the socket gone while waiting, or surely not sent. */
export type AckResult =
	/** `isRepeat`: an earlier frame of the same message was lost, by whichever execution. */
	| { kind: 'ack'; ack: Ack; isRepeat: boolean }
	| { kind: 'no_ack' }
	/** An ack came, and nothing shows whether it is about this frame or about an earlier one. */
	| { kind: 'unproved' }
	| { kind: 'lost'; code: number | null }
	| { kind: 'not_sent'; readiness: Exclude<Readiness, { kind: 'open' }> };

/** Frames and their acks. Frames go one at a time, and a socket whose ack did not come is dropped. */
export class AckWaiter {
	private waiting: { message: string; take: (found: Acknowledgement) => void } | null = null;

	constructor(
		private readonly clock: Clock,
		private readonly sent: SentFrames,
	) {}

	get isWaiting(): boolean {
		return this.waiting !== null;
	}

	/** The one who sent the frame has left. */
	giveUp(frame: OutgoingFrame): void {
		this.sent.giveUp(frame);
	}

	/** Says whether a frame was waiting for an ack. */
	receive(ack: Ack, from: ManagedSocket): boolean {
		const { waiting } = this;
		const found = this.sent.take(ack, from.number, waiting?.message ?? null);
		waiting?.take(found);
		return waiting !== null;
	}

	/** A message of a customer may show which frame an ack is about. */
	noteEvent(event: ChatEvent): void {
		const { waiting } = this;
		const found = this.sent.noteEvent(event, waiting?.message ?? null);
		waiting?.take(found);
	}

	/** Null when the socket did not take the frame. */
	write(line: ManagedSocket, frame: OutgoingFrame, timeoutMs: number): Promise<AckResult> | null {
		const answer = deferred<AckResult>();
		const isRepeat = this.sent.isGivenUp(frame);
		const over = new AbortController();
		const unproved = new AbortController();
		// In place before sending: a socket may answer at once.
		this.waiting = {
			message: frame.message,
			take: (found) => {
				if (found.kind === 'own') answer.resolve({ kind: 'ack', ack: found.ack, isRepeat });
				if (found.kind === 'unproved') unproved.abort(DONE);
			},
		};
		this.sent.add(frame, line.number);
		if (!line.send(frame.text)) {
			this.waiting = null;
			this.sent.remove(frame);
			return null;
		}
		void line.ended.then(({ code }) => answer.resolve({ kind: 'lost', code }));
		void pause(this.clock, timeoutMs, over.signal).then(() =>
			answer.resolve({ kind: unproved.signal.aborted ? 'unproved' : 'no_ack' }),
		);
		void whenAborted(unproved.signal).then(async () => {
			const hasPassed = await pause(this.clock, PROOF_TIMEOUT_MS, over.signal);
			if (hasPassed) answer.resolve({ kind: 'unproved' });
		});
		return answer.promise.then((exchange) => {
			this.waiting = null;
			if (exchange.kind !== 'ack') this.sent.giveUp(frame);
			this.sent.rest();
			over.abort(DONE);
			if (exchange.kind === 'no_ack') line.close('no_ack');
			return exchange;
		});
	}
}

/** Lets one in at a time, in the order of asking. */
export class AbortableMutex {
	private last: Promise<void> = Promise.resolve();

	/**
	 * Waits for its turn and returns what ends it. Whoever is aborted while waiting gets no turn but goes on at once; the
	 * others keep their order.
	 */
	async acquire(signal: AbortSignal): Promise<() => void> {
		const before = this.last;
		const mine: Deferred<void> = deferred();
		this.last = before.then(async () => await mine.promise);
		await Promise.race([before, whenAborted(signal)]);
		return () => mine.resolve();
	}
}
