import { backoffMs, pause, type Clock } from '../clock';
import { type OutgoingFrame, outgoingFrame } from './acks';
import type { AckResult, NotReady } from './connection';
import { type Ack, type ClientFrame, errorText } from './frames';
import type { EventLink, StopReason } from './eventDispatcher';
import { ACK_TIMEOUT_MS, CHAT_BACKOFF, MAX_BUSY_RETRIES, MAX_RESENDS } from './timings';

/** The part of a connection that a turn needs, such as `ChatLease` or `ChatConnection`. */
export interface TurnLink extends EventLink {
	/** Waits until no other send is in progress, and returns `release`. */
	acquireSend(): Promise<() => void>;
	/** Sends a frame and waits for its ack. */
	sendWithAck(frame: OutgoingFrame, timeoutMs: number): Promise<AckResult>;
}

export interface TurnOptions {
	clock: Clock;
	random: () => number;
	/** Maximum wait for the ack of one frame. */
	ackTimeoutMs?: number;
}

/** How an attempt ends without an ack. */
type MissingAck = 'no_ack' | 'lost' | 'unmatched' | 'session_closed' | StopReason;

/** One kind for each ack state (Events › Chat WebSocket), and others for a missing ack. */
export type TurnOutcome =
	| { kind: 'completed'; ack: Ack }
	/** Replayed or merged: the reply comes in an event, or in the ack of another frame. */
	| { kind: 'accepted'; ack: Ack }
	/** Still busy after all retries, so the message wasn't accepted. */
	| { kind: 'busy'; ack: Ack; attempts: number }
	/** `code` is one of `INVALID_CODES`, or one that isn't documented. */
	| { kind: 'invalid'; ack: Ack; code: string | null }
	| { kind: 'failed'; ack: Ack }
	/** A state that isn't documented, with an `error`. */
	| { kind: 'rejected'; ack: Ack; originalMessage: string }
	/** A state that isn't documented, without an `error`. */
	| { kind: 'unrecognized'; ack: Ack }
	/**
	 * Sent, but the outcome is unknown. `too_large`: the ack may have been too large to read. `hasKey`: it has an idempotency
	 * key, so sending again is safe. `rejection`: a later attempt was rejected.
	 */
	| { kind: 'unknown'; why: MissingAck | 'too_large'; hasKey: boolean; rejection?: string }
	| { kind: 'not_sent'; readiness: NotReady };

/**
 * Sends one frame and waits for its outcome. Sends it again only if that is safe: after `busy`, and after a missing ack if
 * it has an idempotency key.
 */
export async function sendTurn(
	link: TurnLink,
	frame: ClientFrame,
	options: TurnOptions,
): Promise<TurnOutcome> {
	const release = await link.acquireSend();
	const unread = { frames: 0 };
	const unsubscribe = link.subscribe(
		() => {},
		() => unread.frames++,
	);
	try {
		const sent = await send({ link, frame, options }).finally(release);
		const { result, ...attempts } = sent;
		if (result.kind === 'ack') return outcomeOf(frame, result.ack, attempts);
		const { missingAck } = attempts;
		return result.kind === 'not_sent' && missingAck === null
			? { kind: 'not_sent', readiness: result.readiness }
			: unknownOutcome(unread.frames > 0 ? 'too_large' : (missingAck ?? 'lost'), frame);
	} finally {
		unsubscribe();
	}
}

interface SendResult {
	result: AckResult;
	/** An attempt without an ack. Its outcome is unknown unless a later ack shows it. */
	missingAck: MissingAck | null;
	/** An earlier execution had one, too. */
	isRepeat: boolean;
	attempts: number;
}

interface Turn {
	link: TurnLink;
	frame: ClientFrame;
	options: TurnOptions;
}

async function send({ link, frame, options }: Turn): Promise<SendResult> {
	const { clock, random, ackTimeoutMs = ACK_TIMEOUT_MS } = options;
	const outgoing = outgoingFrame(frame);
	const hasKey = frame.idempotency_key !== undefined;
	let missingAck: MissingAck | null = null;
	let isRepeat = false;
	let busy = 0;
	let resends = 0;
	for (;;) {
		const result = await link.sendWithAck(outgoing, ackTimeoutMs);
		const attempts = 1 + busy + resends;
		if (result.kind === 'not_sent') {
			if (missingAck !== null && isSessionClosed(result.readiness)) missingAck = 'session_closed';
			return { result, missingAck, isRepeat, attempts: attempts - 1 };
		}
		if (result.kind === 'ack') {
			isRepeat ||= result.isRepeat;
			const again = result.ack.state === 'busy' && busy < MAX_BUSY_RETRIES;
			if (!again) return { result, missingAck, isRepeat, attempts };
			busy += 1;
			await pause(clock, backoffMs(CHAT_BACKOFF, busy, random), link.signal);
			continue;
		}
		const isAborted = result.kind === 'aborted';
		missingAck = isAborted ? stopReasonOf(link.signal) : result.kind;
		// The ack of another attempt couldn't be matched either, and a closed session accepts none.
		const isFinal = isAborted || result.kind === 'unmatched' || result.kind === 'session_closed';
		if (!hasKey || isFinal || resends >= MAX_RESENDS) {
			return { result, missingAck, isRepeat, attempts };
		}
		resends += 1;
	}
}

/** Why the sender stopped waiting. */
function stopReasonOf(signal: AbortSignal): StopReason | 'lost' {
	const reason: unknown = signal.reason;
	return reason === 'stopped' || reason === 'time_limit' ? reason : 'lost';
}

function isSessionClosed(readiness: NotReady): boolean {
	return readiness.kind === 'ended' && readiness.ending.kind === 'session_closed';
}

function outcomeOf(
	frame: ClientFrame,
	ack: Ack,
	{ isRepeat, attempts, ...sent }: Omit<SendResult, 'result'>,
): TurnOutcome {
	const missingAck = sent.missingAck ?? (isRepeat ? 'lost' : null);
	const error = errorText(ack);
	switch (ack.state) {
		case 'default':
			return { kind: 'completed', ack };
		case 'accepted':
		case 'merged':
			return { kind: 'accepted', ack };
		case 'busy':
			// An earlier attempt may have been accepted.
			return missingAck === null
				? { kind: 'busy', ack, attempts }
				: unknownOutcome(missingAck, frame);
		case 'invalid':
			return missingAck === null
				? { kind: 'invalid', ack, code: error }
				: unknownOutcome(missingAck, frame, error ?? '');
		case 'error':
			return missingAck === null
				? { kind: 'failed', ack }
				: unknownOutcome(missingAck, frame, error ?? '');
		default: {
			if (error === null) return { kind: 'unrecognized', ack };
			return missingAck === null
				? { kind: 'rejected', ack, originalMessage: error }
				: unknownOutcome(missingAck, frame, error);
		}
	}
}

function unknownOutcome(
	why: MissingAck | 'too_large',
	frame: ClientFrame,
	rejection?: string,
): TurnOutcome {
	const hasKey = frame.idempotency_key !== undefined;
	return { kind: 'unknown', why, hasKey, ...(rejection !== undefined && { rejection }) };
}
