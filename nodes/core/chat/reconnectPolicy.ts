import {
	asSentence,
	type ErrorFacts,
	ExplainedError,
	InvalidInput,
	isRejection,
	ServiceRejection,
} from '../service/errors';
import type { Explanation } from '../service/explanation';
import { messageOf } from '../values/values';
import type { SocketEnd } from './socket';

/** The share by which a delay may be shorter, so that many sessions don't reconnect at the same moment. */
const JITTER = 0.2;

/** A trigger never gives up, because the service may be down for hours. The last delay repeats. */
const LATER_DELAYS_MS = [60_000, 120_000, 240_000, 480_000, 900_000];

/** "About 1, 2, 4, 8 seconds, capped at 30". */
const DELAYS_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, ...LATER_DELAYS_MS];

/** "When the agent is inactive (1008), poll slowly (about every 20 seconds)". For ten minutes. */
const REJECTED_DELAYS_MS = [1_000, ...Array<number>(30).fill(20_000), ...LATER_DELAYS_MS];

/**
 * A connection that lasted this long resets the count of failures. Longer than a slow poll, so that two clients that
 * displace each other stop at some point. Shorter than the time after which proxies close a quiet connection: 60 seconds,
 * and some 30.
 */
export const HEALTHY_AFTER_MS = 25_000;

/** A connection that ended without a close frame (RFC 6455). */
const BROKEN = 1006;

/** How one attempt to connect to the session ended. `error`: no token was issued, or none that can be used. */
export type AttemptEnd = { end: SocketEnd } | { error: unknown };

export type EndingKind = 'session_closed' | 'rejected' | 'unreachable' | 'no_token';

/** Why an attempt to connect failed, or a connection ended for good. Messages that were still waiting were not sent. */
export class Ending extends ExplainedError {
	constructor(
		readonly kind: EndingKind,
		{ message, resolution }: Explanation,
		facts: ErrorFacts,
	) {
		// The same message may succeed later.
		super('not_sent', message, resolution, { ...facts, isTransient: kind === 'unreachable' });
	}
}

/** `end`: another attempt can't change it. Otherwise, whether the next attempt needs a new token. */
type NextStep = [why: EndingKind, then: 'end' | 'sameToken' | 'newToken'];

/** What follows the end of an attempt to connect (`x-close-codes` in docs/asyncapi.yaml). */
export function nextStep(attempt: AttemptEnd): NextStep {
	if ('error' in attempt) {
		const { error } = attempt;
		// By the body, as in the error table, because the documented status (409) has other meanings, too.
		if (isRejection(error, 'session_closed')) return ['session_closed', 'end'];
		// The response has no token, or its URL can't be used.
		if (error instanceof InvalidInput) return ['no_token', 'end'];
		const isRejected = error instanceof ServiceRejection && !error.isTransient;
		if (!isRejected) return ['unreachable', 'newToken'];
		// An API token that is rejected for all sessions may be accepted again later.
		return ['no_token', error.status === 401 ? 'newToken' : 'end'];
	}
	const { code } = attempt.end;
	// "Token missing, expired, invalid, or for another account": mint a new token, reconnect.
	if (code === 4401) return ['no_token', 'newToken'];
	// "Token's session/stream mismatch, agent inactive, or claim conflict": never with the same token, which rules out a
	// mismatch. The close reason is shown, but not evaluated.
	if (code === 1008) return ['rejected', 'newToken'];
	// "Safe to reconnect" (1011), no reason (1000, 1006), undocumented, or it didn't open. The documented 1003 can't occur,
	// because these nodes send text only.
	return ['unreachable', 'sameToken'];
}

/** @param failures attempts in a row that failed */
export function delayMs(why: EndingKind, failures: number): number {
	const delays = why === 'rejected' ? REJECTED_DELAYS_MS : DELAYS_MS;
	const delay = delays[Math.min(failures, delays.length) - 1] ?? 0;
	return Math.round(delay * (1 - JITTER * Math.random()));
}

/** Unless the request for a token failed. */
const ENDINGS = {
	rejected: {
		message: 'The service rejects the connection to this chat session',
		resolution:
			"The session is in use by another client, such as a support desk or another n8n instance, or its agent is inactive. In n8n, 'Disconnect Other Connection' takes the session from the other client.",
	},
	unreachable: {
		message: 'The connection to the chat session keeps failing',
		resolution: 'Check that the service is available and that n8n can reach it.',
	},
	no_token: {
		message: 'The service issues no WebSocket token for this session, or rejects it',
		resolution: "Check the session ID. A session of another account can't be used.",
	},
} satisfies { [kind: string]: Explanation };

/** @param redact removes tokens from a text */
export function describeEnding(
	kind: EndingKind,
	attempt: AttemptEnd,
	redact: (text: string) => string,
): Ending {
	const { originalMessage, origin } = whatWasSaid(attempt);
	return new Ending(kind, explanationOf(kind, attempt), {
		originalMessage: originalMessage && redact(originalMessage),
		origin,
	});
}

function explanationOf(kind: EndingKind, attempt: AttemptEnd): Explanation {
	const cause = 'error' in attempt ? attempt.error : null;
	if (!(cause instanceof ExplainedError)) {
		return ENDINGS[kind === 'session_closed' ? 'no_token' : kind];
	}
	// The error itself explains why there's no usable token.
	if (kind !== 'unreachable') return cause.explanation;
	const noToken = `The service issued no WebSocket token. ${asSentence(cause.message)}`;
	const { message } = ENDINGS.unreachable;
	return { message, resolution: `${noToken} ${cause.resolution}` };
}

/** The close code and reason, or why there's no usable token. May contain tokens. */
function whatWasSaid(attempt: AttemptEnd): Pick<ErrorFacts, 'originalMessage' | 'origin'> {
	if ('error' in attempt) {
		const { error } = attempt;
		if (error instanceof ExplainedError) return error;
		return { originalMessage: messageOf(error), origin: 'n8n' };
	}
	const { code, reason } = attempt.end;
	if (code === null) return {};
	const originalMessage = [`close code ${code}`, reason].filter(Boolean).join(' · ');
	return { originalMessage, origin: code === BROKEN ? 'network' : 'service' };
}
