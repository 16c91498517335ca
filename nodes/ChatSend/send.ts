import type { INodeProperties } from 'n8n-workflow';
import { sendByProfile } from '../core/profile/serviceProfile';
import { sendLegacyMessage } from '../core/service/endpoints';
import { documentedRecord, recordOf } from '../core/service/envelope';
import { InvalidInput } from '../core/service/errors';
import { parseAgentUuid } from '../core/service/parseIds';
import type { ClientFrame } from '../core/chat/frames';
import { ACK_TIMEOUT_MS } from '../core/chat/sender';
import { parseSessionId, requireText, sessionKey } from '../core/chat/parseChatFields';
import type { JsonObject } from '../core/values/json';
import { type Fields, MAY_BE_BLANK } from '../host/forms/fields';
import { readAdditions } from '../host/forms/options';
import { withChatSocket } from '../host/http/chatSocket';
import type { PreparedRequest, RequestDeps } from '../host/run/preparedRequest';
import type { Prepare } from '../host/run/chatItems';
import { asItems } from '../host/run/itemLoop';
import { acceptedAck, requireAccepted, withReplyHint } from './acknowledgement';

export const idempotencyKeyField: INodeProperties = {
	displayName: 'Idempotency Key',
	name: 'idempotencyKey',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $json.message_id }}',
	description:
		'Such as the ID of the incoming message. The service accepts a key once, so a message with an unknown outcome can be sent again.',
};

/** The document's name, also in `POST /v1/chat/inbound/async`. Empty for none. An expression that returned nothing is rejected. */
function readKey(form: Fields): { idempotency_key?: string } {
	const key = form.collection('options').text('idempotencyKey');
	return key === '' ? {} : { idempotency_key: key };
}

/** The recipient is a session, an agent, or both. */
type Recipient = { sessionId: string; agentUuid?: string };

function messageRequest(
	{ sessionId, agentUuid = '' }: Recipient,
	payload: PreparedRequest['payload'],
	idempotencyKey: string | undefined,
	send: (deps: RequestDeps) => Promise<JsonObject>,
	what = 'message',
): ReturnType<Prepare> {
	return {
		payload,
		// By their order in the chat, because an expression can change the text on each attempt. The session is the same for
		// every way of sending. Without one, the agent.
		target: ['message', ...(sessionId === '' ? ['', agentUuid] : [sessionKey(sessionId)])],
		idempotencyKey,
		once: 'item',
		happened: () => `The ${what} was sent.`,
		send: async (deps) => asItems(await send(deps)),
	};
}

/** Sends a message over the session's WebSocket, and waits for its reply. */
export const sendBySocket: Prepare = (form) => {
	const sessionId = parseSessionId(form.text('sessionId'));
	const content = requireText(form.text('message'), 'Message');
	return sendFrame(form, sessionId, { type: 'message', content });
};

/** Sends a frame over the session's WebSocket, and waits for its acknowledgement. */
export function sendFrame(
	form: Fields,
	sessionId: string,
	content: ClientFrame,
): ReturnType<Prepare> {
	const frame = { ...content, ...readKey(form) };
	const { idempotency_key: key } = frame;
	const disconnectOther = form.collection('options').switch('disconnectOther', false);
	const send = async (deps: RequestDeps) => {
		const { maxWaitMs } = deps.caller;
		const timeoutMs = Math.min(ACK_TIMEOUT_MS, maxWaitMs);
		const result = await withChatSocket(
			deps,
			sessionId,
			disconnectOther,
			async (user) => await user.send(frame, timeoutMs),
		);
		return { session_id: sessionId, ...withReplyHint(acceptedAck(result)) };
	};
	const what = content.type === 'message' ? 'message' : 'answer';
	return messageRequest({ sessionId }, { sessionId, frame }, key, send, what);
}

/** Sends a message and returns the response with the agent's reply. */
export const sendByInbound: Prepare = (form) => sendShown(form, 'chat.inbound', {});

/** Sends a message without waiting for the reply. */
export const sendByAsync: Prepare = (form) => sendShown(form, 'chat.async', readKey(form));

/** Sends a message as the profile shows it. */
function sendShown(
	form: Fields,
	name: 'chat.inbound' | 'chat.async',
	key: ReturnType<typeof readKey>,
): ReturnType<Prepare> {
	const { message, values } = readMessage(form);
	const additions = readAdditions(form.collection('options'));
	const { idempotency_key: idempotencyKey } = key;
	const documented = idempotencyKey === undefined ? undefined : { ...key };
	const send = async ({ account }: RequestDeps) => {
		const response = await sendByProfile(name, account, values, additions, documented);
		return withReplyHint(recordOf(requireAccepted(response)));
	};
	return messageRequest(message, { name, message, key, additions }, idempotencyKey, send);
}

/** The legacy request. Its response contains the agent's reply as `response`. */
export const sendByLegacy: Prepare = (form) => {
	const sessionId = parseSessionId(form.text('sessionId', MAY_BE_BLANK));
	const agentUuid = parseAgentUuid(form.text('agentUuid', MAY_BE_BLANK));
	const message = requireText(form.text('message'), 'Message');
	const body = { agent_uuid: agentUuid, chat_session_id: sessionId, message };
	const additions = readAdditions(form.collection('options'));
	const send = async ({ account: { client } }: RequestDeps) =>
		documentedRecord('session_id', await sendLegacyMessage(client, body, additions));
	return messageRequest({ sessionId, agentUuid }, { body, additions }, undefined, send);
};

/** @returns also the values that a profile can show in a request */
function readMessage(form: Fields) {
	const sessionId = form.text('sessionId', MAY_BE_BLANK);
	const uuid = form.text('agentUuid', MAY_BE_BLANK);
	const agentUuid = uuid === '' ? '' : parseAgentUuid(uuid);
	const message = requireText(form.text('message'), 'Message');
	if (sessionId !== '' || agentUuid !== '') {
		const values = { session: sessionId, agent: agentUuid, message };
		return { message: { sessionId, agentUuid, message }, values };
	}
	throw new InvalidInput(
		'The message has no session and no agent',
		"Fill in 'Session ID', or 'Agent' to let the service find or create a session.",
	);
}
