import type { ApiResponse } from '../api/http';
import type { ApiMapping } from '../apiMapping';
import type { Clock } from '../clock';
import { acceptedTurn } from './chatRequests';
import type { Readiness } from './ackWaiter';
import { type AwaitedReply, type EventLink, replyInAck, ReplyWatch } from './replyWatch';

/** What it needs of a connection; `ChatLease` is such. */
export interface AsyncLink extends EventLink {
	/** Waits until it is one's turn to send, and returns what ends it. */
	acquireSend(): Promise<() => void>;
	ready(): Promise<Readiness>;
}

export interface AsyncTurnOptions {
	clock: Clock;
	apiMapping: ApiMapping;
	/** Values of the request, of which one may be an ID of the message. */
	givenIds: string[];
	/** With an idempotency key, so the response can be that of the first time. */
	keyed: boolean;
	/** How long the reply is waited for. */
	ms: number;
}

export type AsyncOutcome =
	/** `isNamed`: whether the response names the turn or the message. */
	| { kind: 'taken'; answer: ApiResponse; isNamed: boolean; reply: AwaitedReply }
	| { kind: 'not_sent'; readiness: Exclude<Readiness, { kind: 'open' }> };

/**
 * Sends a message by `POST /v1/chat/inbound/async` and waits for its reply on the session's WebSocket.
 *
 * @throws what `send` throws
 */
export async function sendAsyncTurn(
	link: AsyncLink,
	send: () => Promise<ApiResponse>,
	{ clock, apiMapping, givenIds, keyed, ms }: AsyncTurnOptions,
): Promise<AsyncOutcome> {
	const endTurn = await link.acquireSend();
	// Listening comes first: a reply may be there before the request is answered.
	const watch = new ReplyWatch(link);
	try {
		const readiness = await link.ready();
		if (readiness.kind !== 'open') return { kind: 'not_sent', readiness };
		const answer = await send();
		endTurn();
		const { turnId, messageId, reply: given } = acceptedTurn(apiMapping, answer);
		if (keyed && given !== null) {
			return { kind: 'taken', answer, isNamed: true, reply: replyInAck(given) };
		}
		const messageIds = messageId === null ? [] : [messageId];
		const reply = await watch.reply({ turnId, messageIds, givenIds }, { ms, clock });
		return { kind: 'taken', answer, isNamed: turnId !== null || messageId !== null, reply };
	} finally {
		endTurn();
		watch.end();
	}
}
