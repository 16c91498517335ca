import type { INodeProperties } from 'n8n-workflow';
import { shownFor } from '../shared/n8n/chatFields';
import {
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField,
} from '../shared/n8n/options';

const optionsField: INodeProperties = {
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add Option',
	default: {},
};

/** Messages by live connection under way at once, where the person sets nothing. */
export const SESSIONS_AT_ONCE = 20;

const concurrency = (initial: number) =>
	concurrencyField(
		initial,
		'How many messages are under way at the same time. Those of the same session always go one after another.',
	);

const messageId: INodeProperties = {
	displayName: 'Message ID',
	name: 'messageId',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $json.row_number }}',
	description: 'An ID of your own for the message, which the service gives back',
};

const replyTimeLimit: INodeProperties = {
	displayName: 'Time Limit for the Reply',
	name: 'replyTimeLimit',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 3600 },
	default: 120,
	description:
		'Seconds to wait for a reply that comes after the service has taken the message. When they are over, the item comes out with timed_out set and no reply.',
};

const SOCKET = [concurrency(SESSIONS_AT_ONCE), messageId, replyTimeLimit];
const REQUEST = [additionalBodyFields, additionalQueryParameters, concurrency(1)];

export const optionsFields: INodeProperties[] = [
	shownFor(
		{ ...optionsField, options: SOCKET },
		{ operation: ['sendMessage'], sendBy: ['socket'] },
	),
	shownFor({ ...optionsField, options: SOCKET }, { operation: ['answerInteraction'] }),
	shownFor(
		{ ...optionsField, options: [...REQUEST, replyTimeLimit] },
		{ operation: ['sendMessage'], sendBy: ['async'] },
	),
	shownFor(
		{ ...optionsField, options: REQUEST },
		{ operation: ['sendMessage'], sendBy: ['inbound', 'legacy'] },
	),
];
