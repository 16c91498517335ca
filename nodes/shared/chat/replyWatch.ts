import { type Clock, DONE, pause } from '../clock';
import type { OnEvent, OnTooLarge } from './eventDispatcher';
import { ReplyCollector, type MatchedReply, type WantedTurn } from './reply';
import { REPLY_LINGER_MS } from './timings';
import type { TurnResult } from './frames';

/** Why this process no longer uses a connection: the execution was stopped, or the tool reached its time limit. */
export type StopReason = 'stopped' | 'time_limit';

/** A source of events, such as `ChatLease` or `ChatConnection`. */
export interface EventLink {
	subscribe(listener: OnEvent, onTooLarge?: OnTooLarge): () => void;
	/** If the session is closed, the connection stays open until the returned function is called. */
	keepOpen(): () => void;
	/** Aborted if no more events will arrive. */
	readonly signal: AbortSignal;
	/** Null if the connection ended for another reason, or hasn't ended. */
	readonly stopReason: StopReason | null;
}

/** The reply of a turn that completes outside its ack. */
export interface AwaitedReply extends MatchedReply {
	/** Null if none arrived. */
	result: TurnResult | null;
	/**
	 * Why the wait ended: the result arrived, the time passed, the connection ended for good, or the execution was stopped.
	 */
	end: 'found' | 'time' | 'connection' | 'stopped';
}

/** A reply in the service's acknowledgement or response. */
export function replyInAck(reply: string): AwaitedReply {
	return { reply, source: 'ack', agentMessages: [], result: null, end: 'found' };
}

export interface WaitOptions {
	ms: number;
	clock: Clock;
}

/**
 * Collects events from its creation until `end`. Create it before sending, so that no result or reply is missed. An agent
 * can close the session during its last turn, so the connection stays open until then.
 */
export class ReplyWatch {
	readonly end: () => void;

	private collector = new ReplyCollector();

	/** The same events, since the message was sent. */
	private sinceSent = this.collector;

	private readonly listeners = new Set<() => void>();

	constructor(private readonly link: EventLink) {
		const unsubscribe = link.subscribe(
			(event) => {
				this.collector.take(event);
				if (this.sinceSent !== this.collector) this.sinceSent.take(event);
				for (const check of [...this.listeners]) check();
			},
			() => {
				this.collector.hasUnreadFrame = true;
				this.sinceSent.hasUnreadFrame = true;
			},
		);
		const release = link.keepOpen();
		this.end = () => {
			unsubscribe();
			release();
		};
	}

	/** The message is sent now. */
	noteSent(): void {
		this.sinceSent = new ReplyCollector();
	}

	/** Forgets the events before the message was sent. The service can replay events while the session connects. */
	forgetEarlier(): void {
		this.collector = this.sinceSent;
	}

	/** Whether a frame was too large to read. */
	get hasUnreadFrame(): boolean {
		return this.collector.hasUnreadFrame;
	}

	/** Waits for the turn's result, then shortly for the message that it may name. */
	async reply(wanted: WantedTurn, { ms, clock }: WaitOptions): Promise<AwaitedReply> {
		const { collector } = this;
		if (wanted.turnId === null && wanted.messageIds.length === 0) {
			return { ...collector.replyTo(wanted), result: null, end: 'found' };
		}
		const found = this.whenTrue(() => collector.resultOf(wanted) !== null);
		const { signal } = this.link;
		await pause(clock, ms, AbortSignal.any([found, signal]));
		if (found.aborted) {
			const named = this.whenTrue(() => collector.replyTo(wanted).reply !== null);
			await pause(clock, REPLY_LINGER_MS, AbortSignal.any([named, signal]));
		}
		const end = found.aborted ? 'found' : this.endOfWait();
		return { ...collector.replyTo(wanted), result: collector.resultOf(wanted), end };
	}

	private endOfWait(): 'time' | 'connection' | 'stopped' {
		const { signal, stopReason } = this.link;
		if (stopReason === 'stopped') return 'stopped';
		return signal.aborted && stopReason === null ? 'connection' : 'time';
	}

	private whenTrue(condition: () => boolean): AbortSignal {
		const isTrue = new AbortController();
		const check = () => {
			if (!condition()) return;
			isTrue.abort(DONE);
			this.listeners.delete(check);
		};
		this.listeners.add(check);
		check();
		return isTrue.signal;
	}
}
