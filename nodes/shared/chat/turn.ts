import { backoffMs, pause, type Clock } from '../clock';
import { outgoingFrame } from './acks';
import type { NotReady } from './connection';
import type { Ack, ClientFrame } from './frames';
import type { StopReason } from './eventDispatcher';
import { CHAT_BACKOFF } from './reconnectPolicy';
import type { ChatLease } from './sharedConnections';

/** The ack of a turn that completes inline arrives only after the agent's reply. */
export const ACK_TIMEOUT_MS = 120_000;

/** `busy` is "safe to retry". */
const MAX_BUSY_RETRIES = 5;

/** Resends of a frame without an ack. Only frames with an idempotency key are sent again. */
const MAX_RESENDS = 2;

/** The part of a connection that a turn needs. */
export type TurnLink = Pick<ChatLease, 'signal' | 'acquireSend' | 'sendWithAck'>;

export interface TurnOptions {
	clock: Clock;
	random: () => number;
	/** Maximum wait for the ack of one frame. */
	ackTimeoutMs?: number;
}

/** Why an ack is missing. */
export type MissingAck = 'no_ack' | 'lost' | 'unmatched' | 'session_closed' | StopReason;

export type TurnOutcome =
	/** `missingBefore`: an earlier attempt got no ack, so only an accepting ack settles the outcome. */
	| { kind: 'ack'; ack: Ack; missingBefore: MissingAck | null }
	/** Sent, but the outcome is unknown. `hasKey`: it has an idempotency key, so sending again is safe. */
	| { kind: 'unknown'; why: MissingAck; hasKey: boolean }
	| { kind: 'not_sent'; readiness: NotReady };

/**
 * Sends one frame and waits for its ack. Sends it again only if that is safe: after `busy`, and after a missing ack if it
 * has an idempotency key.
 */
export async function sendTurn(
	link: TurnLink,
	frame: ClientFrame,
	{ clock, random, ackTimeoutMs = ACK_TIMEOUT_MS }: TurnOptions,
): Promise<TurnOutcome> {
	const outgoing = outgoingFrame(frame);
	const hasKey = frame.idempotency_key !== undefined;
	let missing: MissingAck | null = null;
	let busy = 0;
	let resends = 0;
	const release = await link.acquireSend();
	try {
		for (;;) {
			const result = await link.sendWithAck(outgoing, ackTimeoutMs);
			if (result.kind === 'ack') {
				const { ack } = result;
				if (ack.state !== 'busy' || busy >= MAX_BUSY_RETRIES) {
					return { kind: 'ack', ack, missingBefore: missing };
				}
				busy += 1;
				await pause(clock, backoffMs(CHAT_BACKOFF, busy, random), link.signal);
				continue;
			}
			if (result.kind === 'not_sent') {
				const { readiness } = result;
				if (missing === null) return { kind: 'not_sent', readiness };
				return { kind: 'unknown', why: isClosed(readiness) ? 'session_closed' : missing, hasKey };
			}
			const isAborted = result.kind === 'aborted';
			missing = isAborted ? stopReasonOf(link.signal) : result.kind;
			// The ack of another attempt couldn't be matched either, and a closed session accepts none.
			const isFinal = isAborted || missing === 'unmatched' || missing === 'session_closed';
			if (!hasKey || isFinal || resends >= MAX_RESENDS) {
				return { kind: 'unknown', why: missing, hasKey };
			}
			resends += 1;
		}
	} finally {
		release();
	}
}

/** Why the sender stopped waiting. */
function stopReasonOf(signal: AbortSignal): StopReason | 'lost' {
	const reason: unknown = signal.reason;
	return reason === 'stopped' || reason === 'time_limit' ? reason : 'lost';
}

function isClosed(readiness: NotReady): boolean {
	return readiness.kind === 'ended' && readiness.ending.kind === 'session_closed';
}
