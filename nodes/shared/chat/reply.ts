import type { JsonObject } from '../json';
import { type ChatEvent, readMessage, readTurnResult, type TurnResult } from './frames';

/** The turn whose reply is wanted, as far as its ack (or the response to its request) and the frame name it. */
export interface WantedTurn {
	turnId: string | null;
	/** IDs by which the own message may be known. */
	messageIds: string[];
	/** Other values of the request: one of them may be an ID that the service knows the own message by. */
	givenIds?: string[];
}

/**
 * - `ack`: the service's acknowledgement.
 * - `events`: the agent's message that the turn's result names.
 * - `failed`: the turn's result is an error.
 * - `uncertain`: somebody spoke, and nothing proves to which message.
 * - `too_large`: a frame that may contain it was too large to be read.
 * - `none`: no message of the agent came.
 */
export type ReplySource = 'ack' | 'events' | 'failed' | 'uncertain' | 'too_large' | 'none';

export interface MatchedReply {
	/** Null unless it is proved to belong to the turn. */
	reply: string | null;
	source: ReplySource;
	/** Payloads of the messages in between that aren't the customer's, oldest first; empty if the reply is known. */
	spoken: JsonObject[];
}

/** `content` is null if it isn't text, as in an interactive message. */
type Spoken = {
	id: string | null;
	content: string | null;
	/** The document names `user` and `ai`; an operator can have another role. */
	isAgent: boolean;
	payload: JsonObject;
};

/** Of what comes in while one turn is waited for: all of it is searched whenever something comes. */
export const MAX_ENTRIES = 5_000;

/** Messages of the agent that are returned if nothing proves which is the reply. */
export const MAX_SPOKEN = 100;

/**
 * Collects what belongs to a turn that is completed outside its ack. `turn_result` has no text, and `message_received`
 * names no turn, so only one thing ties the two: the result of the turn names the agent's message. The order of events
 * proves nothing. A turn that began before the own message can end after it, and the document gives no list of turns in
 * flight: a turn by `POST /v1/chat/inbound` need not show in any event until the agent speaks.
 */
export class ReplyCollector {
	/** Something came that could not be read. */
	hasGap = false;

	/** More came than is kept. */
	private isFull = false;

	private readonly spoken: Spoken[] = [];

	private readonly results: TurnResult[] = [];

	/** IDs of the customer's messages. */
	private readonly customerIds = new Set<string>();

	/** What the agent said by the ID of each message. */
	private readonly contents = new Map<string, string | null>();

	/** IDs by which the agent said different things: they name no message. */
	private readonly ambiguousIds = new Set<string>();

	take(event: ChatEvent): void {
		if (this.spoken.length + this.results.length + this.customerIds.size >= MAX_ENTRIES) {
			this.isFull = true;
		} else if (event.type === 'turn_result') {
			this.results.push(readTurnResult(event));
		} else if (event.type === 'message_received') {
			const { id, role, content } = readMessage(event);
			if (role === 'user' && id !== null) this.customerIds.add(id);
			if (role === 'user') return;
			if (id !== null && this.contents.has(id)) {
				if (this.contents.get(id) === content) return;
				this.ambiguousIds.add(id);
			}
			if (id !== null) this.contents.set(id, content);
			this.spoken.push({ id, content, isAgent: role === 'ai', payload: event.payload });
		}
	}

	/** What the turn was answered, as far as it is proved. */
	replyTo(wanted: WantedTurn): MatchedReply {
		const texts = this.namedBy(wanted).map(({ content }) => content);
		// All or nothing: a part that isn't text would be lost without a word.
		if (texts.length > 0 && !texts.includes(null)) {
			return { reply: texts.join('\n\n'), source: 'events', spoken: [] };
		}
		const spoken = this.spoken.slice(-MAX_SPOKEN).map(({ payload }) => payload);
		const result = wanted.turnId === null ? null : this.follow(wanted.turnId);
		if (result !== null && isFailed(result)) return { reply: null, source: 'failed', spoken };
		if (this.hasGap) return { reply: null, source: 'too_large', spoken };
		const isSilent = spoken.length === 0 && !this.isFull;
		return { reply: null, source: isSilent ? 'none' : 'uncertain', spoken };
	}

	/**
	 * The result of a turn. A result that only says "merged into the wanted turn" counts once a text was seen with it,
	 * as the document leaves open which of the two turns the result names.
	 */
	resultOf({ turnId, messageIds }: WantedTurn): TurnResult | null {
		const direct = turnId === null ? null : this.follow(turnId);
		const own = this.results.findLast(
			({ turn_id: turn, message_id: id, merged_into: into }) =>
				// A client may have chosen an ID that another message has as well.
				(turnId === null || turn === null) && messageIds.some((one) => one === id) && into === null,
		);
		const merged = this.results.findLast(
			({ merged_into: into }) => turnId !== null && into === turnId,
		);
		return (
			direct ?? own ?? (this.spoken.some(({ isAgent }) => isAgent) ? merged : undefined) ?? null
		);
	}

	/** The agent's messages that results of the turn name, or of the turn that it was merged into. */
	private namedBy({ turnId, messageIds, givenIds = [] }: WantedTurn): Spoken[] {
		if (turnId === null) return [];
		const turns = new Set([turnId, ...this.chainOf(turnId).flatMap(turnsOf)]);
		const named = new Set(
			this.results
				.filter((result) => turnsOf(result).some((turn) => turns.has(turn)))
				.map(({ message_id: id }) => id),
		);
		// A result can name the customer's message instead, by an ID that the client chose.
		const customers = new Set([...this.customerIds, ...messageIds, ...givenIds]);
		return this.spoken.filter(
			({ id, isAgent }) =>
				isAgent && id !== null && named.has(id) && !customers.has(id) && !this.ambiguousIds.has(id),
		);
	}

	private follow(turnId: string): TurnResult | null {
		return this.chainOf(turnId).at(-1) ?? null;
	}

	/** The result of the turn, of the turn that it was merged into, and so on: a turn can be merged more than once. */
	private chainOf(turnId: string): TurnResult[] {
		const latest = new Map(this.results.map((result) => [result.turn_id, result]));
		const passed = new Set<string>();
		const chain: TurnResult[] = [];
		for (let next: string | null = turnId; next !== null && !passed.has(next); ) {
			const result = latest.get(next);
			// Until the turn has a result that it was merged into, this one isn't over.
			if (result === undefined) return [];
			passed.add(next);
			chain.push(result);
			next = result.merged_into;
		}
		return chain;
	}
}

/** States by which the document says of a frame that it wasn't answered. */
const FAILED_STATES = new Set<string | null>(['busy', 'invalid', 'error']);

function isFailed({ state, payload: { error } }: TurnResult): boolean {
	const hasError = error !== undefined && error !== null && error !== false && error !== '';
	return hasError || FAILED_STATES.has(state);
}

function turnsOf({ turn_id: id, merged_into: into }: TurnResult): string[] {
	return [id, into].filter((one) => one !== null);
}
