import {
	type ErrorFacts,
	ExplainedError,
	failedRepeat,
	OutcomeUnknown,
	quotingService,
} from '../shared/api/errors';
import {
	forEveryone,
	onScreenOnly,
	USER,
	type Explanation,
	type Resolution,
} from '../shared/api/resolution';
import type { MissingAck } from '../shared/chat/connection';
import type { ChatEnded } from '../shared/chat/reconnectPolicy';
import type { TurnOutcome } from '../shared/chat/turn';
import { ACCEPTED_STATES, errorText } from '../shared/chat/frames';

/** Explains why a message wasn't sent or was rejected. */
class ChatTurnFault extends ExplainedError {
	override readonly name = 'ChatTurnFault';

	constructor(
		{ message, resolution }: Explanation,
		readonly outcome: 'not_sent' | 'rejected',
		facts: ErrorFacts = {},
	) {
		super(message, resolution, facts);
	}
}

const SEND_UNKNOWN: Resolution = {
	onScreen:
		"The service may or may not have accepted the message, so it wasn't sent again. Check the conversation in the service before you send it again. For later messages, 'Prevent Duplicate Messages' makes sending again safe.",
	forModel: 'The service may or may not have accepted the message, so it was not sent again.',
};

const SEND_UNKNOWN_WITH_KEY: Resolution = {
	onScreen:
		'The service may or may not have accepted the message. You can run this item again with the same idempotency key, which is safe.',
	forModel: 'The service may or may not have accepted the message.',
};

const SEND_UNKNOWN_CLOSED: Resolution = {
	onScreen:
		'The service may or may not have accepted the message. Check the conversation in the service. To continue it, create a new session.',
	forModel:
		'The service may or may not have accepted the message, so it was not sent again. Use another session. A closed session stays closed.',
};

/** One row for each documented `error` of an ack whose state is `invalid` (Events › Chat WebSocket). */
const INVALID: { readonly [code: string]: Explanation } = {
	bad_json: {
		message: "The service couldn't read the message as JSON",
		resolution: {
			onScreen: 'This node sends JSON only. Report this to the maintainers of this package.',
			forModel: '',
		},
	},
	bad_payload: {
		message: 'The service rejected the format of the message',
		resolution: {
			onScreen: 'Check the fields of this item. None of them may be empty.',
			forModel: 'Check the values you gave. None of them may be empty.',
		},
	},
	message_required: {
		message: 'The message is empty',
		resolution: {
			onScreen: 'Fill in the text for this item.',
			forModel: 'Give the text of the message, such as "Is the flat still available?".',
		},
	},
	invalid_input_type: {
		message: "The service doesn't accept this kind of input now",
		resolution: {
			onScreen:
				"Check what the session is waiting for. Use 'Answer Interaction' for an interactive message, and 'Send Message' for plain text.",
			forModel:
				'Check whether the session is waiting for an answer to an interactive message or for plain text.',
		},
	},
	agent_inactive: {
		message: 'The agent of this session is inactive',
		resolution: {
			onScreen: 'Activate the agent in the service. Then send the message again.',
			forModel: `Tell ${USER} that the agent of this session must be activated.`,
		},
	},
	session_account_mismatch: {
		message: 'The session belongs to another account',
		resolution: {
			onScreen: "Check 'Session ID', or choose the credential of the session's account.",
			forModel: "Check the session ID. A session of another account can't be used.",
		},
	},
	idempotency_key_reused: {
		message: 'The idempotency key was already used for another message',
		resolution: onScreenOnly(
			'Use a different key for each message. Use the same key only to send the same content again.',
		),
	},
	idempotency_key_rail_conflict: {
		message: 'The idempotency key was already used with another way of sending',
		resolution: onScreenOnly(
			'To send the same content again, send it the same way as before. For other content, use a new key.',
		),
	},
	invalid_interaction: {
		message: 'The service rejected this answer to the interactive message',
		resolution: {
			onScreen:
				"Check 'Interaction ID' and the answer. The interactive message may already be answered or replaced.",
			forModel:
				'Give the interaction ID, and the option ID of a choice, exactly as in the interactive message. It may already be answered or replaced.',
		},
	},
};

const NO_REASON: Explanation = {
	message: 'The service rejected the message',
	resolution: {
		onScreen:
			'The service gave no reason. Check the fields of this item, then send the message again.',
		forModel: 'The service gave no reason. Check the values you gave.',
	},
};

const OTHER_REASON: Explanation = {
	message: 'The service rejected the message',
	quotesServiceInMessage: true,
	resolution: forEveryone('Correct what the service reports. Then send the message again.'),
};

const BUSY: Explanation = {
	message: 'The service is too busy to accept the message',
	resolution: forEveryone("The message wasn't accepted. Send it again later."),
};

const FAILED: Explanation = {
	message: "The service couldn't process the message",
	resolution: {
		onScreen:
			'The service may or may not have accepted the message. Check the conversation before you send it again.',
		forModel: 'The service may or may not have accepted the message.',
	},
};

const NOT_STARTED: Explanation = {
	message: "The message wasn't sent because the execution was stopped",
	resolution: {
		onScreen: 'Run this item in a new execution to send the message.',
		forModel: 'Send the message again.',
	},
};

/** What happened to a message without an ack. */
const MISSING: Record<MissingAck, string> = {
	no_ack: "The message was sent, but the service didn't confirm it in time",
	lost: 'The connection was lost after the message was sent',
	stopped: 'The message was sent, but the execution was stopped before the service confirmed it',
	time_limit:
		"The message was sent, but the tool's time limit ended before the service confirmed it",
	session_closed:
		'The session was closed after the message was sent and before the service confirmed it',
	unmatched:
		"The message was sent and the service confirmed a message, but it's unknown whether it confirmed this one or an earlier one",
};

/**
 * Why a turn didn't succeed, or isn't known to have succeeded. Null if it did.
 *
 * @param hasOtherWays whether the same can be sent without a live connection
 */
export function turnFault(outcome: TurnOutcome, hasOtherWays = true): ExplainedError | null {
	if (outcome.kind === 'not_sent') return notSent(outcome.ending, hasOtherWays);
	if (outcome.kind === 'unknown') return unknown(outcome.why, outcome.hasKey);
	const { ack, missingBefore } = outcome;
	const { state } = ack;
	const words = errorText(ack) ?? undefined;
	const isKnown = state === 'busy' || state === 'error' || state === 'invalid';
	// An undocumented state without an error is passed through.
	if (ACCEPTED_STATES.has(state) || (!isKnown && words === undefined)) return null;
	if (missingBefore !== null) {
		// Another attempt may have been accepted. Only one with a key is followed by another.
		return state === 'busy'
			? unknown(missingBefore, true)
			: failedRepeat({ originalMessage: words, origin: 'service' });
	}
	if (state === 'busy')
		return new ChatTurnFault(BUSY, 'not_sent', { originalMessage: words, isTransient: true });
	if (state === 'error') return unknownFault(FAILED, words);
	if (words === undefined) return new ChatTurnFault(NO_REASON, 'rejected');
	if (state !== 'invalid') return rejectedWith(`${words} (state ${state})`);
	return Object.hasOwn(INVALID, words) ? rejectedWith(words, INVALID[words]) : rejectedWith(words);
}

function rejectedWith(words: string, explanation: Explanation = OTHER_REASON): ChatTurnFault {
	return new ChatTurnFault(quotingService(explanation, words), 'rejected', {
		originalMessage: words,
	});
}

function unknown(why: MissingAck, hasKey: boolean): OutcomeUnknown {
	const ifOpen = hasKey ? SEND_UNKNOWN_WITH_KEY : SEND_UNKNOWN;
	const resolution = why === 'session_closed' ? SEND_UNKNOWN_CLOSED : ifOpen;
	return unknownFault({ message: MISSING[why], resolution });
}

function unknownFault({ message, resolution }: Explanation, words?: string): OutcomeUnknown {
	return new OutcomeUnknown(message, resolution, { originalMessage: words, origin: 'service' });
}

const NO_CONNECTION_NEEDED =
	"To send a message without a live connection, set 'Send Via' to 'Request With Immediate Reply' or 'Request With Later Reply'.";

function notSent(ending: ChatEnded | null, hasOtherWays: boolean): ChatTurnFault {
	if (ending === null) return new ChatTurnFault(NOT_STARTED, 'not_sent');
	const { kind, message, resolution, resolutionForModel } = ending;
	const namesOtherWays = hasOtherWays && kind === 'in_use_or_inactive';
	const text = {
		message: `${message}, so nothing was sent`,
		resolution: {
			onScreen: namesOtherWays ? `${resolution} ${NO_CONNECTION_NEEDED}` : resolution,
			forModel: resolutionForModel,
		},
	};
	return new ChatTurnFault(text, 'not_sent', ending);
}
