import type { ApiResponse } from '../api/http';
import type { ApiMapping } from '../apiMapping';
import type { Clock } from '../clock';
import { acceptedTurn } from './chatRequests';
import type { NotReady, Readiness } from './ackWaiter';
import { type AwaitedReply, type EventLink, replyInAck, ReplyWatch } from './replyWatch';

/** The part of a connection that an asynchronous turn needs, such as `ChatLease`. */
export interface AsyncLink extends EventLink {
	/** Waits until no other send is in progress, and returns `release`. */
	acquireSend(): Promise<() => void>;
	ready(): Promise<Readiness>;
}

export interface AsyncTurnOptions {
	clock: Clock;
	apiMapping: ApiMapping;
	/** Values of the request. One of them may be an ID of the message. */
	givenIds: string[];
	/** With an idempotency key, the response can be that of an earlier request. */
	hasKey: boolean;
	/** Maximum wait for the reply. */
	timeoutMs: number;
}

export type AsyncOutcome =
	/** `isNamed`: whether the response names the turn or the message. */
	| { kind: 'accepted'; response: ApiResponse; isNamed: boolean; reply: AwaitedReply }
	| { kind: 'not_sent'; readiness: NotReady };

/**
 * Sends a message by `POST /v1/chat/inbound/async` and waits for its reply on the session's WebSocket.
 *
 * @throws what `send` throws
 */
export async function sendAsyncTurn(
	link: AsyncLink,
	send: () => Promise<ApiResponse>,
	{ clock, apiMapping, givenIds, hasKey, timeoutMs }: AsyncTurnOptions,
): Promise<AsyncOutcome> {
	const release = await link.acquireSend();
	const watch = new ReplyWatch(link);
	try {
		const readiness = await link.ready();
		if (readiness.kind !== 'open') return { kind: 'not_sent', readiness };
		watch.noteSent();
		// Without a key, no event from before the request is about this message.
		if (!hasKey) watch.forgetEarlier();
		const response = await send();
		release();
		const accepted = acceptedTurn(apiMapping, response, hasKey);
		const { turnId, messageId, reply: replyInResponse } = accepted;
		if (replyInResponse !== null) {
			return { kind: 'accepted', response, isNamed: true, reply: replyInAck(replyInResponse) };
		}
		const messageIds = messageId === null ? [] : [messageId];
		const reply = await watch.reply({ turnId, messageIds, givenIds }, { ms: timeoutMs, clock });
		return { kind: 'accepted', response, isNamed: turnId !== null || messageId !== null, reply };
	} finally {
		release();
		watch.end();
	}
}
