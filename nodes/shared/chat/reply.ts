import type { JsonValue } from '../json';
import { type ChatEvent, readMessage, readTurnResult, type TurnResult } from './frames';

/** The turn whose reply is wanted, as far as its ack (or the answer to its request) and the frame name it. */
export interface WantedTurn {
	turnId: string | null;
	/** IDs by which the own message may be known. */
	messageIds: string[];
	/** Whether it was surely sent since listening began; one with a key may be known from an earlier run. */
	isNew: boolean;
}

/**
 * - `ack`: the service's acknowledgement.
 * - `events`: messages of the agent between the own message and the turn's result, or shortly after it.
 * - `uncertain`: messages of the agent came that may belong to another turn as well, or more than are kept, so none is given.
 * - `too_large`: a frame that may hold it was too large to be read.
 * - `none`: no message of the agent came.
 */
export type ReplySource = 'ack' | 'events' | 'uncertain' | 'too_large' | 'none';

export interface TiedReply {
	/** Null unless it surely belongs to the turn. */
	reply: string | null;
	source: ReplySource;
}

type Entry = { ts: number } & (
	| { kind: 'user' | 'ai'; id: string | null; content: string; createdAt: number }
	| { kind: 'result'; result: TurnResult }
	/** The agent speaks of its own accord, in a turn of its own. */
	| { kind: 'proactive' }
	/** From here on a person speaks. */
	| { kind: 'handover' }
);
type Message = Extract<Entry, { content: string }>;

/** Of what comes in while one turn is waited for: all of it is gone through whenever something comes. */
export const MAX_ENTRIES = 5_000;

/**
 * Gathers what belongs to a turn that is completed outside its ack. `turn_result` carries no text, and `message_received`
 * names no turn. What ties the two is their order: the service works at one turn at a time (a message that comes
 * meanwhile is `merged`), so a message of the agent after the own message and until the result is the reply, unless
 * something of another turn is seen among them. Where a result names the very message of the agent, that is the reply.
 */
export class ReplyCollector {
	/** Something came that could not be read. */
	hasGap = false;

	/** More came than is kept. */
	private isFull = false;

	private readonly entries: Entry[] = [];

	/** `sentText`: by which the own message is known when it comes back as an event. */
	constructor(private readonly sentText: string | null) {}

	take(event: ChatEvent): void {
		const entry = readEntry(event);
		if (entry === null) return;
		if (this.entries.length >= MAX_ENTRIES) this.isFull = true;
		else this.entries.push({ ...entry, ts: timeOf(event.envelope.ts) });
	}

	/** What the turn was answered, as far as it is there. */
	replyTo(wanted: WantedTurn): TiedReply {
		const result = this.resultOf(wanted);
		const named = this.namedBy(result, wanted);
		if (named !== undefined) return { reply: named.content, source: 'events' };
		if (this.hasGap) return TOO_LARGE;
		if (this.isFull) return UNCERTAIN;
		const own = this.ownMessage(wanted, result);
		if (own === null) return this.entries.some(isReply) ? UNCERTAIN : NONE;
		const after = this.entries
			.slice(this.entries.indexOf(own) + 1)
			.filter((entry) => !isOlder(entry, own));
		const end = after.findIndex((entry) => entry.kind === 'result' && entry.result === result);
		const until = after.slice(0, Math.max(end, 0));
		return this.among(until.some(isReply) ? until : after, wanted);
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
		return direct ?? own ?? (this.entries.some(isReply) ? merged : undefined) ?? null;
	}

	private get results(): TurnResult[] {
		return this.entries.flatMap((entry) => (entry.kind === 'result' ? [entry.result] : []));
	}

	/** The texts of a part of the conversation, unless some may be another turn's. */
	private among(part: Entry[], wanted: WantedTurn): TiedReply {
		const texts = part.filter(isReply);
		if (texts.length === 0) return NONE;
		const own = new Set(this.resultsOfTurn(wanted));
		const folded = new Set([...own].map(({ message_id: id }) => id));
		const otherTurn = part.some(
			(entry) => entry.kind === 'proactive' || (entry.kind === 'result' && !own.has(entry.result)),
		);
		const change = part.findIndex(
			(entry) =>
				entry.kind === 'handover' ||
				// Another message that was folded into the very turn is no change.
				(entry.kind === 'user' && (entry.id === null || !folded.has(entry.id))),
		);
		const lastText = part.findLastIndex(isReply);
		if (otherTurn || (change !== -1 && change < lastText)) return UNCERTAIN;
		return { reply: texts.map(({ content }) => content).join('\n\n'), source: 'events' };
	}

	/** By its ID, else as the only message with that text, where it is new or its result follows. */
	private ownMessage({ messageIds, isNew }: WantedTurn, result: TurnResult | null): Message | null {
		const { sentText } = this;
		const alike = this.entries
			.filter((entry): entry is Message => entry.kind === 'user')
			.filter(({ content }) => sentText === null || content.trim() === sentText.trim());
		const known = alike.find(({ id }) => messageIds.some((one) => one === id));
		const [only] = alike;
		if (known !== undefined || only === undefined || alike.length > 1) return known ?? null;
		const resultAt = this.entries.findIndex(
			(entry) => entry.kind === 'result' && entry.result === result,
		);
		return isNew || resultAt > this.entries.indexOf(only) ? only : null;
	}

	private namedBy(result: TurnResult | null, { messageIds }: WantedTurn): Message | undefined {
		const id = result?.message_id ?? null;
		if (id === null || messageIds.includes(id)) return undefined;
		const isSent = this.entries.some((entry) => entry.kind === 'user' && entry.id === id);
		return isSent ? undefined : this.entries.filter(isReply).find((entry) => entry.id === id);
	}

	/** The results that name the turn, or the one that it was merged into. */
	private resultsOfTurn(wanted: WantedTurn): TurnResult[] {
		const whole = this.resultOf(wanted);
		const turns = whole === null ? [] : turnsOf(whole);
		return this.results.filter((result) => turnsOf(result).some((id) => turns.includes(id)));
	}

	/** A turn can be merged into another one in its turn. */
	private follow(turnId: string): TurnResult | null {
		const latest = new Map(this.results.map((result) => [result.turn_id, result]));
		const passed = new Set<string>();
		let wanted = turnId;
		for (;;) {
			const result = latest.get(wanted);
			if (result === undefined) return null;
			passed.add(wanted);
			const next = result.merged_into;
			if (next === null || passed.has(next)) return result;
			wanted = next;
		}
	}
}

const UNCERTAIN: TiedReply = { reply: null, source: 'uncertain' };

const TOO_LARGE: TiedReply = { reply: null, source: 'too_large' };

const NONE: TiedReply = { reply: null, source: 'none' };

type Read = Entry extends infer E ? (E extends Entry ? Omit<E, 'ts'> : never) : never;

function readEntry(event: ChatEvent): Read | null {
	switch (event.type) {
		case 'turn_result':
			return { kind: 'result', result: readTurnResult(event) };
		case 'nudge_sent':
		case 'auto_resume_fired':
			return { kind: 'proactive' };
		case 'mode_changed':
			return { kind: 'handover' };
		case 'message_received': {
			const { id, role, content, created_at: createdAt } = readMessage(event);
			if ((role !== 'user' && role !== 'ai') || content === null) return null;
			return { kind: role, id, content, createdAt: timeOf(createdAt) };
		}
		default:
			return null;
	}
}

function isReply(entry: Entry): entry is Message {
	return entry.kind === 'ai';
}

/** From before the own message, and only replayed after it. */
function isOlder(entry: Entry, own: Message): boolean {
	const createdAt = 'createdAt' in entry ? entry.createdAt : NaN;
	return entry.ts < own.ts || createdAt < own.createdAt;
}

function turnsOf({ turn_id: id, merged_into: into }: TurnResult): string[] {
	return [id, into].filter((one) => one !== null);
}

/** Times are compared with each other only, so their unit is of no matter. */
function timeOf(value: JsonValue | undefined): number {
	if (typeof value === 'number') return value;
	return typeof value === 'string' ? Date.parse(value) : NaN;
}
