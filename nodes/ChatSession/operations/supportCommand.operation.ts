import type { INodeProperties } from 'n8n-workflow';
import { readAdditions } from '../../shared/n8n/forms/options';
import { sessionField } from '../../shared/n8n/forms/chatFields';
import { forEachChatItem, type Prepare } from '../../shared/n8n/run/chatItems';
import { type Fields, MAY_BE_BLANK } from '../../shared/n8n/forms/fields';
import { asItems } from '../../shared/n8n/run/itemLoop';
import { shownOnlyAt } from '../../shared/n8n/forms/shownWhere';
import { textInTools } from '../../shared/n8n/tools/textInTools';
import type { Operation } from '../../shared/n8n/run/operations';
import { parseSessionId, requireText, sessionKey } from '../../shared/chat/parseChatFields';
import { sendSupportCommand } from '../../shared/api/endpoints';
import { recordOf } from '../../shared/api/envelope';
import { requestSettings } from './create.operation';

const commandFields = textInTools(
	{
		displayName: 'Command',
		name: 'command',
		type: 'options',
		options: [
			{ name: 'Close', value: 'close', description: 'Close the session' },
			{ name: 'Other', value: 'other', description: 'Another command of your service' },
		],
		default: 'close',
		description: 'What to do with the session',
	},
	{
		placeholder: 'e.g. close',
		description:
			'What to do with the session: "close", or the name of another command of your service',
	},
);

const otherCommandField: INodeProperties = {
	displayName: 'Command Name',
	name: 'otherCommand',
	type: 'string',
	default: '',
	required: true,
	description:
		"The name of the command in your service. If it needs more values, enter them in 'Additional Body Fields' under 'Developer Settings'.",
};

export const supportCommand: Operation = {
	name: 'Support Command',
	value: 'supportCommand',
	action: 'Send support command to chat session',
	description: 'Send a command of your service, for example to hand the chat to a person',
	fields: [
		sessionField,
		...commandFields,
		shownOnlyAt(otherCommandField, 'command', 'other'),
		requestSettings,
	],
	toolDescription:
		'Sends a support command to a chat session, such as handing the conversation to a person or giving it back to the AI agent.',
	async execute(run) {
		const prepare: Prepare = (form) => send(form, readCommand(form));
		return await forEachChatItem(run, prepare, {
			completedText: { singular: 'command was already sent', plural: 'commands were already sent' },
		});
	},
};

export const close: Operation = {
	name: 'Close',
	value: 'close',
	action: 'Close chat session',
	description: 'End the conversation permanently',
	fields: [sessionField, requestSettings],
	toolDescription:
		'Closes a chat session permanently. Use this only when the conversation has ended.',
	async execute(run) {
		return await forEachChatItem(run, (form) => send(form, 'close'), {
			completedText: {
				singular: 'session was already closed',
				plural: 'sessions were already closed',
			},
		});
	},
};

function readCommand(form: Fields): string {
	const command = requireText(form.choiceOrText('command', MAY_BE_BLANK), 'Command');
	if (command !== 'other') return command;
	return requireText(form.text('otherCommand', MAY_BE_BLANK), 'Command Name');
}

function send(form: Fields, command: string): ReturnType<Prepare> {
	const sessionId = parseSessionId(form.text('sessionId', MAY_BE_BLANK));
	const additions = readAdditions(form.collection('developerSettings'));
	return {
		payload: { sessionId, command, additions },
		// A session can be handed over and back many times, so only its latest command counts as a repeat.
		target: ['support', sessionKey(sessionId)],
		modelMayRepeat: 'afterOtherRequest',
		send: async ({ account: { client } }) => {
			const response = await sendSupportCommand(client, sessionId, command, additions);
			return asItems({ session_id: sessionId, ...recordOf(response) });
		},
	};
}
