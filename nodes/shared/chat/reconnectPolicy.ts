import {
	asSentence,
	type ErrorFacts,
	ExplainedError,
	InvalidInput,
	isRejection,
	ServiceRejection,
} from '../api/errors';
import { onScreenOnly, USER, type Explanation } from '../api/resolution';
import { type Backoff, backoffMs } from '../clock';
import { messageOf } from '../values';
import type { SocketEnd } from './socket';

/**
 * "About 1, 2, 4, 8 seconds, capped at 30", with jitter, so that many sessions don't reconnect at the same moment. Also
 * for messages that are sent again, because the document has no other figures for the chat engine.
 */
export const CHAT_BACKOFF: Backoff = { firstMs: 1_000, maxMs: 30_000, jitter: 0.2 };

/** "When the agent is inactive (1008), poll slowly (about every 20 seconds)". */
const SLOW_POLL_MS = 20_000;

/** After "a few attempts", a trigger never gives up, because the service may be down for hours. */
const LOST_BACKOFF: Backoff = { firstMs: 60_000, maxMs: 900_000 };

/** Attempts before the intervals of `LOST_BACKOFF`: about a minute, and ten minutes for an inactive agent. */
const MAX_ATTEMPTS = 6;
const MAX_SLOW_POLLS = 30;

/**
 * A connection that lasted this long resets all counts. Longer than `SLOW_POLL_MS`, so that two clients that displace each
 * other stop at some point. Shorter than the time after which proxies close a quiet connection: 60 seconds, and some 30.
 */
const HEALTHY_AFTER_MS = 25_000;

/** "Token missing, expired, invalid, or for another account": mint a new token, reconnect. */
const TOKEN_REJECTED = 4401;

/** "Policy: token's session/stream mismatch, agent inactive, or claim conflict". */
const POLICY = 1008;

/** A connection that ended without a close frame (RFC 6455). */
const BROKEN = 1006;

/** "Non-text frame sent": a bug in these nodes. */
const NON_TEXT_FRAME = 1003;

/**
 * Safe to reconnect with the same token: 1011 by the document, closes without a specific reason (1000, 1001, 1005, 1006),
 * and what the WebSocket registry defines as temporary (1012 restart, 1013 try again later, 1014 bad gateway) or as caused
 * by one message (1009 too big).
 */
const TRANSIENT_CODES: ReadonlySet<number> = new Set([
	1000, 1001, 1005, 1006, 1009, 1011, 1012, 1013, 1014,
]);

/** How one attempt to connect to the session ended. `claimed`: with `claim=1`. */
export type AttemptEnd =
	| { kind: 'socket'; end: SocketEnd; claimed: boolean }
	/** No token was issued, or none that can be used. */
	| { kind: 'token'; error: unknown };

export type EndingKind =
	| 'session_closed'
	| 'agent_inactive'
	| 'in_use_or_inactive'
	| 'token_rejected'
	| 'unreachable'
	| 'mint_rejected'
	| 'displaced'
	| 'client_bug';

/** Another attempt can't change it. */
export type End = { kind: 'end'; why: EndingKind };

export type Retry = {
	kind: 'retry';
	why: EndingKind;
	afterMs: number;
	token: 'keep' | 'new';
	/** Attempts in a row that ended with 1008. */
	rejections: number;
	/** Whether the next attempts probably fail, too. */
	isHopeless: boolean;
	/** Whether the connection was healthy before. */
	isFirst: boolean;
};

/** Not final, because an API token that is rejected for all sessions may be accepted again later. */
const UNAUTHORIZED = 401;

/**
 * Decides what follows each end of a connection (Events › Chat WebSocket › Close codes).
 *
 * The document gives 1008 three meanings and no reason text. A new token rules out a token mismatch. With `claim=1`, only
 * an inactive agent is left, because a claim conflict is one "without `claim=1`". Without it, the ending names both. The
 * close reason is shown, but not evaluated.
 */
export class ReconnectPolicy {
	private attempts = 0;
	private rejections = 0;
	private undocumentedCloses = 0;
	private isFirst = true;

	constructor(private readonly random: () => number) {}

	/** For a new user, attempts follow each other quickly again. */
	restart(): void {
		this.attempts = 0;
		this.rejections = 0;
		this.undocumentedCloses = 0;
	}

	/** After a connection that was healthy, or was renewed. */
	wasHealthy(): void {
		this.restart();
		this.isFirst = true;
	}

	next(attempt: AttemptEnd): End | Retry {
		if (attempt.kind === 'token') return this.afterTokenFailure(attempt.error);
		const { cause, code, openForMs } = attempt.end;
		if (cause === 'session_closed') return { kind: 'end', why: 'session_closed' };
		if (openForMs >= HEALTHY_AFTER_MS) this.wasHealthy();
		if (code === null || cause !== 'closed') return this.backOff('unreachable', 'keep');
		if (code === NON_TEXT_FRAME) return { kind: 'end', why: 'client_bug' };
		if (code === POLICY)
			return this.poll(attempt.claimed ? 'agent_inactive' : 'in_use_or_inactive');
		if (code === TOKEN_REJECTED) return this.backOff('token_rejected', 'new');
		if (TRANSIENT_CODES.has(code)) return this.backOff('unreachable', 'keep');
		// Another client may have taken over: one careful reconnect.
		this.undocumentedCloses += 1;
		return this.undocumentedCloses > 1
			? this.hopeless('displaced')
			: this.backOff('displaced', 'new');
	}

	private afterTokenFailure(error: unknown): End | Retry {
		// By the body, as in the error table, because the documented status (409) has other meanings too.
		if (isRejection(error, 'session_closed')) return { kind: 'end', why: 'session_closed' };
		if (error instanceof InvalidInput) return { kind: 'end', why: 'mint_rejected' };
		const isRejected = error instanceof ServiceRejection && !error.isTransient;
		if (!isRejected) return this.backOff('unreachable', 'new');
		const mayChange = error.status === UNAUTHORIZED;
		return mayChange ? this.hopeless('mint_rejected') : { kind: 'end', why: 'mint_rejected' };
	}

	private backOff(why: EndingKind, token: Retry['token']): Retry {
		this.attempts += 1;
		return this.retry(why, token, this.delay(this.attempts, MAX_ATTEMPTS));
	}

	private poll(why: EndingKind): Retry {
		this.rejections += 1;
		const { rejections } = this;
		const isSlow = rejections > 1 && rejections <= 1 + MAX_SLOW_POLLS;
		const afterMs = isSlow ? SLOW_POLL_MS : this.delay(rejections, 1 + MAX_SLOW_POLLS);
		return { ...this.retry(why, 'new', afterMs), rejections };
	}

	private hopeless(why: EndingKind): Retry {
		this.attempts = Math.max(this.attempts, MAX_ATTEMPTS);
		return { ...this.backOff(why, 'new'), isHopeless: true };
	}

	private delay(attempt: number, max: number): number {
		return attempt <= max
			? backoffMs(CHAT_BACKOFF, attempt, this.random)
			: backoffMs(LOST_BACKOFF, attempt - max, this.random);
	}

	private retry(why: EndingKind, token: Retry['token'], afterMs: number): Retry {
		const { isFirst } = this;
		this.isFirst = false;
		return { kind: 'retry', why, afterMs, token, rejections: 0, isHopeless: false, isFirst };
	}
}

/** Why a connection ended for good. Messages that were still waiting were not sent. */
export class ChatEnded extends ExplainedError {
	override readonly name = 'ChatEnded';
	readonly outcome = 'not_sent';

	constructor(
		readonly kind: EndingKind,
		{ message, resolution }: Explanation,
		facts: Pick<ErrorFacts, 'originalMessage' | 'origin'> = {},
	) {
		// The same message may succeed later.
		super(message, resolution, { ...facts, isTransient: kind === 'unreachable' });
	}
}

const CHECK_SERVICE =
	'Check that the service is available and that n8n can reach it. Then run or publish the workflow again.';

const BY_KIND: Record<EndingKind, Explanation> = {
	session_closed: {
		message: 'The chat session is closed',
		resolution: {
			onScreen: 'Create a new session to continue the conversation.',
			forModel: 'Use another session. A closed session stays closed.',
		},
	},
	agent_inactive: {
		message: 'The service rejects the connection because the agent is inactive',
		resolution: {
			onScreen:
				"Activate the agent in the service, then run or publish the workflow again. Another client can't be the reason, because this connection takes over the session.",
			forModel: `Tell ${USER} that the agent of this session must be activated.`,
		},
	},
	in_use_or_inactive: {
		message: 'The service rejects the connection to this chat session',
		resolution: {
			onScreen:
				"The session is in use by another client, or its agent is inactive. The service uses the same code for both. Check that the agent is active. To take the session from another client, such as a support desk, another n8n instance, or another process of this one, turn on 'Disconnect Other Connection'.",
			forModel: `The session is in use by another client, such as a support desk, or its agent is inactive. Tell ${USER} about it.`,
		},
	},
	token_rejected: {
		message: 'The service rejects the WebSocket tokens that it issues for this session',
		resolution: onScreenOnly(
			'Check that the API token in the credential belongs to the account of this session. Then run or publish the workflow again.',
		),
	},
	unreachable: {
		message: 'The connection to the chat session keeps failing',
		resolution: {
			onScreen: `Several attempts in a row failed. ${CHECK_SERVICE}`,
			forModel: 'Several attempts in a row failed. Try again later.',
		},
	},
	mint_rejected: {
		message: 'The service issues no WebSocket token for this session',
		resolution: {
			onScreen:
				'Check the session ID, and check that the credential belongs to the account of this session.',
			forModel: "Check the session ID. A session of another account can't be used.",
		},
	},
	displaced: {
		message:
			"The service closed the connection twice with a code that its documentation doesn't explain",
		resolution: {
			onScreen:
				'Another client may have taken over the session. Check who else uses it, then run or publish the workflow again.',
			forModel: 'Another client may have taken over the session.',
		},
	},
	client_bug: {
		message: "The service closed the connection because it received a frame that isn't text",
		resolution: onScreenOnly(
			'This node sends text only. Report this to the maintainers of this package.',
		),
	},
};

/** @param redact removes tokens from a text */
export function describeEnding(
	kind: EndingKind,
	attempt: AttemptEnd,
	redact: (text: string) => string = (text) => text,
): ChatEnded {
	const { originalMessage, origin } = whatWasSaid(attempt);
	return new ChatEnded(kind, explanationOf(kind, attempt), {
		originalMessage: originalMessage && redact(originalMessage),
		origin,
	});
}

function explanationOf(kind: EndingKind, attempt: AttemptEnd): Explanation {
	const cause = attempt.kind === 'token' ? attempt.error : null;
	const own = BY_KIND[kind];
	if (!(cause instanceof ExplainedError)) return own;
	// The error itself explains why there's no usable token.
	if (kind === 'mint_rejected' || kind === 'session_closed') return cause.explanation;
	const onScreen = `The service issued no WebSocket token. ${asSentence(cause.message)} ${cause.resolution}`;
	return { ...own, resolution: { ...own.resolution, onScreen } };
}

/** The close code and reason, or why there's no usable token. May contain tokens. */
export function whatWasSaid(attempt: AttemptEnd): Pick<ErrorFacts, 'originalMessage' | 'origin'> {
	if (attempt.kind === 'token') {
		const { error } = attempt;
		if (!(error instanceof ExplainedError)) {
			return { originalMessage: messageOf(error), origin: 'n8n' };
		}
		return { originalMessage: error.originalMessage, origin: error.origin };
	}
	const { code, reason } = attempt.end;
	if (code === null) return {};
	const originalMessage = [`close code ${code}`, reason].filter(Boolean).join(' · ');
	return { originalMessage, origin: code === BROKEN ? 'network' : 'service' };
}
