import { backoffMs, DONE, pause, type Clock } from '../clock';
import type { AckResult, NotReady } from './ackWaiter';
import { type Ack, type ClientFrame, errorText, idText } from './frames';
import {
	ReplyWatch,
	replyInAck,
	type AwaitedReply,
	type EventLink,
	type StopReason,
} from './replyWatch';
import {
	ACK_TIMEOUT_MS,
	REPLAYED_RESULT_TIMEOUT_MS,
	MAX_BUSY_RETRIES,
	MAX_RESENDS,
	CHAT_BACKOFF,
	RESULT_TIMEOUT_MS,
} from './timings';
import { type OutgoingFrame, outgoingFrame } from './sentFrames';

/** The part of a connection that a turn needs, such as `ChatLease` or `ChatConnection`. */
export interface TurnLink extends EventLink {
	/** Waits until no other send is in progress, and returns `release`. */
	acquireSend(): Promise<() => void>;
	/**
	 * Sends a frame and waits for its ack.
	 *
	 * @param onWrite called right before the frame is written to a socket
	 */
	sendWithAck(frame: OutgoingFrame, timeoutMs: number, onWrite?: () => void): Promise<AckResult>;
}

export interface TurnOptions {
	clock: Clock;
	random: () => number;
	/** Maximum wait for the ack of one frame. */
	ackTimeoutMs?: number;
	/** Maximum wait for the `turn_result` of a merged turn. */
	resultTimeoutMs?: number;
}

/** How an attempt ends without an ack. */
type MissingAck = 'no_ack' | 'lost' | 'unmatched' | 'session_closed' | StopReason;

/** One kind for each ack state (Events › Chat WebSocket), and others for a missing ack. */
export type TurnOutcome =
	| { kind: 'completed'; ack: Ack; reply: string | null }
	| ({ kind: 'replayed'; ack: Ack } & AwaitedReply)
	| ({ kind: 'merged'; ack: Ack } & AwaitedReply)
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
	const watch = new ReplyWatch(link);
	const outgoing = outgoingFrame(frame);
	try {
		const sent = await send({ link, frame, outgoing, options, watch }).finally(release);
		const { result, ...attempts } = sent;
		if (result.kind === 'ack') {
			const { ack } = result;
			return await outcomeOf({ link, frame, outgoing, options, watch, ack, ...attempts });
		}
		const { missingAck } = attempts;
		return result.kind === 'not_sent' && missingAck === null
			? { kind: 'not_sent', readiness: result.readiness }
			: unknownOutcome(watch.hasUnreadFrame ? 'too_large' : (missingAck ?? 'lost'), frame);
	} finally {
		watch.end();
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
	outgoing: OutgoingFrame;
	options: TurnOptions;
	watch: ReplyWatch;
}

async function send({ link, frame, outgoing, options, watch }: Turn): Promise<SendResult> {
	const { clock, random, ackTimeoutMs = ACK_TIMEOUT_MS } = options;
	const hasKey = frame.idempotency_key !== undefined;
	const onWrite = () => {
		watch.noteSent();
		// With a key, an earlier execution may have sent the message, so its reply may be among the replayed events.
		if (!hasKey) watch.forgetEarlier();
	};
	let missingAck: MissingAck | null = null;
	let isRepeat = false;
	let busy = 0;
	let resends = 0;
	for (;;) {
		const result = await link.sendWithAck(outgoing, ackTimeoutMs, onWrite);
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
		missingAck = isAborted ? (link.stopReason ?? 'lost') : result.kind;
		// The ack of another attempt couldn't be matched either, and a closed session accepts none.
		const isFinal = isAborted || result.kind === 'unmatched' || result.kind === 'session_closed';
		if (!hasKey || isFinal || resends >= MAX_RESENDS) {
			return { result, missingAck, isRepeat, attempts };
		}
		resends += 1;
	}
}

function isSessionClosed(readiness: NotReady): boolean {
	return readiness.kind === 'ended' && readiness.ending.kind === 'session_closed';
}

interface Acknowledged extends Turn, Omit<SendResult, 'result'> {
	ack: Ack;
}

async function outcomeOf(turn: Acknowledged): Promise<TurnOutcome> {
	const { ack, isRepeat, attempts } = turn;
	const missingAck = turn.missingAck ?? (isRepeat ? 'lost' : null);
	const error = errorText(ack);
	switch (ack.state) {
		case 'default':
			return { kind: 'completed', ack, reply: ack.reply };
		case 'accepted':
			return { kind: 'replayed', ack, ...(await replayedReply(turn)) };
		case 'merged': {
			const ms = turn.options.resultTimeoutMs ?? RESULT_TIMEOUT_MS;
			// The service accepts a message that it knew before with another state.
			if (missingAck === null) turn.watch.forgetEarlier();
			return { kind: 'merged', ack, ...(await awaitReply(turn, ms)) };
		}
		case 'busy':
			// An earlier attempt may have been accepted.
			return missingAck === null
				? { kind: 'busy', ack, attempts }
				: unknownOutcome(missingAck, turn.frame);
		case 'invalid':
			return missingAck === null
				? { kind: 'invalid', ack, code: error }
				: unknownOutcome(missingAck, turn.frame, error ?? '');
		case 'error':
			return missingAck === null
				? { kind: 'failed', ack }
				: unknownOutcome(missingAck, turn.frame, error ?? '');
		default: {
			if (error === null) return { kind: 'unrecognized', ack };
			return missingAck === null
				? { kind: 'rejected', ack, originalMessage: error }
				: unknownOutcome(missingAck, turn.frame, error);
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

/** The service accepted the turn before, in an earlier execution or in an attempt of this one whose ack is missing. */
async function replayedReply(turn: Acknowledged): Promise<AwaitedReply> {
	const { ack, missingAck, options } = turn;
	const reply = replyOf(ack);
	if (reply !== null) return replyInAck(reply);
	const ms = options.resultTimeoutMs ?? RESULT_TIMEOUT_MS;
	return missingAck === null
		? await awaitReply(turn, Math.min(ms, REPLAYED_RESULT_TIMEOUT_MS))
		: await fetchReply(turn, ms);
}

/** Only a turn that completed inline certainly has its reply in the ack, so "" in another state can be a placeholder. */
function replyOf({ state, reply }: Ack): string | null {
	return reply === '' && state !== 'default' ? null : reply;
}

/**
 * A turn that completes inline has no result except its ack, which is missing. Sends the frame again with its key, because
 * the ack of the replay can contain the reply once the turn has ended.
 */
async function fetchReply(turn: Acknowledged, ms: number): Promise<AwaitedReply> {
	const done = new AbortController();
	const awaited = awaitReply(turn, ms).finally(() => done.abort(DONE));
	const replayed = await Promise.race([replayWithReply(turn, done.signal), awaited]);
	done.abort(DONE);
	return replayed ?? (await awaited);
}

async function replayWithReply(
	{ link, outgoing, options }: Acknowledged,
	done: AbortSignal,
): Promise<AwaitedReply | null> {
	const { clock, random, ackTimeoutMs = ACK_TIMEOUT_MS } = options;
	for (let repetition = 1; ; repetition++) {
		const isDue = await pause(clock, backoffMs(CHAT_BACKOFF, repetition, random), done);
		if (!isDue) return null;
		const replay = await link.sendWithAck(outgoing, ackTimeoutMs);
		const reply = replay.kind === 'ack' ? replyOf(replay.ack) : null;
		if (reply !== null) return replyInAck(reply);
	}
}

async function awaitReply({ ack, frame, watch, options }: Acknowledged, ms: number) {
	const messageIds = [frame.message_id, ack.payload.message_id]
		.map(idText)
		.filter((id) => id !== null);
	const wanted = { turnId: ack.mergedInto ?? ack.turnId, messageIds };
	return await watch.reply(wanted, { ms, clock: options.clock });
}
