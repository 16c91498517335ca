import { readMessage, readTurnResult } from './frames';
import type { ChatEvent, TurnResult } from './types';

/** The turn whose result is wanted, as far as its ack and the frame name it. */
export interface WantedTurn {
	turnId: string | null;
	/** Of the frame, if the caller chose one. */
	messageId: string | null;
}

/**
 * Gathers what belongs to a turn that is completed outside its ack. `turn_result` carries no text, so the reply is taken
 * from the `message_received` events with role `ai` that arrive from sending until shortly after the result.
 */
export class ReplyCollector {
	private readonly results: TurnResult[] = [];

	private readonly texts: Array<{ content: string; createdAt: number }> = [];

	private ownCreatedAt = NaN;

	/** `sentText`: by which the own message is known when it comes back as an event. */
	constructor(private readonly sentText: string | null) {}

	take(event: ChatEvent): void {
		if (event.type === 'turn_result') this.results.push(readTurnResult(event));
		if (event.type !== 'message_received') return;
		const { role, content, created_at: createdAt } = readMessage(event);
		const time = createdAt === null ? NaN : Date.parse(createdAt);
		if (role === 'ai' && content !== null) this.texts.push({ content, createdAt: time });
		if (role === 'user' && content === this.sentText) this.ownCreatedAt = time;
	}

	/** Texts of the agent; an older one that was only replayed is left out where the times tell. */
	replies(): string[] {
		return this.texts
			.filter(({ createdAt }) => !(createdAt < this.ownCreatedAt))
			.map(({ content }) => content);
	}

	/**
	 * The result of a turn. A result that only says "merged into the wanted turn" counts once a reply was seen with it,
	 * as the document leaves open which of the two turns the result names.
	 */
	resultOf({ turnId, messageId }: WantedTurn): TurnResult | null {
		const direct = turnId === null ? null : this.follow(turnId);
		const own = this.results.findLast(
			(result) =>
				messageId !== null && result.message_id === messageId && result.merged_into === null,
		);
		const merged = this.results.findLast(
			(result) => turnId !== null && result.merged_into === turnId,
		);
		return direct ?? own ?? (this.replies().length > 0 ? merged : undefined) ?? null;
	}

	/** A turn can be merged into another one in its turn. */
	private follow(turnId: string): TurnResult | null {
		const passed = new Set<string>();
		let wanted = turnId;
		for (;;) {
			const result = this.results.findLast(({ turn_id: id }) => id === wanted);
			if (result === undefined) return null;
			passed.add(wanted);
			const next = result.merged_into;
			if (next === null || passed.has(next)) return result;
			wanted = next;
		}
	}
}
