import { backoffMs, pause, type Clock } from '../clock';
import type { ChatConnection, SendResult } from './connection';
import { type Ack, type ClientFrame, outgoingFrame } from './frames';
import { CHAT_BACKOFF } from './reconnectPolicy';

/** The ack of a turn that completes inline arrives only after the agent's reply. */
export const ACK_TIMEOUT_MS = 120_000;

/** After `busy`, a message may be sent again. */
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
	/** `isRepeat`: an earlier attempt got no ack, so only an accepting ack settles the outcome. */
	| { kind: 'ack'; ack: Ack; isRepeat: boolean }
	/** Sent, but the outcome is unknown. `hasKey`: it has an idempotency key, so sending again is safe. */
	| { kind: 'unknown'; hasKey: boolean }
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
	let busy = 0;
	let unknown = 0;
	const release = await connection.acquireSend(signal);
	try {
		for (;;) {
			const result = await connection.sendWithAck(outgoing, ackTimeoutMs, signal);
			if (result.kind === 'ack') {
				const { ack } = result;
				if (ack.state !== 'busy' || busy >= MAX_BUSY_RETRIES) {
					return { kind: 'ack', ack, isRepeat: unknown > 0 };
				}
				busy += 1;
				await pause(clock, backoffMs(CHAT_BACKOFF, busy, random), signal);
				continue;
			}
			if (result.kind === 'not_sent' && unknown === 0) return result;
			if (result.kind === 'not_sent' || !hasKey || unknown >= MAX_RESENDS) {
				return { kind: 'unknown', hasKey };
			}
			unknown += 1;
		}
	} finally {
		release();
	}
}
