import type { INodeProperties } from 'n8n-workflow';
import { readAdditions } from '../../host/forms/options';
import { sessionField } from '../../host/forms/chatFields';
import { forEachChatItem } from '../../host/run/chatItems';
import type { Fields } from '../../host/forms/fields';
import { asItems } from '../../host/run/itemLoop';
import type { Operation } from '../../host/run/operations';
import { parseSessionId, requireText, sessionKey } from '../../core/chat/parseChatFields';
import type { ApiClient } from '../../core/service/client';
import { type Additions, sendSupportCommand } from '../../core/service/endpoints';
import { recordOf } from '../../core/service/envelope';
import type { ApiResponse } from '../../core/service/http';
import type { JsonObject } from '../../core/values/json';
import type { PreparedRequest } from '../../host/ledger/preparedRequest';
import { quoted } from '../../core/values/values';
import { requestSettings } from './create.operation';

const commandField: INodeProperties = {
	displayName: 'Command',
	name: 'command',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. close',
	description:
		"The name of a command of your service. If it needs more values, enter them in 'Additional Body Fields' under 'Developer Settings'.",
};

export const supportCommand: Operation = {
	name: 'Support Command',
	value: 'supportCommand',
	action: 'Send support command to chat session',
	description: 'Send a command of your service, for example to hand the chat to a person',
	subtitle: 'send support command',
	fields: [sessionField, commandField, requestSettings],
	toolDescription:
		'Sends a support command to a chat session, such as handing the conversation to a person or giving it back to the AI agent.',
	async execute(run) {
		return await forEachChatItem(run, (form) => {
			const command = readCommand(form);
			return send(form, command, `The command ${quoted(command)} was sent.`);
		});
	},
};

export const close: Operation = {
	name: 'Close',
	value: 'close',
	action: 'Close chat session',
	description: 'End the conversation permanently',
	subtitle: 'close session',
	fields: [sessionField, requestSettings],
	toolDescription:
		'Closes a chat session permanently. Use this only when the conversation has ended.',
	async execute(run) {
		const prepare = (form: Fields) => send(form, 'close', 'The chat session was closed.');
		return await forEachChatItem(run, prepare);
	},
};

function readCommand(form: Fields): string {
	return requireText(form.text('command'), 'Command');
}

function send(form: Fields, command: string, happened: string): PreparedRequest {
	const values = { command };
	const request = sessionRequest(form, 'support', values, happened, async (client, id, additions) =>
		sendSupportCommand(client, id, values, additions),
	);
	// A session can be handed over and back many times, so only its latest command counts as a repeat.
	return { ...request, modelMayRepeat: 'afterOtherRequest' };
}

/** A request that changes a session, such as one that closes it. */
export function sessionRequest(
	form: Fields,
	kind: string,
	values: JsonObject,
	happened: string,
	request: (client: ApiClient, sessionId: string, additions: Additions) => Promise<ApiResponse>,
): PreparedRequest {
	const sessionId = parseSessionId(form.text('sessionId'));
	const additions = readAdditions(form.collection('developerSettings'));
	return {
		payload: { kind, sessionId, ...values, additions },
		target: [kind, sessionKey(sessionId)],
		happened: () => happened,
		send: async ({ account: { client } }) => {
			const response = await request(client, sessionId, additions);
			return asItems({ session_id: sessionId, ...recordOf(response) });
		},
	};
}
