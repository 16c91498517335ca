import { type Clock, DONE, pause } from '../clock';
import type { OnTooLarge } from './eventDispatcher';
import { ReplyCollector, type MatchedReply, type WantedTurn } from './reply';
import { REPLY_LINGER_MS } from './timings';
import type { ChatEvent, TurnResult } from './frames';

/** Where events come from; `ChatLease` and `ChatConnection` are such. */
export interface EventLink {
	subscribe(listener: (event: ChatEvent) => void, onTooLarge?: OnTooLarge): () => void;
	/** Aborted when nothing more will come. */
	readonly signal: AbortSignal;
}

/** What the agent said in a turn that was completed outside its ack. */
export interface AwaitedReply extends MatchedReply {
	/** Null when none came. */
	result: TurnResult | null;
	/** What ended the waiting: it was there, the time was over, or the connection was lost for good. */
	end: 'found' | 'time' | 'connection';
}

/** A reply that came with the service's own acknowledgement. */
export function replyInAck(reply: string): AwaitedReply {
	return { reply, source: 'ack', spoken: [], result: null, end: 'found' };
}

export interface Waiting {
	ms: number;
	clock: Clock;
}

/** Listens from before the sending on, so that neither result nor reply is missed. */
export class ReplyWatch {
	readonly end: () => void;

	private readonly collector = new ReplyCollector();

	private readonly listeners = new Set<() => void>();

	constructor(private readonly link: EventLink) {
		this.end = link.subscribe(
			(event) => {
				this.collector.take(event);
				for (const look of [...this.listeners]) look();
			},
			() => {
				this.collector.hasGap = true;
			},
		);
	}

	/** Whether something came that was too large to be read. */
	get hasGap(): boolean {
		return this.collector.hasGap;
	}

	/** Waits for the turn's result, and a moment longer for the message that it may name. */
	async reply(wanted: WantedTurn, { ms, clock }: Waiting): Promise<AwaitedReply> {
		const { collector } = this;
		if (wanted.turnId === null && wanted.messageIds.length === 0) {
			return { ...collector.replyTo(wanted), result: null, end: 'found' };
		}
		const found = this.once(() => collector.resultOf(wanted) !== null);
		const { signal } = this.link;
		await pause(clock, ms, AbortSignal.any([found, signal]));
		if (found.aborted) {
			const named = this.once(() => collector.replyTo(wanted).reply !== null);
			await pause(clock, REPLY_LINGER_MS, AbortSignal.any([named, signal]));
		}
		const end = found.aborted ? 'found' : signal.aborted ? 'connection' : 'time';
		return { ...collector.replyTo(wanted), result: collector.resultOf(wanted), end };
	}

	private once(holds: () => boolean): AbortSignal {
		const held = new AbortController();
		const look = () => {
			if (!holds()) return;
			held.abort(DONE);
			this.listeners.delete(look);
		};
		this.listeners.add(look);
		look();
		return held.signal;
	}
}
