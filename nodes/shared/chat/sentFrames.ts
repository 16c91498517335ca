import { randomUUID } from 'crypto';
import { shortFingerprint } from '../hash';
import { BoundedMap } from '../boundedMap';
import { type Ack, type ChatEvent, type ClientFrame, idText, readMessage } from './frames';
import { LATE_ACK_MS } from './timings';

export interface OutgoingFrame {
	/** The frame as JSON. */
	text: string;
	/** Echoed on the ack (Events › Chat WebSocket, "Frames sent by the client"). */
	messageId: string;
	/** Equal for frames that send the same message again. */
	messageKey: string;
	/** Null for the response to an interactive message. */
	contentHash: string | null;
}

/** 192 bits. */
const KEY_CHARS = 32;

const CONTENT_HASH_CHARS = 16;

/** Marks the message IDs that these nodes generate. */
const OWN_PREFIX = 'n8n-';

/**
 * Adds a `message_id`, because only an echoed ID shows which frame an ack is about. With an idempotency key the ID is the
 * same for every attempt, because the service may compare the frames.
 */
export function outgoingFrame(frame: ClientFrame): OutgoingFrame {
	const { message_id: given, ...rest } = frame;
	const hasKey = frame.idempotency_key !== undefined;
	const messageKey = hasKey ? shortFingerprint(rest, KEY_CHARS) : randomUUID();
	const messageId = given ?? `${OWN_PREFIX}${messageKey}`;
	const contentHash = frame.type === 'message' ? hashOf(frame.content) : null;
	return {
		text: JSON.stringify({ ...frame, message_id: messageId }),
		messageId,
		messageKey,
		contentHash,
	};
}

/**
 * `socket` counts the opened sockets. `order` counts the sent frames and received acks of a session. `writtenAt` is by
 * `clock.elapsed()`.
 */
type WrittenFrame = Omit<OutgoingFrame, 'text'> & {
	socket: number;
	order: number;
	writtenAt: number;
};
type ArrivedAck = { ack: Ack; socket: number; order: number };

/** Whether the current message has its ack. `unmatched`: an ack arrived that may be about it. */
export type Acknowledgement = { kind: 'matched'; ack: Ack } | { kind: 'unmatched' | 'none' };

/** Message IDs to remember for each session. */
const MAX_IDS = 1_000;

/** Acks to keep until something shows which frame they are about. */
const MAX_UNMATCHED = 20;

/**
 * The frames of a session that wait for an ack, including frames of earlier connections, because the service may send a
 * late ack on the next socket. An ack belongs to a frame if it echoes the frame's `message_id`, if it names a customer's
 * message with the frame's text, or if all other frames already have their ack.
 */
export class SentFrames {
	private unacknowledged: WrittenFrame[] = [];

	/** Message key by message ID. Null if several messages have the same ID. */
	private readonly messageKeys = new BoundedMap<string | null>(MAX_IDS);

	/** Content hashes of customers' messages that arrived while acks were outstanding, by the service's message ID. */
	private readonly customerContents = new BoundedMap<string>(MAX_IDS);

	private unmatched: ArrivedAck[] = [];

	private order = 0;

	/** Messages whose sender stopped waiting for the ack. */
	private readonly givenUp = new BoundedMap<true>(MAX_IDS);

	/** States of acks that echo message IDs. Such an ack with an unknown ID is about another client's frame. */
	private readonly echoingStates = new Set<string>();

	/** @param now by `clock.elapsed()` */
	add({ messageId, messageKey, contentHash }: OutgoingFrame, socket: number, now: number): void {
		this.forgetLost(socket, now);
		const knownKey = this.messageKeys.get(messageId);
		const isShared = knownKey !== undefined && knownKey !== messageKey;
		this.messageKeys.set(messageId, isShared ? null : messageKey);
		const order = this.order++;
		this.unacknowledged.push({ messageId, messageKey, contentHash, socket, order, writtenAt: now });
		if (this.unacknowledged.length > MAX_IDS) this.unacknowledged.shift();
	}

	/** Forgets frames of earlier sockets whose ack was lost, because they would make later acks uncertain. */
	private forgetLost(socket: number, now: number): void {
		const recent = this.unacknowledged.filter(
			(one) => one.socket >= socket || now - one.writtenAt < LATE_ACK_MS,
		);
		const since = recent[0]?.order ?? Infinity;
		// An ack since then may be about a lost frame or a recent one.
		if (this.unmatched.some(({ order }) => order > since)) return;
		this.unacknowledged = recent;
		this.unmatched = [];
	}

	/** The socket didn't accept the frame. */
	remove({ messageKey }: OutgoingFrame): void {
		const index = this.unacknowledged.findLastIndex((one) => one.messageKey === messageKey);
		this.unacknowledged = this.unacknowledged.filter((_one, at) => at !== index);
	}

	/** The sender stopped waiting for the ack. */
	giveUp({ messageKey }: OutgoingFrame): void {
		this.givenUp.set(messageKey, true);
	}

	/** Forgets frames whose ack has arrived, even if the acks can't be distinguished. Call it when no frame waits. */
	forgetMatched(): void {
		this.match(null);
	}

	/** Whether the service may have accepted an earlier frame of the message whose ack wasn't reported. */
	isGivenUp({ messageKey }: OutgoingFrame): boolean {
		return this.givenUp.has(messageKey);
	}

	/** @param messageKey of the message that waits for its ack */
	take(ack: Ack, socket: number, messageKey: string | null): Acknowledgement {
		this.unmatched.push({ ack, socket, order: this.order++ });
		if (this.unmatched.length > MAX_UNMATCHED) this.unmatched.shift();
		return this.match(messageKey);
	}

	/** A customer's message may show which frame an earlier ack is about. */
	noteEvent(event: ChatEvent, messageKey: string | null): Acknowledgement {
		if (event.type !== 'message_received' || this.unacknowledged.length === 0)
			return { kind: 'none' };
		const { id, role, content } = readMessage(event);
		if (id === null || role !== 'user' || content === null) return { kind: 'none' };
		this.customerContents.set(id, hashOf(content));
		return this.match(messageKey);
	}

	/** Assigns acks to frames until no more match is certain, because each match can make another one certain. */
	private match(messageKey: string | null): Acknowledgement {
		let own: Ack | null = null;
		for (let next = this.nextMatch(); next !== null; next = this.nextMatch()) {
			const { arrived, frame } = next;
			this.unmatched = this.unmatched.filter((one) => one !== arrived);
			if (frame === 'another') continue;
			this.unacknowledged = this.unacknowledged.filter((one) => one !== frame);
			if (frame.messageKey === messageKey) own ??= arrived.ack;
		}
		const mayBeOwn = this.unmatched.some((arrived) =>
			this.possibleFor(arrived).some((frame) => frame.messageKey === messageKey),
		);
		// Every frame has its ack, although it's unknown which one.
		if (messageKey === null && this.unmatched.length >= this.unacknowledged.length) {
			this.unacknowledged = [];
			this.unmatched = [];
		}
		if (own !== null) return { kind: 'matched', ack: own };
		return { kind: mayBeOwn ? 'unmatched' : 'none' };
	}

	private nextMatch() {
		for (const arrived of this.unmatched) {
			const frame = this.frameOf(arrived);
			if (frame !== null) return { arrived, frame };
		}
		return null;
	}

	/** Frames that were sent before the ack, on its socket or an earlier one. */
	private possibleFor({ socket, order }: ArrivedAck): WrittenFrame[] {
		return this.unacknowledged.filter((one) => one.socket <= socket && one.order < order);
	}

	private frameOf(arrived: ArrivedAck): WrittenFrame | 'another' | null {
		const { state, payload } = arrived.ack;
		const id = idText(payload.message_id);
		const messageKey = id === null ? undefined : this.messageKeys.get(id);
		if (typeof messageKey === 'string') {
			this.echoingStates.add(state);
			const own = this.unacknowledged.filter(
				(one) => one.messageKey === messageKey && one.order < arrived.order,
			);
			// The replay of a turn can have the message ID of the first frame with the idempotency key.
			return own.find((one) => one.messageId === id) ?? own[0] ?? 'another';
		}
		const possible = this.possibleFor(arrived);
		if (messageKey === null) return onlyOne(possible.filter((one) => one.messageId === id));
		const isForeign = id !== null && state !== 'accepted' && this.echoingStates.has(state);
		if (isForeign || id?.startsWith(OWN_PREFIX) === true) return 'another';
		const content = id === null ? undefined : this.customerContents.get(id);
		const areTexts = possible.every(({ contentHash }) => contentHash !== null);
		if (content !== undefined && areTexts) {
			const withContent = possible.filter(({ contentHash }) => contentHash === content);
			if (withContent.length > 0) return onlyOne(withContent);
		}
		return onlyOne(possible);
	}
}

function hashOf(text: string): string {
	return shortFingerprint(text, CONTENT_HASH_CHARS);
}

/** The oldest frame if all belong to the same message, otherwise null. */
function onlyOne(frames: WrittenFrame[]): WrittenFrame | 'another' | null {
	const [first] = frames;
	if (first === undefined) return 'another';
	return frames.every(({ messageKey }) => messageKey === first.messageKey) ? first : null;
}
