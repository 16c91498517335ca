import type { INodeProperties } from 'n8n-workflow';
import { shownFor } from '../shared/n8n/chatFields';

const KEYED_MESSAGE = { operation: ['sendMessage'], sendBy: ['socket', 'async'] };
const KEYED_ANSWER = { operation: ['answerInteraction'] };

const modeField: INodeProperties = {
	displayName: 'Protect Against Sending Twice',
	name: 'idempotency',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'No',
			value: 'none',
			description: 'A message whose fate is unknown is reported and never sent again by this node',
		},
		{
			name: 'With a Key From This Item',
			value: 'derived',
			description:
				'The key is made of the session, the content and what you name below, so the same item run again counts as the same message',
		},
		{
			name: 'With My Own Key',
			value: 'own',
			description: 'You give the idempotency key',
		},
	],
	default: 'none',
	description:
		'Whether to send an idempotency key, with which sending the same message again is safe',
};

const uniqueField: INodeProperties = {
	displayName: 'What Makes This Message Unique',
	name: 'uniqueBy',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. {{ $json.message_id }}',
	description:
		'A value that stays the same when this item is run again, and differs between two messages with the same text, such as the ID of the row or of the incoming message',
};

const keyField: INodeProperties = {
	displayName: 'Idempotency Key',
	name: 'idempotencyKey',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. {{ $json.message_id }}',
	description:
		'The same key with the same content is taken once; with other content the service refuses it',
};

export const idempotencyFields: INodeProperties[] = [KEYED_MESSAGE, KEYED_ANSWER].flatMap(
	(show) => [
		shownFor(modeField, show),
		shownFor(uniqueField, { ...show, idempotency: ['derived'] }),
		shownFor(keyField, { ...show, idempotency: ['own'] }),
	],
);
