import { readAdditions } from '../shared/n8n/options';
import type { ChatItem, Prepare } from '../shared/n8n/chatItems';
import { asItems } from '../shared/n8n/itemLoop';
import { requireText } from '../shared/chat/chatInput';
import { inboundValues, requireRecipient, type InboundMessage } from '../shared/chat/chatRequests';
import { sendInbound } from '../shared/api/endpoints';
import { recordOf } from '../shared/api/envelope';

/** Sends a message and waits for the agent's reply in the answer, which passes through. */
export const sendByInbound: Prepare = (item) => {
	const message = readInbound(item);
	const additions = readAdditions(item.parameters.record('options', item.index));
	return {
		request: { message, additions },
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
