import { ExplainedError, OutcomeUnknown } from '../shared/api/errors';
import type { Outcome } from '../shared/api/errors';
import { forEveryone, onScreenOnly, USER, type Resolution } from '../shared/api/modelAdvice';
import type { TurnOutcome } from '../shared/chat/turn';
import { LATER_ATTEMPT_FAILED } from '../shared/chat/chatRequests';
import { INVALID_CODES, type InvalidCode } from '../shared/chat/frames';

/** A turn that did not go well, in words for the person who owns the workflow. */
export class ChatTurnFault extends ExplainedError {
	override readonly name = 'ChatTurnFault';

	constructor(
		text: TurnText,
		readonly outcome: Outcome,
		originalMessage?: string | null,
		override readonly isTransient = false,
	) {
		super(text.message, text.resolution, originalMessage ?? undefined);
	}
}

type TurnText = { message: string; resolution: Resolution };

const INVALID: Record<InvalidCode, TurnText> = {
	bad_json: {
		message: 'The service could not read the message as JSON',
		resolution: {
			onScreen: 'The node sends JSON only. Please report this to the maintainers of this package.',
			forModel: '',
		},
	},
	bad_payload: {
		message: 'The service did not accept the form of the message',
		resolution: {
			onScreen: 'Check the fields of this item, above all that none of them is empty.',
			forModel: 'Check the values you gave, above all that none of them is empty.',
		},
	},
	message_required: {
		message: 'The message is empty',
		resolution: {
			onScreen: 'Fill in the message text of this item.',
			forModel: 'Give the text of the message, such as "Is the flat still available?".',
		},
	},
	invalid_input_type: {
		message: 'The service does not take this kind of input here',
		resolution: {
			onScreen:
				'Check whether the session is waiting for an answer to an interactive message (use Answer Interaction) or for plain text (use Send Message).',
			forModel:
				'Check whether the session is waiting for an answer to an interactive message or for plain text.',
		},
	},
	agent_inactive: {
		message: 'The agent of this session is not active',
		resolution: {
			onScreen: 'Activate the agent in the service, then send the message again.',
			forModel: `Tell ${USER} that the agent of this session must be activated.`,
		},
	},
	session_account_mismatch: {
		message: 'The session belongs to another account',
		resolution: {
			onScreen: 'Check the session ID, and that the credential is the one of this account.',
			forModel: 'Check the session ID: a session of another account cannot be used.',
		},
	},
	idempotency_key_reused: {
		message: 'The idempotency key was already used for a different message',
		resolution: onScreenOnly(
			'Use a key of its own for each message. The same key is only for sending the same content again.',
		),
	},
	idempotency_key_rail_conflict: {
		message: 'The idempotency key was already used over another way of sending',
		resolution: onScreenOnly(
			'Send again the way it was sent first (WebSocket or asynchronous), or use a new key if it was a different message.',
		),
	},
	invalid_interaction: {
		message: 'The service does not accept this answer to the interactive message',
		resolution: {
			onScreen:
				'Check the interaction ID and the option ID. The interactive message may have been answered or replaced.',
			forModel:
				'Give the interaction ID and the option ID exactly as in the interactive message. It may have been answered or replaced.',
		},
	},
};

const SEND_UNKNOWN: Resolution = {
	onScreen:
		'It may or may not have been taken, so it was not sent again. Look at the conversation before sending it once more, or set an idempotency key: with one, sending again is safe.',
	forModel: 'It may or may not have been taken, so it was not sent again.',
};

const SEND_UNKNOWN_WITH_KEY: Resolution = {
	onScreen:
		'It may or may not have been taken. It has an idempotency key, so running this item again with the same key is safe.',
	forModel: 'It may or may not have been taken.',
};

/** Null for outcomes that went well. */
export function turnFault(outcome: TurnOutcome): ChatTurnFault | null {
	switch (outcome.kind) {
		// A state the document does not list is data, like every value it leaves open.
		case 'completed':
		case 'replayed':
		case 'merged':
		case 'unrecognized':
			return null;
		case 'busy':
			return new ChatTurnFault(BUSY, 'not_sent', outcome.ack.error, true);
		case 'invalid':
			return new ChatTurnFault(invalidText(outcome.code), 'rejected', outcome.code);
		case 'failed':
			return new ChatTurnFault(FAILED, 'unknown', outcome.ack.error);
		case 'rejected':
			return new ChatTurnFault(
				REJECTED,
				'rejected',
				`${outcome.originalMessage} (state ${outcome.ack.state})`,
			);
		case 'unknown':
			return outcome.rejection === undefined
				? new ChatTurnFault(
						{
							message: NOT_KNOWN[outcome.why],
							resolution: outcome.keyed ? SEND_UNKNOWN_WITH_KEY : SEND_UNKNOWN,
						},
						'unknown',
					)
				: new ChatTurnFault(LATER_ATTEMPT_FAILED, 'unknown', outcome.rejection);
		case 'not_sent':
			return notSent(outcome.readiness);
	}
}

/** What a turn throws that did not go well. */
export function faultOf(outcome: TurnOutcome): Error {
	const fault = turnFault(outcome);
	if (fault === null) return new TypeError('A turn that went well has no fault');
	const keyed = outcome.kind === 'unknown' && outcome.keyed;
	// Kept as settled for Retry On Fail, unless a key makes sending it again safe.
	return fault.outcome === 'unknown' && !keyed
		? new OutcomeUnknown(
				fault.message,
				fault.explanation.resolution,
				fault.originalMessage,
				undefined,
				fault.origin,
			)
		: fault;
}

const BUSY: TurnText = {
	message: 'The service is too busy to take the message',
	resolution: forEveryone('The message was not taken. Send it again later.'),
};

const FAILED: TurnText = {
	message: 'The service could not handle the message for a reason of its own',
	resolution: forEveryone(
		'Whether it was taken is not known. Look at the conversation before sending it again.',
	),
};

const REJECTED: TurnText = {
	message: 'The service did not accept the message',
	resolution: {
		onScreen: 'Correct what the service names below, then send the message again.',
		forModel: 'Correct what the service names, then send the message again.',
	},
};

const REJECTED_WITHOUT_REASON: TurnText = {
	message: REJECTED.message,
	resolution: {
		onScreen: 'It gave no reason. Check the fields of this item, then send the message again.',
		forModel: 'It gave no reason. Check the values you gave.',
	},
};

const NOT_KNOWN: Record<Extract<TurnOutcome, { kind: 'unknown' }>['why'], string> = {
	no_ack: 'The message was sent, but the service did not confirm it in time',
	lost: 'The connection was lost after the message was sent',
	unproved:
		'The message was sent, and the service confirmed a message, but nothing shows whether it was this one or an earlier one',
	too_large:
		'The message was sent, but the service did not confirm it in time, or in a frame too large to be read (over 8 million characters)',
};

const RUN_STOPPED: TurnText = {
	message: 'The message was not sent, because the run was stopped',
	resolution: { onScreen: 'Run the workflow again to send it.', forModel: 'Send it again.' },
};

const NO_CONNECTION_NEEDED =
	'Request With Immediate Reply and Request With Later Reply, in Send Via, need no live connection.';

function invalidText(code: string | null): TurnText {
	const known = INVALID_CODES.find((candidate) => candidate === code);
	if (known !== undefined) return INVALID[known];
	return code === null ? REJECTED_WITHOUT_REASON : REJECTED;
}

function notSent(
	readiness: Extract<TurnOutcome, { kind: 'not_sent' }>['readiness'],
): ChatTurnFault {
	if (readiness.kind === 'closed_by_us') return new ChatTurnFault(RUN_STOPPED, 'not_sent');
	const { kind, message, resolution, resolutionForModel, originalMessage, isTransient } =
		readiness.ending;
	const isHeld = kind === 'held_or_inactive';
	const text = {
		message: `${message}, so nothing was sent`,
		resolution: {
			onScreen: isHeld ? `${resolution} ${NO_CONNECTION_NEEDED}` : resolution,
			forModel: resolutionForModel,
		},
	};
	return new ChatTurnFault(text, 'not_sent', originalMessage, isTransient);
}
