import type { INodeProperties } from 'n8n-workflow';
import { sessionKey } from '../core/chat/parseChatFields';
import type { Fields } from '../host/forms/fields';

export const idempotencyKeyField: INodeProperties = {
	displayName: 'Idempotency Key',
	name: 'idempotencyKey',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $json.message_id }}',
	description:
		"Makes sending the same message again safe, because the service accepts a key only once. Use a value that's the same when this item runs again, and different for each message, such as the ID of the incoming message, without text around it. If empty, a message with an unknown outcome isn't sent again.",
};

/** Empty for none. A key whose expression returned nothing is rejected. */
export function readIdempotencyKey(form: Fields): string {
	return form.text('idempotencyKey');
}

type Recipient = { sessionId: string; agentUuid?: string };

/**
 * Identifies messages by their order in the chat, because an expression can change the text on each attempt. The session
 * is the same for every way of sending. Without one, the agent.
 */
export function messageTarget({ sessionId, agentUuid = '' }: Recipient): unknown {
	return ['message', ...(sessionId === '' ? ['', agentUuid] : [sessionKey(sessionId)])];
}
