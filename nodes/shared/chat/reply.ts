import type { JsonObject } from '../json';
import { type ChatEvent, readMessage, readTurnResult, type TurnResult } from './frames';

/** The turn to find the reply of, as named by its ack or response and by the frame. */
export interface WantedTurn {
	turnId: string | null;
	/** IDs that the service may use for the message that was sent. */
	messageIds: string[];
	/** Other values of the request. One of them may be an ID of the message. */
	givenIds?: string[];
}

/**
 * - `ack`: the service's acknowledgement contains the reply.
 * - `events`: the turn's result names the agent's message.
 * - `failed`: the turn's result is an error.
 * - `uncertain`: messages arrived, and nothing proves which one is the reply.
 * - `too_large`: a frame that may contain the reply was too large to read.
 * - `none`: no message arrived from the agent.
 */
export type ReplySource = 'ack' | 'events' | 'failed' | 'uncertain' | 'too_large' | 'none';

export interface MatchedReply {
	/** Null unless it's proved to belong to the turn. */
	reply: string | null;
	source: ReplySource;
	/** Payloads of the messages in the meantime that aren't the customer's, oldest first. Empty if the reply is known. */
	agentMessages: JsonObject[];
}

/** `content` is null if it isn't text, as in an interactive message. */
type AgentMessage = {
	id: string | null;
	content: string | null;
	/** The document names the roles `user` and `ai`. An operator may have another one. */
	isAgent: boolean;
	payload: JsonObject;
};

/** Events to keep while waiting for one turn, because each new event searches all of them. */
export const MAX_ENTRIES = 5_000;

/** Messages to return if nothing proves which one is the reply. */
export const MAX_AGENT_MESSAGES = 100;

/**
 * Finds the reply of a turn that completes outside its ack. `turn_result` has no text and `message_received` names no turn,
 * so the only proof is a result that names the agent's message. The order of events proves nothing: an earlier turn can end
 * later, and the document gives no list of turns in flight. A turn by `POST /v1/chat/inbound` may cause no event until the
 * agent replies.
 */
export class ReplyCollector {
	/** A frame couldn't be read. */
	hasUnreadFrame = false;

	/** Events were dropped. */
	private isFull = false;

	private readonly agentMessages: AgentMessage[] = [];

	private readonly results: TurnResult[] = [];

	/** IDs of the customer's messages. */
	private readonly customerIds = new Set<string>();

	/** By message ID. */
	private readonly contents = new Map<string, string | null>();

	/** IDs of several messages with different content. They identify no message. */
	private readonly ambiguousIds = new Set<string>();

	take(event: ChatEvent): void {
		if (this.agentMessages.length + this.results.length + this.customerIds.size >= MAX_ENTRIES) {
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
			this.agentMessages.push({ id, content, isAgent: role === 'ai', payload: event.payload });
		}
	}

	/** The reply to the turn, if it's proved. */
	replyTo(wanted: WantedTurn): MatchedReply {
		const texts = this.messagesNamedBy(wanted).map(({ content }) => content);
		// If a part isn't text, the reply is incomplete, so none is returned.
		if (texts.length > 0 && !texts.includes(null)) {
			return { reply: texts.join('\n\n'), source: 'events', agentMessages: [] };
		}
		const agentMessages = this.agentMessages
			.slice(-MAX_AGENT_MESSAGES)
			.map(({ payload }) => payload);
		const result = wanted.turnId === null ? null : this.finalResult(wanted.turnId);
		if (result !== null && isFailed(result))
			return { reply: null, source: 'failed', agentMessages };
		if (this.hasUnreadFrame) return { reply: null, source: 'too_large', agentMessages };
		const isSilent = agentMessages.length === 0 && !this.isFull;
		return { reply: null, source: isSilent ? 'none' : 'uncertain', agentMessages };
	}

	/**
	 * The result of a turn. A result of another turn that was merged into this one counts only after a message of the agent,
	 * because the document doesn't say which of the two turns a result names. If the turn was merged into one that completed
	 * in the ack of another client, it has no further result, so its own counts once it names the reply.
	 */
	resultOf(wanted: WantedTurn): TurnResult | null {
		const { turnId, messageIds } = wanted;
		const direct = turnId === null ? null : this.finalResult(turnId);
		const own = this.results.findLast(
			({ turn_id: turn, message_id: id, merged_into: into }) =>
				// A client-chosen ID may also be the ID of another message.
				(turnId === null || turn === null) && messageIds.some((one) => one === id) && into === null,
		);
		const merged = this.results.findLast(
			({ merged_into: into }) => turnId !== null && into === turnId,
		);
		const unresolved = this.results.findLast(
			({ turn_id: turn }) => turnId !== null && turn === turnId,
		);
		return (
			direct ??
			own ??
			(this.agentMessages.some(({ isAgent }) => isAgent) ? merged : undefined) ??
			(this.replyTo(wanted).reply === null ? undefined : unresolved) ??
			null
		);
	}

	/** The agent's messages that results of the turn name, or of the turn that it was merged into. */
	private messagesNamedBy({ turnId, messageIds, givenIds = [] }: WantedTurn): AgentMessage[] {
		if (turnId === null) return [];
		const turns = new Set([turnId, ...this.mergeChain(turnId).flatMap(turnsOf)]);
		const named = new Set(
			this.results
				.filter((result) => turnsOf(result).some((turn) => turns.has(turn)))
				.map(({ message_id: id }) => id),
		);
		const customers = new Set([...this.customerIds, ...messageIds, ...givenIds]);
		// Then results name customers' messages, maybe by an ID that another client has chosen, and that could be the ID of any
		// message of the agent.
		const namesCustomer = this.results.some(
			({ message_id: id }) => id !== null && customers.has(id),
		);
		if (namesCustomer) return [];
		return this.agentMessages.filter(
			({ id, isAgent }) =>
				isAgent && id !== null && named.has(id) && !customers.has(id) && !this.ambiguousIds.has(id),
		);
	}

	private finalResult(turnId: string): TurnResult | null {
		return this.mergeChain(turnId).at(-1) ?? null;
	}

	/** The results of the turn, of the turn that it was merged into, and so on. Empty until the last one has a result. */
	private mergeChain(turnId: string): TurnResult[] {
		const latest = new Map(this.results.map((result) => [result.turn_id, result]));
		const passed = new Set<string>();
		const chain: TurnResult[] = [];
		for (let next: string | null = turnId; next !== null && !passed.has(next); ) {
			const result = latest.get(next);
			if (result === undefined) return [];
			passed.add(next);
			chain.push(result);
			next = result.merged_into;
		}
		return chain;
	}
}

/** Ack states of frames that get no reply (Events › Chat WebSocket). */
const FAILED_STATES = new Set<string | null>(['busy', 'invalid', 'error']);

function isFailed({ state, payload: { error } }: TurnResult): boolean {
	const hasError = error !== undefined && error !== null && error !== false && error !== '';
	return hasError || FAILED_STATES.has(state);
}

function turnsOf({ turn_id: id, merged_into: into }: TurnResult): string[] {
	return [id, into].filter((one) => one !== null);
}
