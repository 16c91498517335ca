import { aborted, type Clock, deferred, type Deferred, DONE, pause } from '../clock';
import type { ChatEnded } from './endings';
import type { Line } from './line';
import type { Ack } from './frames';

export type Readiness =
	| { kind: 'open' }
	| { kind: 'ended'; ending: ChatEnded }
	| { kind: 'closed_by_us' };

/** What became of one frame: its ack, none in time, the socket gone while waiting, or surely not sent. */
export type Exchange =
	| { kind: 'ack'; ack: Ack }
	| { kind: 'no_ack' }
	| { kind: 'lost'; code: number | null }
	| { kind: 'not_sent'; readiness: Exclude<Readiness, { kind: 'open' }> };

/**
 * Frames and their acks. Frames go one at a time: then the next ack on their socket is the frame's, with or without an
 * echoed `message_id`, and a socket whose ack did not come is dropped with whatever trails on it.
 */
export class Exchanger {
	private takeAck: ((ack: Ack, from: Line) => void) | null = null;

	constructor(private readonly clock: Clock) {}

	get isWaiting(): boolean {
		return this.takeAck !== null;
	}

	/** Says whether a frame was waiting for an ack. */
	receive(ack: Ack, from: Line): boolean {
		this.takeAck?.(ack, from);
		return this.isWaiting;
	}

	/** Null when the socket did not take the frame. */
	write(line: Line, text: string, timeoutMs: number): Promise<Exchange> | null {
		const answer = deferred<Exchange>();
		// In place before sending: a socket may answer at once.
		this.takeAck = (ack, from) => {
			// While a socket is replaced there are two, and an ack on the other one is of an earlier frame.
			if (from === line) answer.resolve({ kind: 'ack', ack });
		};
		if (!line.send(text)) {
			this.takeAck = null;
			return null;
		}
		const over = new AbortController();
		void line.ended.then(({ code }) => answer.resolve({ kind: 'lost', code }));
		void pause(this.clock, timeoutMs, over.signal).then(() => answer.resolve({ kind: 'no_ack' }));
		return answer.promise.then((exchange) => {
			this.takeAck = null;
			over.abort(DONE);
			if (exchange.kind === 'no_ack') line.shut('no_ack');
			return exchange;
		});
	}
}

/** Lets one in at a time, in the order of asking. */
export class TurnQueue {
	private last: Promise<void> = Promise.resolve();

	/**
	 * Waits for its turn and returns what ends it. Whoever is aborted while waiting gets no turn but goes on at once; the
	 * others keep their order.
	 */
	async enter(signal: AbortSignal): Promise<() => void> {
		const before = this.last;
		const mine: Deferred<void> = deferred();
		this.last = before.then(async () => await mine.promise);
		await Promise.race([before, aborted(signal)]);
		return () => mine.resolve();
	}
}
