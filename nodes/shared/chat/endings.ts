import { ExplainedError, ServiceRejection } from '../api/errors';
import { onScreenOnly, USER, type Resolution } from '../api/modelAdvice';
import { describeAddress } from './address';
import type { AttemptEnd, EndingKind } from './reconnectPolicy';

/** Why a connection ended for good. Nothing that was still to be sent has been sent. */
export class ChatEnded extends ExplainedError {
	override readonly name = 'ChatEnded';
	readonly outcome = 'not_sent';
	override readonly isTransient: boolean;

	constructor(
		readonly kind: EndingKind,
		text: EndingText,
		originalMessage: string | undefined,
		/** Close code of the last socket. */
		readonly code: number | null,
		/** HTTP status of the response that contained no token. */
		readonly status: number | null = null,
	) {
		super(text.message, text.resolution, originalMessage);
		this.isTransient = kind === 'unreachable' || kind === 'token_missed';
	}
}

type EndingText = { message: string; resolution: Resolution };

const CHECK_SERVICE =
	'Check that the service is up and can be reached from n8n, then publish the workflow or run it again.';

const TEXTS: Record<EndingKind, EndingText> = {
	session_closed: {
		message: 'The chat session is closed',
		resolution: {
			onScreen: 'Create a new session to go on with the conversation.',
			forModel: 'Use another session: a closed one stays closed.',
		},
	},
	agent_inactive: {
		message: 'The service rejects the connection because the agent is not active',
		resolution: {
			onScreen:
				'It does so although this connection takes the session over from other clients, which leaves the agent as the reason. Activate the agent in the service, then run or publish the workflow again.',
			forModel: `Tell ${USER} that the agent of this session must be activated.`,
		},
	},
	held_or_inactive: {
		message: 'The service rejects the connection to this chat session',
		resolution: {
			onScreen:
				'Either another client holds the session (a support desk, another n8n, or another process of this one) or the agent is not active; the service gives one code for both. Check that the agent is active. If another client may lose the session, turn on Take Over.',
			forModel: `Either another client, such as a support desk, has the session, or its agent is not active. Tell ${USER} so.`,
		},
	},
	token_rejected: {
		message: 'The service rejects every WebSocket token it issues for this session',
		resolution: onScreenOnly(
			'Check that the API token of the credential belongs to the account of this session, then run or publish the workflow again.',
		),
	},
	unreachable: {
		message: 'The connection to the chat session does not hold',
		resolution: {
			onScreen: `Several attempts in a row did not last. ${CHECK_SERVICE}`,
			forModel: 'Several attempts in a row did not last.',
		},
	},
	mint_rejected: {
		message: 'The service gives no WebSocket token for this session',
		resolution: {
			onScreen:
				'Check the session ID, and that the credential belongs to the account of this session.',
			forModel: 'Check the session ID: a session of another account cannot be used.',
		},
	},
	token_missed: {
		message:
			'The service gave no new WebSocket token in time, and the connection could have ended before the message was confirmed',
		resolution: {
			onScreen:
				'Check that the service is up and can be reached from n8n, then send the message again.',
			forModel: 'Send the message again later.',
		},
	},
	bad_address: {
		message: 'The service returned an address that cannot be used for the chat session',
		resolution: {
			onScreen:
				'It has to begin with wss:// (ws:// is accepted only for a service on this very machine whose Base URL is http). Show the address below to the owner of the service.',
			forModel: '',
		},
	},
	lost_place: {
		message:
			'The service ended the connection twice with a code its documentation does not explain',
		resolution: {
			onScreen:
				'Another client may have taken the session over. Check who else uses it, then run or publish the workflow again.',
			forModel: 'Another client may have taken the session over.',
		},
	},
	defect: {
		message: 'The service ended the connection because it received a frame that is not text',
		resolution: {
			onScreen: 'This node sends text only. Please report it to the maintainers of this package.',
			forModel: '',
		},
	},
};

/** `originalMessage`: the service's words, with the token already taken out. */
export function describeEnding(
	kind: EndingKind,
	attempt: AttemptEnd,
	originalMessage: string,
	wsUrl: string,
): ChatEnded {
	const code = attempt.kind === 'socket' ? attempt.end.code : null;
	const shown = kind === 'bad_address' ? describeAddress(wsUrl) : originalMessage;
	const rejection = attempt.kind === 'mint' ? attempt.result.error : null;
	const status = rejection instanceof ServiceRejection ? rejection.status : null;
	return new ChatEnded(
		kind,
		endingText(kind, attempt),
		shown === '' ? undefined : shown,
		code,
		status,
	);
}

/** Close code and reason, or what was said when asking for the token. */
export function saidByService(attempt: AttemptEnd): string {
	if (attempt.kind === 'address') return '';
	if (attempt.kind === 'mint') return saidInMinting(attempt.result.error);
	const { code, reason } = attempt.end;
	return [code === null ? '' : `close code ${code}`, reason].filter(Boolean).join(' · ');
}

export function saidInMinting(error: unknown): string {
	if (error instanceof ExplainedError) return error.originalMessage ?? error.message;
	return error instanceof Error ? error.message : '';
}

/** A rejection of the token is explained by the error table already. */
function endingText(kind: EndingKind, attempt: AttemptEnd): EndingText {
	const isLasting = kind === 'mint_rejected' || kind === 'session_closed';
	if (!isLasting || attempt.kind !== 'mint') return TEXTS[kind];
	const { error } = attempt.result;
	return error instanceof ExplainedError ? error.explanation : TEXTS[kind];
}
