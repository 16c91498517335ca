import { sendInbound, sendLegacyMessage } from '../shared/api/endpoints';
import { recordOf } from '../shared/api/envelope';
import { parseAgentUuid } from '../shared/api/parseIds';
import { requireText } from '../shared/chat/parseChatFields';
import { type InboundMessage, inboundValues, requireRecipient } from '../shared/chat/chatRequests';
import type { Prepare } from '../shared/n8n/run/chatItems';
import { type Fields, MAY_BE_BLANK } from '../shared/n8n/forms/fields';
import { asItems } from '../shared/n8n/run/itemLoop';
import { readAdditions } from '../shared/n8n/forms/options';
import { messageTarget } from './idempotency';
import { requireAccepted } from './messageState';

/** Sends a message and returns the response with the agent's reply. */
export const sendByInbound: Prepare = (form) => {
	const message = readInbound(form);
	const additions = readAdditions(form.collection('developerSettings'));
	return {
		payload: { message, additions },
		target: messageTarget(message),
		repeat: 'afterCompletion',
		send: async ({ account: { client, apiMapping } }) => {
			const values = inboundValues(apiMapping, message);
			return asItems(recordOf(requireAccepted(await sendInbound(client, values, additions))));
		},
	};
};

export function readInbound(form: Fields): InboundMessage {
	const agentUuid = form.text('agentUuid', MAY_BE_BLANK);
	return requireRecipient({
		sessionId: form.text('sessionId', MAY_BE_BLANK),
		agentUuid: agentUuid === '' ? '' : parseAgentUuid(agentUuid),
		message: requireText(form.textAsWritten('message', MAY_BE_BLANK), 'Message'),
	});
}

/** The legacy request. Its response contains the agent's reply as `response`. */
export const sendByLegacy: Prepare = (form) => {
	const body = {
		agent_uuid: parseAgentUuid(form.textOrNumber('agentUuid', MAY_BE_BLANK)),
		chat_session_id: requireText(form.text('sessionId', MAY_BE_BLANK), 'Session ID'),
		message: requireText(form.textAsWritten('message', MAY_BE_BLANK), 'Message'),
	};
	const additions = readAdditions(form.collection('developerSettings'));
	return {
		payload: { body, additions },
		target: messageTarget({ sessionId: body.chat_session_id }),
		repeat: 'afterCompletion',
		send: async ({ account }) =>
			asItems(recordOf(await sendLegacyMessage(account.client, body, additions))),
	};
};
