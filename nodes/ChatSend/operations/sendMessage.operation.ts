import omit from 'lodash/omit';
import { disconnectOtherField, sessionField } from '../../host/forms/chatFields';
import { agentField } from '../../host/forms/locatorFields';
import {
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField,
	optionsCollection,
} from '../../host/forms/options';
import { shownWhere } from '../../host/forms/shownWhere';
import { forEachChatItem, type Prepare } from '../../host/run/chatItems';
import type { Operation } from '../../host/run/operations';
import {
	idempotencyKeyField,
	sendByAsync,
	sendByInbound,
	sendByLegacy,
	sendBySocket,
} from '../send';

/** Frames in flight if 'Concurrency' isn't set. */
export const FRAMES_AT_ONCE = 20;

const CONCURRENCY_DESCRIPTION =
	'How many messages to send at the same time. Items with the same session are always sent one by one.';

export const liveOptions = optionsCollection(
	disconnectOtherField,
	idempotencyKeyField,
	concurrencyField(FRAMES_AT_ONCE, CONCURRENCY_DESCRIPTION),
);

/** By the values of 'Sending Method'. */
const SEND_METHODS: { [sendingMethod: string]: Prepare } = {
	socket: sendBySocket,
	inbound: sendByInbound,
	async: sendByAsync,
	legacy: sendByLegacy,
};

export const sendMessage: Operation = {
	value: 'sendMessage',
	name: 'Send Message',
	action: 'Send chat message',
	description: "Send a customer's message to the agent",
	fields: [
		{
			displayName: 'Sending Method',
			name: 'sendingMethod',
			type: 'options',
			noDataExpression: true,
			options: [
				{
					name: 'Live Connection (WebSocket)',
					value: 'socket',
					description:
						'Returns the reply, needs no Service Profile, and is rejected if another client uses the session',
				},
				{
					name: 'Request With Immediate Reply',
					value: 'inbound',
					description: 'Waits until the agent replies. Needs "chat.inbound" in Service Profile.',
				},
				{
					name: 'Request With Later Reply',
					value: 'async',
					description:
						'Needs "chat.async" in Service Profile. The reply starts a Chat Delivery or Chat Events Trigger.',
				},
				{
					name: 'Legacy Request (Deprecated)',
					value: 'legacy',
					description:
						'The older POST /chat_messages/send_message. Use another option in new workflows.',
				},
			],
			default: 'socket',
			description:
				'How to send the message, and when its reply comes. If the service merges several messages, the reply comes later.',
		},
		shownWhere(sessionField, { sendingMethod: ['socket', 'legacy'] }),
		shownWhere(
			{
				...omit(sessionField, 'required'),
				description:
					'The session_id that Chat Session > Create returned for this customer. If empty, the service finds or creates a session for the agent.',
			},
			{ sendingMethod: ['inbound', 'async'] },
		),
		shownWhere(agentField, { sendingMethod: ['legacy'] }),
		shownWhere(
			{
				...omit(agentField, 'required'),
				description: "The agent to talk to. Required if 'Session ID' is empty.",
			},
			{ sendingMethod: ['inbound', 'async'] },
		),
		{
			displayName: 'Message',
			name: 'message',
			type: 'string',
			typeOptions: { rows: 3 },
			default: '',
			required: true,
			placeholder: 'e.g. Is the flat still available?',
			description:
				"What the customer says, in the customer's words. To tell the agent something, use Inject Context.",
		},
		shownWhere(liveOptions, { sendingMethod: ['socket'] }),
		shownWhere(
			optionsCollection(
				shownWhere(idempotencyKeyField, { '/sendingMethod': ['async'] }),
				additionalBodyFields,
				additionalQueryParameters,
				concurrencyField(1, CONCURRENCY_DESCRIPTION),
			),
			{ sendingMethod: ['inbound', 'async', 'legacy'] },
		),
	],
	toolDescription:
		"Sends a customer's message to a chat session and returns the AI agent's reply, unless it comes later. Use this only for what the customer has said or wants to say.",

	async execute(run) {
		const prepare =
			SEND_METHODS[run.parameters.at(0).choice('sendingMethod', 'socket')] ?? sendBySocket;
		return await forEachChatItem(run, prepare, prepare === sendBySocket ? FRAMES_AT_ONCE : 1);
	},
};
