import compact from 'lodash/compact';
import type { IDataObject, INodeProperties } from 'n8n-workflow';
import {
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField,
	optionsCollection,
	readAdditions,
} from '../../host/forms/options';
import { eachChatItem, forEachChatItem, type Prepare } from '../../host/run/chatItems';
import type { AccountClient } from '../../host/http/accountClient';
import { agentField } from '../../host/forms/locatorFields';
import { MAY_BE_BLANK } from '../../host/forms/fields';
import { readPersonName } from '../../host/forms/placeholders';
import { jsonInTools } from '../../host/forms/shownWhere';
import type { PreparedRequest } from '../../host/run/preparedRequest';
import { asItems } from '../../host/run/itemLoop';
import type { Operation } from '../../host/run/operations';
import { idText } from '../../core/chat/frames';
import { type Account, sendByProfile } from '../../core/profile/serviceProfile';
import { createLegacySession } from '../../core/service/endpoints';
import { documentedRecord, recordOf } from '../../core/service/envelope';
import type { ApiResponse } from '../../core/service/http';
import { parseAgentUuid } from '../../core/service/parseIds';
import { fieldsIn, type JsonObject, valueAt } from '../../core/values/json';

const personNameField: INodeProperties = {
	displayName: 'Person Name',
	name: 'personName',
	type: 'string',
	default: '',
	placeholder: 'e.g. Asha Rao',
	description: 'The name of the customer, for the agent to use',
};

export const requestSettings = optionsCollection(
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField(1, 'How many requests to send at the same time'),
);

export const create: Operation = {
	name: 'Create',
	value: 'create',
	action: 'Create chat session',
	description:
		'Start a chat session. Create one per visitor, and store its session_id for later messages.',
	subtitle: 'create session',
	fields: [agentField, personNameField, requestSettings],
	toolDescription:
		'Starts a new chat session between a customer and an AI agent, and returns the session ID that the other chat tools need.',
	async execute(run) {
		const items = await forEachChatItem(run, createOne);
		if (items.some(({ json }) => isWithoutId(json))) {
			const { profile } = await run.account();
			run.result.addHints({
				message: "A chat session was created, but its ID wasn't found in the response",
				resolution: profile.resolution('chat.session', 'session'),
			});
		}
		return items;
	},
};

/** Whether a session was created, but its ID wasn't found in the response. */
const isWithoutId = ({ session_id: id, error }: IDataObject) =>
	id === undefined && error === undefined;

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
	execute: eachChatItem((form) => createLegacy(form)),
};

const createOne: Prepare = (form) => {
	const agentUuid = parseAgentUuid(form.text('agentUuid'));
	const personName = readPersonName(form);
	const additions = readAdditions(form.collection('options'));
	const values = { agent: agentUuid, person: personName };
	return creation(agentUuid, personName, { values, additions }, async (account) => {
		const response = await sendByProfile('chat.session', account, values, additions);
		const sessionId = createdSessionId(account, response);
		// Later nodes find the ID in session_id, even if the service uses another name.
		return { ...recordOf(response), ...(sessionId !== null && { session_id: sessionId }) };
	});
};

const createLegacy: Prepare = (form) => {
	const personName = readPersonName(form);
	const metadata = {
		...form.jsonObject('metadata', MAY_BE_BLANK),
		...(personName !== '' && { person_name: personName }),
	};
	const body = {
		agent_uuid: parseAgentUuid(form.text('agentUuid')),
		...(Object.keys(metadata).length > 0 && { metadata }),
	};
	const additions = readAdditions(form.collection('options'));
	return creation(body.agent_uuid, personName, { body, additions }, async ({ client }) =>
		documentedRecord('session_id', await createLegacySession(client, { body }, additions)),
	);
};

function creation(
	agentUuid: string,
	personName: string,
	payload: PreparedRequest['payload'],
	request: (account: AccountClient) => Promise<JsonObject>,
): ReturnType<Prepare> {
	return {
		payload,
		// Only these fields, because others may differ on each attempt, such as an execution ID.
		target: ['create session', agentUuid, personName],
		happened: () => 'The chat session was created.',
		send: async ({ account }) => asItems(await request(account)),
	};
}

/**
 * The ID of the new session, or null if it isn't found. The shape of the response isn't documented, so without a path in the
 * profile, it's the only `session_id`. Of several, any could be about something else.
 */
export function createdSessionId({ profile }: Account, { body }: ApiResponse): string | null {
	const path = profile.part('chat.session')?.session;
	if (path !== undefined) return idText(valueAt(body, path));
	const found = new Set(compact([...fieldsIn(body, ['session_id'])].map(idText)));
	const [only = null] = found;
	return found.size === 1 ? only : null;
}
