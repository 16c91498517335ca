import type { INodeProperties } from 'n8n-workflow';
import { readAdditions } from '../../shared/n8n/forms/options';
import { sessionField } from '../../shared/n8n/forms/chatFields';
import { forEachChatItem, type Prepare } from '../../shared/n8n/run/chatItems';
import { type Fields, MAY_BE_BLANK } from '../../shared/n8n/forms/fields';
import { asItems } from '../../shared/n8n/run/itemLoop';
import { shownOnlyAt, textInTools } from '../../shared/n8n/tools/textInTools';
import type { Operation } from '../../shared/n8n/run/operations';
import { parseSessionId, requireText, sessionKey } from '../../shared/chat/parseChatFields';
import { sendSupportCommand } from '../../shared/api/endpoints';
import { recordOf } from '../../shared/api/envelope';
import { requestOptions } from './create.operation';

const commandFields = textInTools(
	{
		displayName: 'Command',
		name: 'command',
		type: 'options',
		options: [
			{ name: 'Close', value: 'close', description: 'Close the session' },
			{ name: 'Other', value: 'other', description: 'A command that your service knows' },
		],
		default: 'close',
		description: 'What to do with the session',
	},
	{
		placeholder: 'e.g. close',
		description:
			'What to do with the session: “close”, or another command as your service calls it',
	},
);

const otherCommandField: INodeProperties = {
	displayName: 'Command Name',
	name: 'otherCommand',
	type: 'string',
	default: '',
	required: true,
	description:
		'The name of the command in your service. Enter what else it needs in Options → Additional Body Fields.',
};

export const supportCommand: Operation = {
	name: 'Support Command',
	value: 'supportCommand',
	action: 'Send support command to chat session',
	description: 'Hand the chat to a person, give it back to the agent, and the like',
	fields: [
		sessionField,
		...commandFields,
		shownOnlyAt(otherCommandField, 'command', 'other'),
		requestOptions,
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
	description: 'End the conversation for good',
	fields: [sessionField, requestOptions],
	toolDescription: 'Ends a chat session for good. Use this only when the conversation is over.',
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
	const additions = readAdditions(form.collection('options'));
	return {
		payload: { sessionId, command, additions },
		// A takeover may follow its own end; only what was asked last of this session is a repetition.
		subject: ['support', sessionKey(sessionId)],
		send: async ({ connection: { client } }) => {
			const answer = await sendSupportCommand(client, sessionId, command, additions);
			return asItems({ session_id: sessionId, ...recordOf(answer) });
		},
	};
}
