import type { Backoff } from '../clock';

/** Timeout for opening a socket. */
export const CONNECT_TIMEOUT_MS = 15_000;

/** How long to wait for the service's close frame. */
export const CLOSE_GRACE_MS = 2_000;

/**
 * A socket counts as connected after it has been open for this long, because a rejection (4401, 1008) arrives only after
 * it opens, and replayed events arrive first.
 */
export const SETTLE_MS = 500;

/**
 * A connection that lasted this long resets all failure counts. Longer than `SLOW_POLL_MS`, so that two clients that
 * displace each other stop at some point. Shorter than the time after which most proxies close a quiet connection: 60
 * seconds, and some 55.
 */
export const HEALTHY_AFTER_MS = 45_000;

/**
 * "About 1, 2, 4, 8 seconds, capped at 30", with jitter, so that many sessions don't reconnect at the same moment. Also
 * for messages that are sent again, because the document has no other figures for the chat engine.
 */
export const CHAT_BACKOFF: Backoff = { firstMs: 1_000, maxMs: 30_000, jitter: 0.2 };

/** "When the agent is inactive (1008), poll slowly (about every 20 seconds)". */
export const SLOW_POLL_MS = 20_000;

/** After "a few attempts", a trigger never gives up, because the service may be down for hours. */
export const LOST_BACKOFF: Backoff = { firstMs: 60_000, maxMs: 900_000 };

/** After a connection of this length, the next loss is reported again. Much longer than the attempts before it. */
export const STABLE_AFTER_MS = 3_600_000;

/** "The token expires 5 minutes after issue". */
export const TOKEN_LIFETIME_MS = 300_000;

/** Shortest time between two requests for a token while the socket is open. */
export const TOKEN_RETRY_MS = 30_000;

/**
 * How long a shared connection stays open after its last action, so that the next item or execution can reuse it. Shorter
 * than the first reconnect, so that an action in another process gets through on its first retry.
 */
export const LINGER_MS = 500;

/** How long to accept events after `session_closed`. */
export const SESSION_CLOSED_LINGER_MS = 2_000;

/** The ack of a turn that completes inline arrives only after the agent's reply. */
export const ACK_TIMEOUT_MS = 120_000;

/** No ack of a frame is expected on a later socket after this time. Longer than a turn and the next two renewals take. */
export const LATE_ACK_MS = 600_000;

/** `busy` is "safe to retry". */
export const MAX_BUSY_RETRIES = 5;

/** Resends of a frame without an ack. Only frames with an idempotency key are sent again. */
export const MAX_RESENDS = 2;
