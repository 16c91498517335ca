import type { Backoff } from '../clock';

/** A socket that neither opens nor closes within this time is given up. */
export const CONNECT_TIMEOUT_MS = 15_000;

/** How long our own close waits for the other side to agree. */
export const CLOSE_GRACE_MS = 2_000;

/**
 * A rejection (4401, 1008) can only arrive after the socket has opened, and replayed events arrive first of all.
 * Only a socket open for this long is written to and reported as connected.
 */
export const SETTLE_MS = 500;

/** A connection that held this long was healthy: all counts start anew. Longer than `SLOW_POLL_MS`, so that two clients taking a session from each other do stop. */
export const HEALTHY_AFTER_MS = 60_000;

/** "About 1, 2, 4, 8 seconds, capped at 30"; spread, so that many sessions do not return in step. */
export const RECONNECT_BACKOFF: Backoff = { firstMs: 1_000, maxMs: 30_000, jitter: 0.2 };

/** "Give up after a few attempts": about a minute of waiting in all. */
export const MAX_RECONNECT_ATTEMPTS = 6;

/** "When the agent is inactive (1008), poll slowly (about every 20 seconds)". */
export const SLOW_POLL_MS = 20_000;

/** Ten minutes of slow polling; the document sets no end to it. */
export const MAX_SLOW_POLLS = 30;

/** "The token expires 5 minutes after issue". */
export const TOKEN_LIFETIME_MS = 300_000;

/** A token that could not be renewed while the socket is open is asked for again after this time. */
export const TOKEN_RETRY_MS = 30_000;

/**
 * An open socket is replaced this often. The document has no ping, so this alone bounds how long a connection
 * that died silently goes unnoticed. The new socket is there before the old one goes.
 */
export const RENEW_CONNECTION_EVERY_MS = 270_000;

/**
 * A shared connection outlives the last action that used it by this much, so that the next execution finds it open. Shorter
 * than the first reconnect, so that an action of another process that was rejected meanwhile gets in then.
 */
export const LINGER_AFTER_ACTION_MS = 500;

/** A trigger whose workflow is published again comes back after a moment, and finds the connection and what came meanwhile. */
export const LINGER_AFTER_TRIGGER_MS = 3_000;

/** Events that trail behind `session_closed` are still taken. */
export const SESSION_CLOSED_LINGER_MS = 2_000;

/** A turn that completes inline is acknowledged when the agent has answered. */
export const ACK_TIMEOUT_MS = 120_000;

/** An ack that may be about an earlier frame gets its proof shortly after: another ack, or the customer's message. */
export const PROOF_TIMEOUT_MS = 10_000;

/** How long the `turn_result` of a merged turn is waited for. */
export const RESULT_TIMEOUT_MS = 120_000;

/** A turn accepted in an earlier run has most likely ended long ago. */
export const EARLIER_RESULT_TIMEOUT_MS = 5_000;

/** The agent's message may come shortly after the `turn_result` that names it. */
export const REPLY_LINGER_MS = 1_500;

/** `busy` is "safe to retry". */
export const MAX_BUSY_RETRIES = 5;

/** With an idempotency key a frame without an ack may be sent again. */
export const MAX_RESENDS = 2;
