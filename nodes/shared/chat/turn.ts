import { backoffMs, DONE, pause, type Clock } from '../clock';
import type { AckResult, Readiness } from './ackWaiter';
import { type Ack, type ClientFrame, idText } from './frames';
import { ReplyWatch, replyInAck, type AwaitedReply, type EventLink } from './replyWatch';
import {
	ACK_TIMEOUT_MS,
	EARLIER_RESULT_TIMEOUT_MS,
	MAX_BUSY_RETRIES,
	MAX_RESENDS,
	RECONNECT_BACKOFF,
	RESULT_TIMEOUT_MS,
} from './timings';
import { type OutgoingFrame, outgoingFrame } from './sentFrames';
import type { JsonValue } from '../json';

/** What a turn needs of a connection; `ChatLease` and `ChatConnection` are such. */
export interface TurnLink extends EventLink {
	/** Waits until it is one's turn to send, and returns what ends it. */
	acquireSend(): Promise<() => void>;
	/** Sends a frame and waits for its ack until the time is over. */
	sendWithAck(frame: OutgoingFrame, timeoutMs: number): Promise<AckResult>;
}

export interface TurnOptions {
	clock: Clock;
	random: () => number;
	/** How long the ack of one frame is waited for. */
	ackTimeoutMs?: number;
	/** How long the `turn_result` of a merged turn is waited for. */
	resultTimeoutMs?: number;
}

/** How an attempt can end without its ack. */
type UnknownFate = 'no_ack' | 'lost' | 'unproved';

/** One kind for each ack state, and three for what happens without an ack. */
export type TurnOutcome =
	| { kind: 'completed'; ack: Ack; reply: string | null }
	| ({ kind: 'replayed'; ack: Ack } & AwaitedReply)
	| ({ kind: 'merged'; ack: Ack } & AwaitedReply)
	/** Still busy after all retries: surely not taken. */
	| { kind: 'busy'; ack: Ack; tries: number }
	/** `code` is one of `INVALID_CODES` or something newer. */
	| { kind: 'invalid'; ack: Ack; code: string | null }
	| { kind: 'failed'; ack: Ack }
	/** A state the document does not list, with an `error`, of which `originalMessage` is the text. */
	| { kind: 'rejected'; ack: Ack; originalMessage: string }
	/** A state the document does not list, without one. */
	| { kind: 'unrecognized'; ack: Ack }
	/**
	 * Sent, but whether it was taken is not known; `too_large`: its ack may have been too large to be read. `keyed`: with an
	 * idempotency key, so sending again is safe. `rejection`: how a later attempt was rejected, after one of unknown fate.
	 */
	| { kind: 'unknown'; why: UnknownFate | 'too_large'; keyed: boolean; rejection?: string }
	| { kind: 'not_sent'; readiness: Exclude<Readiness, { kind: 'open' }> };

/**
 * Sends one frame and sees it through. It is sent again only when that is safe: after `busy`, and after a missing ack if
 * it has an idempotency key. Everything else is reported as what it is.
 */
export async function sendTurn(
	link: TurnLink,
	frame: ClientFrame,
	options: TurnOptions,
): Promise<TurnOutcome> {
	const endTurn = await link.acquireSend();
	const watch = new ReplyWatch(link);
	const out = outgoingFrame(frame);
	try {
		const written = await write({ link, frame, out, options }).finally(endTurn);
		const { exchange, ...attempts } = written;
		if (exchange.kind === 'ack') {
			const { ack } = exchange;
			return await outcomeOf({ link, frame, out, options, watch, ack, ...attempts });
		}
		const { lost } = attempts;
		return exchange.kind === 'not_sent' && lost === null
			? { kind: 'not_sent', readiness: exchange.readiness }
			: unknownOutcome(watch.hasGap ? 'too_large' : (lost ?? 'lost'), frame);
	} finally {
		watch.end();
	}
}

interface WrittenFrame {
	exchange: AckResult;
	/** How an earlier attempt was lost: its fate is unknown unless a later ack tells it. */
	lost: UnknownFate | null;
	/** An earlier execution lost one, too. */
	isRepeat: boolean;
	tries: number;
}

interface Turn {
	link: TurnLink;
	frame: ClientFrame;
	out: OutgoingFrame;
	options: TurnOptions;
}

async function write({ link, frame, out, options }: Turn): Promise<WrittenFrame> {
	const { clock, random, ackTimeoutMs = ACK_TIMEOUT_MS } = options;
	const keyed = frame.idempotency_key !== undefined;
	let lost: WrittenFrame['lost'] = null;
	let isRepeat = false;
	let busy = 0;
	let resends = 0;
	for (;;) {
		const exchange = await link.sendWithAck(out, ackTimeoutMs);
		const tries = 1 + busy + resends;
		if (exchange.kind === 'not_sent') return { exchange, lost, isRepeat, tries: tries - 1 };
		if (exchange.kind === 'ack') {
			isRepeat ||= exchange.isRepeat;
			const again = exchange.ack.state === 'busy' && busy < MAX_BUSY_RETRIES;
			if (!again) return { exchange, lost, isRepeat, tries };
			busy += 1;
			await pause(clock, backoffMs(RECONNECT_BACKOFF, busy, random), link.signal);
			continue;
		}
		lost = exchange.kind;
		// Another attempt proves no more than this one.
		const isUnproved = exchange.kind === 'unproved';
		if (!keyed || isUnproved || resends >= MAX_RESENDS) return { exchange, lost, isRepeat, tries };
		resends += 1;
	}
}

interface Acknowledged extends Turn, Omit<WrittenFrame, 'exchange'> {
	watch: ReplyWatch;
	ack: Ack;
}

async function outcomeOf(turn: Acknowledged): Promise<TurnOutcome> {
	const { ack, isRepeat, tries } = turn;
	const lost = turn.lost ?? (isRepeat ? 'lost' : null);
	const said = saidOf(ack.payload.error);
	switch (ack.state) {
		case 'default':
			return { kind: 'completed', ack, reply: ack.reply };
		case 'accepted':
			return { kind: 'replayed', ack, ...(await replayedReply(turn)) };
		case 'merged': {
			const ms = turn.options.resultTimeoutMs ?? RESULT_TIMEOUT_MS;
			return { kind: 'merged', ack, ...(await awaitReply(turn, ms)) };
		}
		case 'busy':
			// An attempt before it may have been taken.
			return lost === null ? { kind: 'busy', ack, tries } : unknownOutcome(lost, turn.frame);
		case 'invalid':
			return lost === null
				? { kind: 'invalid', ack, code: ack.error }
				: unknownOutcome(lost, turn.frame, said);
		case 'error':
			return lost === null ? { kind: 'failed', ack } : unknownOutcome(lost, turn.frame, said);
		default: {
			if (said === '') return { kind: 'unrecognized', ack };
			return lost === null
				? { kind: 'rejected', ack, originalMessage: said }
				: unknownOutcome(lost, turn.frame, said);
		}
	}
}

function saidOf(error: JsonValue | undefined): string {
	if (error === undefined || error === null || error === false) return '';
	return typeof error === 'string' ? error : JSON.stringify(error);
}

function unknownOutcome(
	why: UnknownFate | 'too_large',
	frame: ClientFrame,
	rejection?: string,
): TurnOutcome {
	const keyed = frame.idempotency_key !== undefined;
	return { kind: 'unknown', why, keyed, ...(rejection !== undefined && { rejection }) };
}

/** The turn was accepted before: by an earlier run, long ago, or by an attempt of ours a moment ago, whose reply is on its way. */
async function replayedReply(turn: Acknowledged): Promise<AwaitedReply> {
	const { ack, lost, options } = turn;
	if (ack.reply !== null) return replyInAck(ack.reply);
	const ms = options.resultTimeoutMs ?? RESULT_TIMEOUT_MS;
	return lost === null
		? await awaitReply(turn, Math.min(ms, EARLIER_RESULT_TIMEOUT_MS))
		: await fetchReply(turn, ms);
}

/**
 * A turn that ended inline has no result but the ack, and that was lost. With the key the frame can be sent again, and once
 * the turn has ended, its replay can contain the reply.
 */
async function fetchReply(turn: Acknowledged, ms: number): Promise<AwaitedReply> {
	const over = new AbortController();
	const awaited = awaitReply(turn, ms).finally(() => over.abort(DONE));
	const replayed = await Promise.race([replayWithReply(turn, over.signal), awaited]);
	over.abort(DONE);
	return replayed ?? (await awaited);
}

async function replayWithReply(
	{ link, out, options }: Acknowledged,
	over: AbortSignal,
): Promise<AwaitedReply | null> {
	const { clock, random, ackTimeoutMs = ACK_TIMEOUT_MS } = options;
	for (let repetition = 1; ; repetition++) {
		const isDue = await pause(clock, backoffMs(RECONNECT_BACKOFF, repetition, random), over);
		if (!isDue) return null;
		const replay = await link.sendWithAck(out, ackTimeoutMs);
		if (replay.kind === 'ack' && replay.ack.reply !== null) return replyInAck(replay.ack.reply);
	}
}

async function awaitReply({ ack, frame, watch, options }: Acknowledged, ms: number) {
	const messageIds = [frame.message_id, ack.payload.message_id]
		.map(idText)
		.filter((id) => id !== null);
	const wanted = { turnId: ack.mergedInto ?? ack.turnId, messageIds };
	return await watch.reply(wanted, { ms, clock: options.clock });
}
