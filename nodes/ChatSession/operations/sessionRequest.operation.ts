import type { INodeProperties } from 'n8n-workflow';
import { readAdditions } from '../../host/forms/options';
import { sessionField } from '../../host/forms/chatFields';
import { type ChatDeps, forEachChatItem } from '../../host/run/chatItems';
import type { Fields } from '../../host/forms/fields';
import { agentField } from '../../host/forms/locatorFields';
import { asItems } from '../../host/run/itemLoop';
import type { Operation } from '../../host/run/operations';
import { parseSessionId, requireText, sessionKey } from '../../core/chat/parseChatFields';
import type { ApiClient } from '../../core/service/client';
import {
	type Additions,
	closeLegacySession,
	pauseLegacySession,
	sendSupportCommand,
} from '../../core/service/endpoints';
import { recordOf } from '../../core/service/envelope';
import type { ApiResponse } from '../../core/service/http';
import { parseAgentUuid } from '../../core/service/parseIds';
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
	async execute(run) {
		const prepare = (form: Fields) => endSession(form, 'close_session');
		return await forEachChatItem(run, prepare);
	},
};

export const legacyPause: Operation = {
	name: 'Pause',
	value: 'legacyPause',
	action: 'Pause legacy chat session',
	description:
		'Pause the conversation until the next message. In new workflows, use Session > Support Command to hand the chat to a person.',
	subtitle: 'pause session (legacy)',
	fields: [sessionField, agentField, requestSettings],
	toolDescription:
		"Pauses a chat session through the legacy API of the service. The customer's next message resumes it.",
	async execute(run) {
		return await forEachChatItem(run, (form) => endSession(form, 'pause_session'));
	},
};

function readCommand(form: Fields): string {
	return requireText(form.text('command'), 'Command');
}

function send(form: Fields, command: string, happened: string): PreparedRequest<ChatDeps> {
	const values = { command };
	const request = sessionRequest(form, 'support', values, happened, async (client, id, additions) =>
		sendSupportCommand(client, id, values, additions),
	);
	// A session can be handed over and back many times, so only its latest command counts as a repeat.
	return { ...request, modelMayRepeat: 'afterOtherRequest' };
}

const ENDINGS = {
	close_session: { request: closeLegacySession, happened: 'The chat session was closed.' },
	pause_session: { request: pauseLegacySession, happened: 'The chat session was paused.' },
};

function endSession(form: Fields, how: keyof typeof ENDINGS): PreparedRequest<ChatDeps> {
	const body = { agent_uuid: parseAgentUuid(form.text('agentUuid')) };
	const { request: end, happened } = ENDINGS[how];
	const request = sessionRequest(form, how, body, happened, async (client, id, additions) =>
		end(client, id, body, additions),
	);
	// The customer's next message resumes a paused session, so it may need another pause.
	return how === 'pause_session' ? { ...request, modelMayRepeat: 'afterCompletion' } : request;
}

/** A request that changes a session, such as one that closes it. */
function sessionRequest(
	form: Fields,
	kind: string,
	values: JsonObject,
	happened: string,
	request: (client: ApiClient, sessionId: string, additions: Additions) => Promise<ApiResponse>,
): PreparedRequest<ChatDeps> {
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
