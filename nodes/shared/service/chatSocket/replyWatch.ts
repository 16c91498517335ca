import type { Clock } from '../core/http';
import { pause } from './pause';
import { ReplyCollector, type WantedTurn } from './reply';
import { REPLY_LINGER_MS } from './timings';
import type { ChatEvent, TurnResult } from './types';

/** Where events come from; `ChatLease` and `ChatConnection` are such. */
export interface EventLink {
	subscribe(listener: (event: ChatEvent) => void): () => void;
	/** Aborted when nothing more will come. */
	readonly signal: AbortSignal;
}

/** Texts the agent gave in a turn that was completed outside its ack; `result` is null when none came in time. */
export interface AwaitedReply {
	reply: string | null;
	result: TurnResult | null;
}

/** Listens from before the sending on, so that neither result nor reply is missed. */
export class ReplyWatch {
	readonly end: () => void;

	private readonly collector: ReplyCollector;

	private readonly found = new AbortController();

	private wanted: WantedTurn | null = null;

	/** `sentText`: by which the own message is known when it comes back as an event. */
	constructor(
		private readonly link: EventLink,
		sentText: string | null,
	) {
		this.collector = new ReplyCollector(sentText);
		this.end = link.subscribe((event) => {
			this.collector.take(event);
			this.look();
		});
	}

	/** Waits for the turn's result, and a moment longer for the texts that may trail behind it. */
	async reply(wanted: WantedTurn, ms: number, clock: Clock): Promise<AwaitedReply> {
		if (wanted.turnId === null && wanted.messageId === null) return { reply: null, result: null };
		this.wanted = wanted;
		this.look();
		const { signal } = this.link;
		await pause(clock, ms, AbortSignal.any([this.found.signal, signal]));
		if (this.found.signal.aborted) await pause(clock, REPLY_LINGER_MS, signal);
		const replies = this.collector.replies();
		return {
			reply: replies.length > 0 ? replies.join('\n\n') : null,
			result: this.collector.resultOf(wanted),
		};
	}

	private look(): void {
		if (this.wanted !== null && this.collector.resultOf(this.wanted) !== null) this.found.abort();
	}
}
