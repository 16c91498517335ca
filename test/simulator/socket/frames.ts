import type { Incoming } from '../chat/session';
import { isNonEmptyString, isObject, type JsonObject } from '../json';

/** The content of a client's frame, or its `invalid` code. Both with the message ID if it's readable. */
export type ReadFrame = { incoming: Incoming } | { error: string; messageId: string | null };

export function readFrame(text: string): ReadFrame {
	const frame = parsed(text);
	if (frame === undefined) return { error: 'bad_json', messageId: null };
	if (!isObject(frame)) return { error: 'bad_payload', messageId: null };
	const messageId = typeof frame.message_id === 'string' ? frame.message_id : null;
	const fail = (error: string): ReadFrame => ({ error, messageId });
	const { type = 'message', message_id: id, idempotency_key: key } = frame;
	if (type !== 'message' && type !== 'interaction_response') return fail('invalid_input_type');
	if (id !== undefined && typeof id !== 'string') return fail('bad_payload');
	if (key !== undefined && !isNonEmptyString(key)) return fail('bad_payload');
	const common = { rail: 'socket', messageId, idempotencyKey: key ?? null } as const;
	if (type === 'interaction_response') {
		const answer = answerOf(frame);
		return answer ? { incoming: { ...common, ...answer } } : fail('bad_payload');
	}
	const { content } = frame;
	if (content !== undefined && typeof content !== 'string') return fail('bad_payload');
	if (content === undefined || content.trim() === '') return fail('message_required');
	return { incoming: { ...common, content, interaction: null } };
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** Either a choice or free-form input, never both. */
function answerOf(frame: JsonObject): Pick<Incoming, 'content' | 'interaction'> | null {
	const { interaction_id: id, option_id: optionId, response } = frame;
	if (!isNonEmptyString(id)) return null;
	if (isNonEmptyString(optionId) && response === undefined) {
		return { content: optionId, interaction: { id, optionId } };
	}
	if (isNonEmptyString(response) && optionId === undefined) {
		return { content: response, interaction: { id, optionId: null } };
	}
	return null;
}
