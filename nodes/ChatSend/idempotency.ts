import type { INodeProperties } from 'n8n-workflow';
import { requireText, sessionKey } from '../shared/chat/parseChatFields';
import { fingerprint } from '../shared/hash';
import { shownWhere } from '../shared/n8n/forms/shownWhere';
import { type Fields, MAY_BE_BLANK } from '../shared/n8n/forms/fields';

const KEYED_MESSAGE = { operation: ['sendMessage'], sendBy: ['socket', 'async'] };
const KEYED_ANSWER = { operation: ['answerInteraction'] };

const modeField: INodeProperties = {
	displayName: 'Prevent Duplicate Messages',
	name: 'idempotency',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'No',
			value: 'none',
			description:
				"If the outcome of a message is unknown, the node reports it and doesn't send the message again",
		},
		{
			name: 'With a Key From This Item',
			value: 'derived',
			description:
				'The node creates the key from the session or else the agent, the content, and the value below, so an item that runs again counts as the same message',
		},
		{
			name: 'With My Own Key',
			value: 'own',
			description: 'Enter the idempotency key yourself',
		},
	],
	default: 'none',
	description: 'Whether to send an idempotency key, so that sending the same message again is safe',
};

const uniqueField: INodeProperties = {
	displayName: 'Unique Value',
	name: 'uniqueBy',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. {{ $json.message_id }}',
	description:
		'A value that stays the same when this item runs again and differs between two messages with the same text, such as the ID of the row or of the incoming message',
};

const keyField: INodeProperties = {
	displayName: 'Idempotency Key',
	name: 'idempotencyKey',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. {{ $json.message_id }}',
	description:
		'The service accepts a key once for the same content, and rejects it for other content',
};

export const idempotencyFields: INodeProperties[] = [KEYED_MESSAGE, KEYED_ANSWER].flatMap(
	(show) => [
		shownWhere(modeField, show),
		shownWhere(uniqueField, { ...show, idempotency: ['derived'] }),
		shownWhere(keyField, { ...show, idempotency: ['own'] }),
	],
);

type Recipient = { sessionId: string; agentUuid?: string };

/** The key of one item, or empty if 'Prevent Duplicate Messages' is off. It's the same when the item runs again. */
export function idempotencyKey(
	form: Fields,
	{ sessionId, agentUuid = '' }: Recipient,
	content: string[],
): string {
	const mode = form.choice('idempotency', 'none');
	if (mode === 'own') {
		return requireText(form.text('idempotencyKey', MAY_BE_BLANK), 'Idempotency Key');
	}
	if (mode !== 'derived') return '';
	const field = 'Unique Value';
	const unique = requireText(form.textAsWritten('uniqueBy', MAY_BE_BLANK), field);
	return fingerprint([...conversationOf({ sessionId, agentUuid }), ...content, unique]);
}

/** Identifies messages by their order in the chat, because an expression can change the text on each attempt. */
export function messageTarget(recipient: Recipient): unknown {
	return ['message', ...conversationOf(recipient)];
}

/** The session, which is the same for every way of sending. Without one, the agent. */
function conversationOf({ sessionId, agentUuid = '' }: Recipient): string[] {
	return sessionId === '' ? ['', agentUuid] : [sessionKey(sessionId)];
}
