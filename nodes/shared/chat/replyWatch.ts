import { type Clock, DONE, pause } from '../clock';
import type { OnTooLarge } from './inbox';
import { ReplyCollector, type TiedReply, type WantedTurn } from './reply';
import { REPLY_LINGER_MS } from './timings';
import type { ChatEvent, TurnResult } from './frames';

/** Where events come from; `ChatLease` and `ChatConnection` are such. */
export interface EventLink {
	subscribe(listener: (event: ChatEvent) => void, onTooLarge?: OnTooLarge): () => void;
	/** Aborted when nothing more will come. */
	readonly signal: AbortSignal;
}

/** What the agent said in a turn that was completed outside its ack. */
export interface AwaitedReply extends TiedReply {
	/** Null when none came. */
	result: TurnResult | null;
	/** What ended the waiting: it was there, the time was over, or the connection was lost for good. */
	end: 'found' | 'time' | 'connection';
}

export interface Waiting {
	ms: number;
	clock: Clock;
	/** Whether a text of the agent ends the waiting too: where the ack was lost, no result may ever come. */
	withoutResult?: boolean;
}

/** Listens from before the sending on, so that neither result nor reply is missed. */
export class ReplyWatch {
	readonly end: () => void;

	private readonly collector: ReplyCollector;

	private readonly listeners = new Set<() => void>();

	/** `sentText`: by which the own message is known when it comes back as an event. */
	constructor(
		private readonly link: EventLink,
		sentText: string | null,
	) {
		this.collector = new ReplyCollector(sentText);
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

	/** Aborted when a reply to the message is there, though its ack may not be. */
	answered(messageIds: string[]): AbortSignal {
		return this.once(() => {
			const { source } = this.collector.replyTo({ turnId: null, messageIds, isNew: true });
			return source === 'events';
		});
	}

	/** Waits for the turn's result, and a moment longer for texts that may trail behind it. */
	async reply(wanted: WantedTurn, waiting: Waiting): Promise<AwaitedReply> {
		const { ms, clock, withoutResult = false } = waiting;
		const { collector } = this;
		const isNamed = wanted.turnId !== null || wanted.messageIds.length > 0;
		if (!isNamed && !withoutResult) {
			return { reply: null, source: 'none', result: null, end: 'found' };
		}
		const found = this.once(
			() =>
				collector.resultOf(wanted) !== null ||
				(withoutResult && collector.replyTo(wanted).source === 'events'),
		);
		const { signal } = this.link;
		await pause(clock, ms, AbortSignal.any([found, signal]));
		const isWhole = () =>
			collector.resultOf(wanted) !== null && collector.replyTo(wanted).source === 'events';
		if (found.aborted && !isWhole()) await pause(clock, REPLY_LINGER_MS, signal);
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
