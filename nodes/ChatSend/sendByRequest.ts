import { sendInbound, sendLegacyMessage } from '../shared/api/endpoints';
import { recordOf } from '../shared/api/envelope';
import { parseAgentUuid } from '../shared/api/identifiers';
import { requireText } from '../shared/chat/chatInput';
import { type InboundMessage, inboundValues, requireRecipient } from '../shared/chat/chatRequests';
import type { ChatItem, Prepare } from '../shared/n8n/chatItems';
import { asItems } from '../shared/n8n/itemLoop';
import { readAdditions } from '../shared/n8n/options';
import { messageTarget } from './idempotency';

/** Sends a message and waits for the agent's reply in the answer, which passes through. */
export const sendByInbound: Prepare = (item) => {
	const message = readInbound(item);
	const additions = readAdditions(item.parameters.record('options', item.index));
	return {
		request: { message, additions },
		target: messageTarget(message),
		repeatable: true,
		send: async ({ connection: { client, apiMapping } }) => {
			const values = inboundValues(apiMapping, message);
			return asItems(recordOf(await sendInbound(client, values, additions)));
		},
	};
};

export function readInbound({ parameters, index }: ChatItem): InboundMessage {
	return requireRecipient({
		sessionId: parameters.text('sessionId', index),
		agentUuid: parameters.text('agentUuid', index),
		message: requireText(parameters.value('message', index), 'Message'),
	});
}

/** The older request: the agent's `response` comes in the answer. */
export const sendByLegacy: Prepare = ({ parameters, index }) => {
	const body = {
		agent_uuid: parseAgentUuid(parameters.value('agentUuid', index)),
		chat_session_id: requireText(parameters.value('sessionId', index), 'Session ID').trim(),
		message: requireText(parameters.value('message', index), 'Message'),
	};
	const additions = readAdditions(parameters.record('options', index));
	return {
		request: { body, additions },
		target: messageTarget({ sessionId: body.chat_session_id }),
		repeatable: true,
		send: async ({ connection }) =>
			asItems(recordOf(await sendLegacyMessage(connection.client, body, additions))),
	};
};
