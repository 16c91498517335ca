import { OutcomeUnknown } from '../shared/api/errors';
import { parseSessionId, requireText } from '../shared/chat/chatInput';
import { plainText } from '../shared/values';
import { type ClientFrame, interactionFrame, messageFrame } from '../shared/chat/frames';
import { ACK_TIMEOUT_MS } from '../shared/chat/timings';
import { limitedInTools, TOOL_LIMITS } from '../shared/n8n/toolTime';
import { sendTurn, type TurnLink, type TurnOutcome } from '../shared/chat/turn';
import type { JsonObject } from '../shared/json';
import type { ChatItem, Prepare } from '../shared/n8n/chatItems';
import { clock } from '../shared/n8n/connect';
import { asItems } from '../shared/n8n/itemLoop';
import { awaitedReply, replyTimeLimitMs } from './awaitedReply';
import { idempotencyKey, messageTarget } from './idempotency';
import { turnFault } from './turnFault';

/** Sends a message over the session's WebSocket and waits for its reply. */
export const sendBySocket: Prepare = (item) => {
	const { parameters, index } = item;
	const sessionId = parseSessionId(parameters.text('sessionId', index));
	const message = requireText(parameters.value('message', index), 'Message');
	return sendFrame(item, sessionId, messageFrame(message, frameIds(item, sessionId, [message])));
};

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

function frameIds({ parameters, index }: ChatItem, sessionId: string, content: string[]) {
	const { messageId } = parameters.record('options', index);
	return {
		messageId: plainText(messageId).trim(),
		idempotencyKey: idempotencyKey(parameters, index, sessionId, content),
	};
}

function sendFrame(
	{ parameters, index }: ChatItem,
	sessionId: string,
	frame: ClientFrame,
): ReturnType<Prepare> {
	const replyMs = replyTimeLimitMs(parameters, index);
	const takeOver = parameters.boolean('takeOver', index);
	return {
		request: { sessionId, frame },
		target: messageTarget({ sessionId }),
		idempotent: frame.idempotency_key !== undefined,
		repeatable: true,
		send: async ({ context, connection, sockets }) => {
			const options = {
				clock,
				random: Math.random,
				ackTimeoutMs: limitedInTools(context, ACK_TIMEOUT_MS, TOOL_LIMITS.ackMs),
				resultTimeoutMs: limitedInTools(context, replyMs),
			};
			const send = async (socket: TurnLink) => await sendTurn(socket, frame, options);
			const outcome = await sockets.use(connection, sessionId, takeOver, send);
			return asItems({ session_id: sessionId, ...turnRecord(outcome) });
		},
	};
}

function turnRecord(outcome: TurnOutcome): JsonObject {
	switch (outcome.kind) {
		case 'completed':
			return outcome.ack.payload;
		// A state the document does not list is data, like every value it leaves open.
		case 'unrecognized':
			return outcome.ack.payload;
		case 'replayed':
		case 'merged': {
			return { ...outcome.ack.payload, ...awaitedReply(outcome) };
		}
		default:
			throw faultOf(outcome);
	}
}

function faultOf(outcome: TurnOutcome): Error {
	const fault = turnFault(outcome);
	if (fault === null) return new TypeError('A turn that went well has no fault');
	const keyed = outcome.kind === 'unknown' && outcome.keyed;
	// Kept as settled for Retry On Fail, unless a key makes sending it again safe.
	return fault.outcome === 'unknown' && !keyed
		? new OutcomeUnknown(fault.message, fault.resolution, fault.originalMessage)
		: fault;
}
