import { readAdditions } from '../../host/forms/options';
import { sessionField } from '../../host/forms/chatFields';
import { forEachChatItem, type Prepare } from '../../host/run/chatItems';
import { agentField } from '../../host/forms/locatorFields';
import { type Fields, MAY_BE_BLANK } from '../../host/forms/fields';
import { asItems } from '../../host/run/itemLoop';
import type { Operation } from '../../host/run/operations';
import {
	closeLegacySession,
	createLegacySession,
	pauseLegacySession,
} from '../../core/service/endpoints';
import { documentedRecord } from '../../core/service/envelope';
import { parseAgentUuid } from '../../core/service/parseIds';
import { nameIn } from '../../core/values/sheetCells';
import { createTarget, personNameField, requestSettings } from './create.operation';
import { sessionRequest } from './supportCommand.operation';
import { jsonInTools } from '../../host/forms/shownWhere';

export const legacyCreate: Operation = {
	name: 'Create',
	value: 'legacyCreate',
	action: 'Create legacy chat session',
	description:
		'Start a chat session and get its welcome message. Use Session > Create in new workflows.',
	subtitle: 'create session (legacy)',
	fields: [
		agentField,
		personNameField,
		...jsonInTools({
			displayName: 'Metadata',
			name: 'metadata',
			type: 'json',
			default: '{}',
			placeholder: 'e.g. { "source": "website" }',
			description: 'A JSON object with other information for the agent',
		}),
		requestSettings,
	],
	toolDescription:
		'Starts a new chat session through the legacy API of the service, and returns its session ID and a welcome message.',
	async execute(run) {
		return await forEachChatItem(run, createLegacy);
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

const createLegacy: Prepare = (form) => {
	const personName = nameIn(form.text('personName', MAY_BE_BLANK));
	const metadata = {
		...form.jsonObject('metadata', MAY_BE_BLANK),
		...(personName !== '' && { person_name: personName }),
	};
	const body = {
		agent_uuid: parseAgentUuid(form.text('agentUuid')),
		...(Object.keys(metadata).length > 0 && { metadata }),
	};
	const additions = readAdditions(form.collection('developerSettings'));
	return {
		payload: { body, additions },
		target: createTarget(body.agent_uuid, personName),
		modelMayRepeat: 'afterCompletion',
		happened: () => 'The chat session was created.',
		send: async ({ account: { client } }) =>
			asItems(
				documentedRecord('session_id', await createLegacySession(client, { body }, additions)),
			),
	};
};

const ENDINGS = {
	close_session: { request: closeLegacySession, happened: 'The chat session was closed.' },
	pause_session: { request: pauseLegacySession, happened: 'The chat session was paused.' },
};

function endSession(form: Fields, how: keyof typeof ENDINGS): ReturnType<Prepare> {
	const body = { agent_uuid: parseAgentUuid(form.text('agentUuid')) };
	const { request: end, happened } = ENDINGS[how];
	const request = sessionRequest(form, how, body, happened, async (client, id, additions) =>
		end(client, id, body, additions),
	);
	// The customer's next message resumes a paused session, so it may need another pause.
	return how === 'pause_session' ? { ...request, modelMayRepeat: 'afterCompletion' } : request;
}
