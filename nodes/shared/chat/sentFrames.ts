import { randomUUID } from 'crypto';
import { shortFingerprint } from '../hash';
import { BoundedMap } from '../boundedMap';
import { type Ack, type ChatEvent, type ClientFrame, idText, readMessage } from './frames';

/** One frame as it goes out. */
export interface OutgoingFrame {
	text: string;
	/** Echoed on the ack ("Frames sent by the client"). */
	messageId: string;
	/** The same for frames that send the same message again. */
	message: string;
	/** The name of its text; null for an answer to an interactive message. */
	textName: string | null;
}

/** Characters: 192 bits. */
const KEY_NAME = 32;

/** Characters of the name of a text, by which two texts are compared. */
const TEXT_NAME = 16;

/** Tells the message IDs of these nodes from those of other clients. */
const OWN_PREFIX = 'n8n-';

/**
 * The frame with a `message_id`, because only an echoed one shows which frame an ack is about. With an idempotency key it
 * is the same each time, because the service may compare the frames.
 */
export function outgoingFrame(frame: ClientFrame): OutgoingFrame {
	const { message_id: given, ...rest } = frame;
	const isKeyed = frame.idempotency_key !== undefined;
	const message = isKeyed ? shortFingerprint(rest, KEY_NAME) : randomUUID();
	const messageId = given ?? `${OWN_PREFIX}${message}`;
	const textName = frame.type === 'message' ? nameOf(frame.content) : null;
	return {
		text: JSON.stringify({ ...frame, message_id: messageId }),
		messageId,
		message,
		textName,
	};
}

/** Sockets are numbered as they are opened, frames and acks of a session as they are sent and arrive. */
type WrittenFrame = Omit<OutgoingFrame, 'text'> & { socket: number; order: number };
type ArrivedAck = { ack: Ack; socket: number; order: number };

/** What an ack shows about the message that is waited for; `unproved`: there is an ack that may be about it. */
export type Acknowledgement = { kind: 'own'; ack: Ack } | { kind: 'unproved' | 'none' };

/** Message IDs that are remembered for each session. */
const MAX_IDS = 1_000;

/** Acks that are kept until something shows which frame they are about. */
const MAX_UNMATCHED = 20;

/**
 * The frames of a session whose acks haven't come, also of connections that have ended: a service may send the ack of a
 * lost frame on the session's next socket. An ack proves something about a frame if it echoes the frame's `message_id`,
 * if it names a customer's message with the frame's text, or if every other frame has its one ack already.
 */
export class SentFrames {
	private missing: WrittenFrame[] = [];

	/** By message ID: the message, or null if several messages have the same ID. */
	private readonly messages = new BoundedMap<string | null>(MAX_IDS);

	/** The names of what customers said while acks were missing, by the service's ID of the message. */
	private readonly said = new BoundedMap<string>(MAX_IDS);

	/** Acks that nothing assigns to a frame. */
	private unmatched: ArrivedAck[] = [];

	private order = 0;

	/** Messages of which a frame was given up without its ack. */
	private readonly givenUp = new BoundedMap<true>(MAX_IDS);

	/** The states of acks that echo message IDs: such an ack with an unknown ID is about another client's frame. */
	private readonly echoing = new Set<string>();

	add({ messageId, message, textName }: OutgoingFrame, socket: number): void {
		const before = this.messages.get(messageId);
		const isShared = before !== undefined && before !== message;
		this.messages.set(messageId, isShared ? null : message);
		this.missing.push({ messageId, message, textName, socket, order: this.order++ });
		if (this.missing.length > MAX_IDS) this.missing.shift();
	}

	/** The socket did not take it. */
	remove({ message }: OutgoingFrame): void {
		const index = this.missing.findLastIndex((one) => one.message === message);
		this.missing = this.missing.filter((_one, at) => at !== index);
	}

	/** Nobody is told of the frame's ack any more. */
	giveUp({ message }: OutgoingFrame): void {
		this.givenUp.set(message, true);
	}

	/** No frame waits for its ack any longer. */
	rest(): void {
		this.match(null);
	}

	/** Whether an earlier frame of the message may have been taken, and nobody was told. */
	isGivenUp({ message }: OutgoingFrame): boolean {
		return this.givenUp.has(message);
	}

	/** Takes an ack, and returns what is known now about the message that is waited for. */
	take(ack: Ack, socket: number, message: string | null): Acknowledgement {
		this.unmatched.push({ ack, socket, order: this.order++ });
		if (this.unmatched.length > MAX_UNMATCHED) this.unmatched.shift();
		return this.match(message);
	}

	/** Takes a message of a customer, which may show what an ack that came before is about. */
	noteEvent(event: ChatEvent, message: string | null): Acknowledgement {
		if (event.type !== 'message_received' || this.missing.length === 0) return { kind: 'none' };
		const { id, role, content } = readMessage(event);
		if (id === null || role !== 'user' || content === null) return { kind: 'none' };
		this.said.set(id, nameOf(content));
		return this.match(message);
	}

	/** Assigns each ack for which that is certain; an ack that is assigned can make another one certain. */
	private match(message: string | null): Acknowledgement {
		let own: Ack | null = null;
		for (let next = this.nextMatch(); next !== null; next = this.nextMatch()) {
			const { arrived, frame } = next;
			this.unmatched = this.unmatched.filter((one) => one !== arrived);
			if (frame === 'another') continue;
			this.missing = this.missing.filter((one) => one !== frame);
			if (frame.message === message) own ??= arrived.ack;
		}
		const isUnproved = this.unmatched.some((arrived) =>
			this.possibleFor(arrived).some((frame) => frame.message === message),
		);
		// Every frame has its ack by now, though nobody knows which.
		if (message === null && this.unmatched.length >= this.missing.length) {
			this.missing = [];
			this.unmatched = [];
		}
		if (own !== null) return { kind: 'own', ack: own };
		return { kind: isUnproved ? 'unproved' : 'none' };
	}

	private nextMatch() {
		for (const arrived of this.unmatched) {
			const frame = this.frameOf(arrived);
			if (frame !== null) return { arrived, frame };
		}
		return null;
	}

	/** A frame is acknowledged after it was sent, on its own socket or on a later one. */
	private possibleFor({ socket, order }: ArrivedAck): WrittenFrame[] {
		return this.missing.filter((one) => one.socket <= socket && one.order < order);
	}

	private frameOf(arrived: ArrivedAck): WrittenFrame | 'another' | null {
		const { state, payload } = arrived.ack;
		const id = idText(payload.message_id);
		const message = id === null ? undefined : this.messages.get(id);
		if (typeof message === 'string') {
			this.echoing.add(state);
			const own = this.missing.filter(
				(one) => one.message === message && one.order < arrived.order,
			);
			// The replay of a turn can have the ID of the first frame with the key.
			return own.find((one) => one.messageId === id) ?? own[0] ?? 'another';
		}
		const possible = this.possibleFor(arrived);
		if (message === null) return onlyOne(possible.filter((one) => one.messageId === id));
		const isForeign = id !== null && state !== 'accepted' && this.echoing.has(state);
		if (isForeign || id?.startsWith(OWN_PREFIX) === true) return 'another';
		const said = id === null ? undefined : this.said.get(id);
		const areTexts = possible.every(({ textName }) => textName !== null);
		if (said !== undefined && areTexts) {
			const named = possible.filter(({ textName }) => textName === said);
			if (named.length > 0) return onlyOne(named);
		}
		return onlyOne(possible);
	}
}

function nameOf(text: string): string {
	return shortFingerprint(text, TEXT_NAME);
}

/** The oldest frame if all are of the same message, and null if they aren't. */
function onlyOne(frames: WrittenFrame[]): WrittenFrame | 'another' | null {
	const [first] = frames;
	if (first === undefined) return 'another';
	return frames.every(({ message }) => message === first.message) ? first : null;
}
