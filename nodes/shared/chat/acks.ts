import { randomUUID } from 'crypto';
import { shortFingerprint } from '../hash';
import { type Ack, type ClientFrame, idText } from './frames';

export interface OutgoingFrame {
	/** The frame as JSON. */
	text: string;
	/** Echoed on the ack (Events › Chat WebSocket, "Frames sent by the client"). */
	messageId: string;
	/** Equal for frames that send the same message again. */
	messageKey: string;
}

/** 192 bits. */
const KEY_CHARS = 32;

/** Marks the message IDs that these nodes generate. */
const OWN_PREFIX = 'n8n-';

/**
 * Adds a `message_id`, because only an echoed ID proves which frame an ack is about. With an idempotency key the ID is the
 * same for every attempt, because the service may compare the frames.
 */
export function outgoingFrame(frame: ClientFrame): OutgoingFrame {
	const { message_id: given, ...rest } = frame;
	const hasKey = frame.idempotency_key !== undefined;
	const messageKey = hasKey ? shortFingerprint(rest, KEY_CHARS) : randomUUID();
	const messageId = given ?? `${OWN_PREFIX}${messageKey}`;
	return { text: JSON.stringify({ ...frame, message_id: messageId }), messageId, messageKey };
}

/** Frames to remember for each session. */
const MAX_FRAMES = 100;

/** No ack of a frame is expected on a later socket after this time. Longer than a turn and the next two renewals take. */
const LATE_ACK_MS = 600_000;

/** `sentAt`: by `clock.elapsed()`. */
type SentFrame = { messageId: string; messageKey: string; sentAt: number };

/**
 * The sent frames of a session that got no ack. The document doesn't say that a late ack can't arrive on the next socket,
 * and shows `message_id` only on the acks of some states. So an ack that names no frame counts only while it can't be that
 * of an earlier frame.
 */
export class UnconfirmedFrames {
	private frames: SentFrame[] = [];

	/**
	 * @param now by `clock.elapsed()`
	 * @returns `remove`, for when the frame gets its ack
	 */
	add({ messageId, messageKey }: OutgoingFrame, now: number): () => void {
		const sent: SentFrame = { messageId, messageKey, sentAt: now };
		this.frames = [...this.frames, sent].slice(-MAX_FRAMES);
		return () => {
			this.frames = this.frames.filter((one) => one !== sent);
		};
	}

	/** Whether an ack is about this frame, which is the only one in flight. */
	match(ack: Ack, frame: OutgoingFrame, now: number): 'own' | 'another' | 'unclear' {
		const late = this.frames.filter(
			({ messageKey, sentAt }) => messageKey !== frame.messageKey && now - sentAt < LATE_ACK_MS,
		);
		const id = idText(ack.payload.message_id);
		const isOfLate = late.some(({ messageId }) => messageId === id);
		// The user can choose the same ID for several messages.
		if (id === frame.messageId) return isOfLate ? 'unclear' : 'own';
		if (isOfLate || id?.startsWith(OWN_PREFIX) === true) return 'another';
		return late.length > 0 ? 'unclear' : 'own';
	}
}
