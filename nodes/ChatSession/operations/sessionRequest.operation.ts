import type { INodeProperties } from 'n8n-workflow';
import { readAdditions } from '../../host/forms/options';
import { sessionField } from '../../host/forms/chatFields';
import { eachChatItem } from '../../host/run/chatItems';
import type { Fields } from '../../host/forms/fields';
import { agentField } from '../../host/forms/locatorFields';
import { asItems } from '../../host/run/itemLoop';
import type { Operation } from '../../host/run/operations';
import { parseSessionId, requireText, sessionKey } from '../../core/chat/parseChatFields';
import {
	closeLegacySession,
	pauseLegacySession,
	sendSupportCommand,
} from '../../core/service/endpoints';
import { recordOf } from '../../core/service/envelope';
import { parseAgentUuid } from '../../core/service/parseIds';
import type { JsonObject } from '../../core/values/json';
import type { PreparedRequest } from '../../host/run/preparedRequest';
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
		"The service's word for it, such as the one that hands the chat to a person. Your provider names it in the questionnaire.",
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
	execute: eachChatItem((form) => {
		const command = requireText(form.text('command'), 'Command');
		const request = sendCommand(form, command, `The command ${quoted(command)} was sent.`);
		// What it does isn't documented.
		return { ...request, once: 'item' };
	}),
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
	execute: eachChatItem((form) => sendCommand(form, 'close', 'The chat session was closed.')),
};

export const legacyClose: Operation = {
	name: 'Close',
	value: 'legacyClose',
	action: 'Close legacy chat session',
	description:
		'End the conversation and get a summary of it. Use Session > Close in new workflows.',
	subtitle: 'close session (legacy)',
	fields: [sessionField, agentField, requestSettings],
	toolDescription:
		'Closes a chat session through the legacy API of the service, and returns a summary of the conversation. Use this only when the conversation has ended.',
	execute: eachChatItem((form) => {
		const body = { agent_uuid: parseAgentUuid(form.text('agentUuid')) };
		const happened = 'The chat session was closed.';
		return sessionRequest(form, 'close_session', body, closeLegacySession, happened);
	}),
};

export const legacyPause: Operation = {
	name: 'Pause',
	value: 'legacyPause',
	action: 'Pause legacy chat session',
	description:
		'Pause until the next message. To hand the chat to a person, use Session > Support Command.',
	subtitle: 'pause session (legacy)',
	fields: [sessionField, agentField, requestSettings],
	toolDescription:
		"Pauses a chat session through the legacy API of the service. The customer's next message resumes it.",
	execute: eachChatItem((form) => {
		const body = { agent_uuid: parseAgentUuid(form.text('agentUuid')) };
		const happened = 'The chat session was paused.';
		return sessionRequest(form, 'pause_session', body, pauseLegacySession, happened);
	}),
};

function sendCommand(form: Fields, command: string, happened: string): PreparedRequest {
	return sessionRequest(form, 'support', { command }, sendSupportCommand, happened);
}

/** A request that changes a session, such as one that closes it. */
function sessionRequest(
	form: Fields,
	kind: string,
	body: JsonObject,
	request: typeof sendSupportCommand,
	happened: string,
): PreparedRequest {
	const sessionId = parseSessionId(form.text('sessionId'));
	const additions = readAdditions(form.collection('options'));
	return {
		payload: { kind, sessionId, ...body, additions },
		target: [kind, sessionKey(sessionId)],
		happened: () => happened,
		send: async ({ account: { client } }) => {
			const response = await request(client, sessionId, body, additions);
			return asItems({ session_id: sessionId, ...recordOf(response) });
		},
	};
}
