import { readAdditions } from '../shared/n8n/options';
import type { Prepare } from '../shared/n8n/chatItems';
import { asItems } from '../shared/n8n/itemLoop';
import { requireText } from '../shared/chat/chatInput';
import { sendLegacyMessage } from '../shared/api/endpoints';
import { recordOf } from '../shared/api/envelope';
import { parseAgentUuid } from '../shared/api/identifiers';

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
		repeatable: true,
		send: async ({ connection }) =>
			asItems(recordOf(await sendLegacyMessage(connection.client, body, additions))),
	};
};
