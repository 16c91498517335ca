import {
	type ErrorFacts,
	ExplainedError,
	failedRepeat,
	OutcomeUnknown,
} from '../core/service/errors';
import { type Explanation, USER } from '../core/service/resolution';
import type { ChatEnded } from '../core/chat/reconnectPolicy';
import type { SendOutcome } from '../core/chat/connection';
import { ACCEPTED_STATES, errorText } from '../core/chat/frames';

const MAYBE = 'The service may or may not have accepted the message';

/** What happened, what a person can do, and what a model can do. */
type Row = readonly [message: string, onScreen: string, forModel?: string];

const KEY_USED: Row = [
	'The idempotency key was already used',
	'Use a different key for each message. Use the same key only to send the same content again in the same way.',
];

/** By the state of the ack, for `invalid` with its documented `error` (docs/asyncapi.yaml). */
const FAULTS = {
	'invalid invalid_input_type': [
		"The service doesn't accept this kind of input now",
		"Check what the session is waiting for. Use 'Answer Interaction' for an interactive message, and 'Send Message' for plain text.",
		'Check whether the session is waiting for an answer to an interactive message or for plain text.',
	],
	'invalid agent_inactive': [
		'The agent of this session is inactive',
		'Activate the agent in the service. Then send the message again.',
		`Tell ${USER} that the agent of this session must be activated.`,
	],
	'invalid session_account_mismatch': [
		'The session belongs to another account',
		"Check 'Session ID', or choose the credential of the session's account.",
		"Check the session ID. A session of another account can't be used.",
	],
	'invalid idempotency_key_reused': KEY_USED,
	'invalid idempotency_key_rail_conflict': KEY_USED,
	'invalid invalid_interaction': [
		'The service rejected this answer to the interactive message',
		"Check 'Interaction ID' and the answer. The interactive message may already be answered or replaced.",
		'Give the interaction ID, and the option ID of a choice, exactly as in the interactive message. It may already be answered or replaced.',
	],
	rejected: [
		'The service rejected the message',
		'Check the fields of this item, then send the message again.',
		'Check the values you gave.',
	],
	busy: [
		'The service is too busy to accept the message',
		"The message wasn't accepted. Send it again later.",
		"The message wasn't accepted. Send it again later.",
	],
	error: [
		"The service couldn't process the message",
		`${MAYBE}. Check the conversation before you send it again.`,
		`${MAYBE}.`,
	],
	unconfirmed: [
		"The message was sent, but the service didn't confirm it",
		`${MAYBE}, so it wasn't sent again. Check the conversation in the service before you send it again. For later messages, 'Idempotency Key' makes sending again safe.`,
		`${MAYBE}, so it was not sent again.`,
	],
	'unconfirmed with a key': [
		"The message was sent, but the service didn't confirm it",
		`${MAYBE}. It may have been sent several times with the same idempotency key, which is safe. You can run this item again with the same key.`,
		`${MAYBE}.`,
	],
	'not started': [
		"The message wasn't sent because the execution was stopped",
		'Run this item in a new execution to send the message.',
		'Send the message again.',
	],
} satisfies { [cause: string]: Row };

const isCause = (text: string): text is keyof typeof FAULTS => Object.hasOwn(FAULTS, text);

function fault(
	outcome: 'not_sent' | 'rejected',
	cause: keyof typeof FAULTS,
	facts: ErrorFacts = {},
): ExplainedError {
	const { message, resolution } = explain(cause);
	return new ExplainedError(outcome, message, resolution, facts);
}

function explain(cause: keyof typeof FAULTS): Explanation {
	const [message, onScreen, forModel = '']: Row = FAULTS[cause];
	return { message, resolution: { onScreen, forModel } };
}

/** Why a turn didn't succeed, or isn't known to have succeeded. Null if it did. */
export function turnFault(outcome: SendOutcome): ExplainedError | null {
	if (outcome.kind === 'not_sent') return notSent(outcome.ending);
	if (outcome.kind === 'unknown') {
		return unknownFault(outcome.hasKey ? 'unconfirmed with a key' : 'unconfirmed');
	}
	const { ack, isRepeat } = outcome;
	const { state } = ack;
	const originalMessage = errorText(ack) ?? undefined;
	const isKnown = state === 'busy' || state === 'error' || state === 'invalid';
	// An undocumented state without an error is passed through.
	if (ACCEPTED_STATES.has(state) || (!isKnown && originalMessage === undefined)) return null;
	// Another attempt may have been accepted.
	if (isRepeat) return failedRepeat({ originalMessage, origin: 'service' });
	if (state === 'error') return unknownFault('error', originalMessage);
	if (state === 'busy') {
		return fault('not_sent', 'busy', { originalMessage, isTransient: true });
	}
	const cause = `${state} ${originalMessage}`;
	if (isCause(cause)) return fault('rejected', cause, { originalMessage });
	if (originalMessage === undefined) return fault('rejected', 'rejected');
	const words = state === 'invalid' ? originalMessage : `${originalMessage} (state ${state})`;
	return fault('rejected', 'rejected', { originalMessage: words });
}

function unknownFault(cause: keyof typeof FAULTS, words?: string): OutcomeUnknown {
	const { message, resolution } = explain(cause);
	return new OutcomeUnknown(message, resolution, { originalMessage: words, origin: 'service' });
}

function notSent(ending: ChatEnded | null): ExplainedError {
	if (ending === null) return fault('not_sent', 'not started');
	const { message, explanation } = ending;
	const text = `${message}, so nothing was sent`;
	return new ExplainedError('not_sent', text, explanation.resolution, ending);
}
