import { backoffMs, pause, type Clock } from '../clock';
import { outgoingFrame } from './acks';
import type { ChatConnection, MissingAck, SendResult } from './connection';
import type { Ack, ClientFrame } from './frames';
import { CHAT_BACKOFF } from './reconnectPolicy';

/** The ack of a turn that completes inline arrives only after the agent's reply. */
export const ACK_TIMEOUT_MS = 120_000;

/** `busy` is "safe to retry". */
const MAX_BUSY_RETRIES = 5;

/** Resends of a frame without an ack. Only frames with an idempotency key are sent again. */
const MAX_RESENDS = 2;

export interface TurnOptions {
	clock: Clock;
	random: () => number;
	/** Maximum wait for the ack of one frame. */
	ackTimeoutMs?: number;
}

export type TurnOutcome =
	/** `missingBefore`: an earlier attempt got no ack, so only an accepting ack settles the outcome. */
	| { kind: 'ack'; ack: Ack; missingBefore: MissingAck | null }
	/** Sent, but the outcome is unknown. `hasKey`: it has an idempotency key, so sending again is safe. */
	| { kind: 'unknown'; why: MissingAck; hasKey: boolean }
	| Extract<SendResult, { kind: 'not_sent' }>;

/**
 * Sends one frame and waits for its ack. Sends it again only if that is safe: after `busy`, and after a missing ack if it
 * has an idempotency key.
 */
export async function sendTurn(
	{ connection, signal }: { connection: ChatConnection; signal: AbortSignal },
	frame: ClientFrame,
	{ clock, random, ackTimeoutMs = ACK_TIMEOUT_MS }: TurnOptions,
): Promise<TurnOutcome> {
	const outgoing = outgoingFrame(frame);
	const hasKey = frame.idempotency_key !== undefined;
	let missing: MissingAck | null = null;
	let busy = 0;
	let resends = 0;
	const release = await connection.acquireSend(signal);
	try {
		for (;;) {
			const result = await connection.sendWithAck(outgoing, ackTimeoutMs, signal);
			if (result.kind === 'ack') {
				const { ack } = result;
				if (ack.state !== 'busy' || busy >= MAX_BUSY_RETRIES) {
					return { kind: 'ack', ack, missingBefore: missing };
				}
				busy += 1;
				await pause(clock, backoffMs(CHAT_BACKOFF, busy, random), signal);
				continue;
			}
			if (result.kind === 'not_sent') {
				if (missing === null) return result;
				const isClosed = result.ending?.kind === 'session_closed';
				return { kind: 'unknown', why: isClosed ? 'session_closed' : missing, hasKey };
			}
			missing = result.why;
			// The ack of another attempt couldn't be matched either, and a closed session accepts none.
			const mayHelp = missing === 'no_ack' || missing === 'lost';
			if (!hasKey || !mayHelp || resends >= MAX_RESENDS) {
				return { kind: 'unknown', why: missing, hasKey };
			}
			resends += 1;
		}
	} finally {
		release();
	}
}
