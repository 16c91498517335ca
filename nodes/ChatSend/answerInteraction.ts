import type { Prepare } from '../shared/n8n/chatItems';
import { parseSessionId, requireText } from '../shared/chat/chatInput';
import { interactionFrame } from '../shared/chat/frames';
import { frameIds, sendFrame } from './sendBySocket';

/** Answers an interactive message over the session's WebSocket, the one way the document describes. */
export const answerInteraction: Prepare = (item) => {
	const { parameters, index } = item;
	const sessionId = parseSessionId(parameters.text('sessionId', index));
	const interactionId = requireText(parameters.value('interactionId', index), 'Interaction ID');
	const answer =
		parameters.value('answerWith', index) === 'response'
			? { response: requireText(parameters.value('response', index), 'Response') }
			: { optionId: requireText(parameters.value('optionId', index), 'Option ID') };
	const ids = frameIds(item, sessionId, [interactionId, JSON.stringify(answer)]);
	return sendFrame(item, sessionId, interactionFrame(interactionId, answer, ids));
};
