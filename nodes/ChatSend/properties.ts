import omit from 'lodash/omit';
import type { INodeProperties } from 'n8n-workflow';
import { agentField } from '../shared/n8n/forms/locatorFields';
import { sessionField, disconnectOtherField } from '../shared/n8n/forms/chatFields';
import { shownWhere } from '../shared/n8n/forms/shownWhere';
import { resourceField } from '../shared/n8n/run/operations';
import {
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField,
	developerSettings,
} from '../shared/n8n/forms/options';
import { toolDescriptionFields } from '../shared/n8n/tools/toolDescription';
import { idempotencyKeyField } from './idempotency';

const MESSAGE = { operation: ['sendMessage'] };
const ANSWER = { operation: ['answerInteraction'] };

const whatFields: INodeProperties[] = [
	resourceField([{ name: 'Message', value: 'message' }]),
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'Answer Interaction',
				value: 'answerInteraction',
				action: 'Answer interactive chat message',
				description: 'Choose an option of buttons, a list, or a carousel, or enter free-form input',
			},
			{
				name: 'Send Message',
				value: 'sendMessage',
				action: 'Send chat message',
				description: "Send a customer's message to the agent",
			},
		],
		default: 'sendMessage',
		displayOptions: { show: { resource: ['message'] } },
	},
	shownWhere(
		{
			displayName: 'Send Via',
			name: 'sendBy',
			type: 'options',
			noDataExpression: true,
			options: [
				{
					name: 'Live Connection (WebSocket)',
					value: 'socket',
					description:
						'Returns the reply and needs no API mapping. If the service merges several messages, the reply comes later, and the node returns the turn ID. The nodes of this n8n share one connection. The service rejects it if the session is in use by another client.',
				},
				{
					name: 'Request With Immediate Reply',
					value: 'inbound',
					description: 'Waits until the agent replies (POST /v1/chat/inbound)',
				},
				{
					name: 'Request With Later Reply',
					value: 'async',
					description:
						"Doesn't wait for the reply. It starts a workflow with Chat Delivery Trigger or Chat Events Trigger (POST /v1/chat/inbound/async).",
				},
				{
					name: 'Legacy Request (Deprecated)',
					value: 'legacy',
					description:
						'The older POST /chat_messages/send_message. Use another option in new workflows.',
				},
			],
			default: 'socket',
		},
		MESSAGE,
	),
];

const whomFields: INodeProperties[] = [
	shownWhere(sessionField, { ...MESSAGE, sendBy: ['socket', 'legacy'] }),
	shownWhere(sessionField, ANSWER),
	shownWhere(
		{
			...omit(sessionField, 'required'),
			description:
				'The chat session. If empty, the service finds or creates one for the agent, and nothing in the request says which customer writes. With several customers, enter the session_id that Chat Session > Create returned for each.',
		},
		{ ...MESSAGE, sendBy: ['inbound', 'async'] },
	),
	shownWhere(agentField, { ...MESSAGE, sendBy: ['legacy'] }),
	shownWhere(
		{
			...omit(agentField, 'required'),
			description: "The agent to talk to. Required if 'Session ID' is empty.",
		},
		{ ...MESSAGE, sendBy: ['inbound', 'async'] },
	),
];

const contentFields: INodeProperties[] = [
	shownWhere(
		{
			displayName: 'Message',
			name: 'message',
			type: 'string',
			typeOptions: { rows: 3 },
			default: '',
			required: true,
			placeholder: 'e.g. Is the flat still available?',
			description:
				"What the customer says. The agent replies to it. n8n can't write to the customer. To tell the agent something, use Inject Context.",
			hint: 'In the words of the customer',
		},
		MESSAGE,
	),
	shownWhere(
		{
			displayName: 'Interaction ID',
			name: 'interactionId',
			type: 'string',
			default: '',
			required: true,
			description: 'The ID of the interactive message that the customer answers',
		},
		ANSWER,
	),
	shownWhere(
		{
			displayName: 'Answer With',
			name: 'answerWith',
			type: 'options',
			noDataExpression: true,
			options: [
				{ name: 'An Option', value: 'option' },
				{ name: 'Free-Form Input', value: 'response' },
			],
			default: 'option',
			description: 'Whether to choose one of the options or to enter text',
		},
		ANSWER,
	),
	shownWhere(
		{
			displayName: 'Option ID',
			name: 'optionId',
			type: 'string',
			default: '',
			required: true,
			description: 'The ID of the chosen button, list entry, or card in the interactive message',
		},
		{ ...ANSWER, answerWith: ['option'] },
	),
	shownWhere(
		{
			displayName: 'Response',
			name: 'response',
			type: 'string',
			typeOptions: { rows: 3 },
			default: '',
			required: true,
			description: 'What the customer enters',
		},
		{ ...ANSWER, answerWith: ['response'] },
	),
];

const connectionFields: INodeProperties[] = [
	shownWhere(disconnectOtherField, { ...MESSAGE, sendBy: ['socket'] }),
	shownWhere(disconnectOtherField, ANSWER),
];

/** Messages in flight on live connections if 'Concurrency' isn't set. */
export const DEFAULT_CONCURRENCY = 20;

const concurrency = (initial: number) =>
	concurrencyField(
		initial,
		'How many messages to send at the same time. Messages of the same session are always sent one by one.',
	);

const socketSettings = developerSettings(concurrency(DEFAULT_CONCURRENCY));
const requestSettings = developerSettings(
	additionalBodyFields,
	additionalQueryParameters,
	concurrency(1),
);

const optionsFields: INodeProperties[] = [
	shownWhere(socketSettings, { ...MESSAGE, sendBy: ['socket'] }),
	shownWhere(socketSettings, ANSWER),
	shownWhere(requestSettings, { ...MESSAGE, sendBy: ['inbound', 'async', 'legacy'] }),
];

const form: INodeProperties[] = [
	...whatFields,
	...whomFields,
	...contentFields,
	...connectionFields,
	shownWhere(idempotencyKeyField, { ...MESSAGE, sendBy: ['socket', 'async'] }),
	shownWhere(idempotencyKeyField, ANSWER),
	...optionsFields,
];

const fieldsOf = ({ operation: [operation] }: typeof MESSAGE) =>
	form.filter(({ displayOptions }) => displayOptions?.show?.operation?.includes(operation ?? ''));

/** The form, from top to bottom. */
export const sendFields: INodeProperties[] = [
	...toolDescriptionFields(
		"Sends a customer's message to a chat session and returns the AI agent's reply. Use this only for what the customer has said or wants to say.",
		fieldsOf(MESSAGE),
		MESSAGE,
	),
	...toolDescriptionFields(
		'Answers an interactive message of the AI agent in a chat session (buttons, a list, or a carousel) for the customer. Use this only for what the customer has chosen.',
		fieldsOf(ANSWER),
		ANSWER,
	),
	...form,
];
