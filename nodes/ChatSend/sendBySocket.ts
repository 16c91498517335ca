import { parseSessionId, requireText } from '../core/chat/parseChatFields';
import type { ClientFrame } from '../core/chat/frames';
import { capInTools } from '../host/caller/caller';
import { ACK_TIMEOUT_MS } from '../core/chat/connection';
import type { Prepare } from '../host/run/chatItems';
import type { Fields } from '../host/forms/fields';
import { concurrencyField, developerSettings } from '../host/forms/options';
import { withChatSocket } from '../host/http/chatSocket';
import { asItems } from '../host/run/itemLoop';
import { messageTarget, readIdempotencyKey } from './idempotency';
import { withReplyHint } from './messageState';
import { turnFault } from './turnFault';

/** Frames in flight if 'Concurrency' isn't set. */
export const FRAMES_AT_ONCE = 20;

export const CONCURRENCY_DESCRIPTION =
	'How many messages to send at the same time. Messages of the same session are always sent one by one.';

export const liveSettings = developerSettings(
	concurrencyField(FRAMES_AT_ONCE, CONCURRENCY_DESCRIPTION),
);

/** Sends a message over the session's WebSocket and waits for its reply. */
export const sendBySocket: Prepare = (form) => {
	const sessionId = parseSessionId(form.text('sessionId'));
	const message = requireText(form.text('message'), 'Message');
	return sendFrame(form, sessionId, { type: 'message', content: message });
};

/** Sends a frame over the session's WebSocket, and waits for its acknowledgement. */
export function sendFrame(
	form: Fields,
	sessionId: string,
	content: ClientFrame,
): ReturnType<Prepare> {
	const key = readIdempotencyKey(form);
	const frame = key === '' ? content : { ...content, idempotency_key: key };
	const disconnectOther = form.switch('disconnectOther', false);
	return {
		payload: { sessionId, frame },
		target: messageTarget({ sessionId }),
		idempotencyKey: frame.idempotency_key,
		modelMayRepeat: 'afterCompletion',
		happened: () => `The ${content.type === 'message' ? 'message' : 'answer'} was sent.`,
		send: async ({ context, account }) => {
			const ackTimeoutMs = capInTools(context, ACK_TIMEOUT_MS);
			const outcome = await withChatSocket(
				context,
				account,
				sessionId,
				{ disconnectOther },
				async (user) => await user.send(frame, ackTimeoutMs),
			);
			const fault = turnFault(outcome);
			if (fault !== null) throw fault;
			const payload = outcome.kind === 'ack' ? outcome.ack.payload : {};
			return asItems({ session_id: sessionId, ...withReplyHint(context, payload) });
		},
	};
}
