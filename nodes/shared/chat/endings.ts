import { ExplainedError, ServiceRejection } from '../api/errors';
import { onScreenOnly, USER, type Explanation } from '../api/resolution';
import { describeUrl } from './socketUrl';
import type { AttemptEnd, EndingKind } from './reconnectPolicy';

/** Why a connection ended for good. Messages that were still waiting were not sent. */
export class ChatEnded extends ExplainedError {
	override readonly name = 'ChatEnded';
	readonly outcome = 'not_sent';
	override readonly isTransient: boolean;

	constructor(
		readonly kind: EndingKind,
		explanation: Explanation,
		originalMessage: string | undefined,
		/** Close code of the last socket. */
		readonly code: number | null,
		/** HTTP status of the response that contained no token. */
		readonly status: number | null = null,
	) {
		super(explanation.message, explanation.resolution, originalMessage);
		// The same message may succeed later.
		this.isTransient = kind === 'unreachable';
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
	bad_url: {
		message: "The service returned a WebSocket URL that n8n can't use",
		resolution: {
			onScreen:
				"The URL must begin with wss://. It can begin with ws:// only if the service runs on this machine and 'Base URL' in the credential begins with http://. Report this URL to your service provider.",
			forModel: '',
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
		resolution: {
			onScreen: 'This node sends text only. Report this to the maintainers of this package.',
			forModel: '',
		},
	},
};

/** @param originalMessage what the service reported, without its tokens */
export function describeEnding(
	kind: EndingKind,
	attempt: AttemptEnd,
	originalMessage: string,
): ChatEnded {
	const code = attempt.kind === 'socket' ? attempt.end.code : null;
	const mintError = attempt.kind === 'mint' ? attempt.result.error : null;
	const status = mintError instanceof ServiceRejection ? mintError.status : null;
	return new ChatEnded(
		kind,
		explain(kind, attempt),
		originalMessage === '' ? undefined : originalMessage,
		code,
		status,
	);
}

/** The close code and reason, why no token was issued, or the URL that can't be used. May contain tokens. */
export function serviceReason(attempt: AttemptEnd): string {
	if (attempt.kind === 'url') return describeUrl(attempt.wsUrl);
	if (attempt.kind === 'mint') return mintFailureReason(attempt.result.error);
	const { code, reason } = attempt.end;
	return [code === null ? '' : `close code ${code}`, reason].filter(Boolean).join(' · ');
}

export function mintFailureReason(error: unknown): string {
	if (error instanceof ExplainedError) return error.originalMessage ?? error.message;
	return error instanceof Error ? error.message : '';
}

/** The error table already explains a rejected token request. */
function explain(kind: EndingKind, attempt: AttemptEnd): Explanation {
	const isPermanent = kind === 'mint_rejected' || kind === 'session_closed';
	if (!isPermanent || attempt.kind !== 'mint') return BY_KIND[kind];
	const { error } = attempt.result;
	return error instanceof ExplainedError ? error.explanation : BY_KIND[kind];
}
