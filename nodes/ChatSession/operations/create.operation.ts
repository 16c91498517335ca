import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { createSession } from '../../core/shownRequests';
import {
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField,
	developerSettings,
	readAdditions,
} from '../../host/forms/options';
import { forEachChatItem, type Prepare } from '../../host/run/chatItems';
import type { AccountClient } from '../../host/http/accountClient';
import { agentField } from '../../host/forms/locatorFields';
import { MAY_BE_BLANK } from '../../host/forms/fields';
import { addHints } from '../../host/execution/hints';
import { asItems } from '../../host/run/itemLoop';
import type { Operation } from '../../host/run/operations';
import { createdSessionId, whereIsSessionId } from '../../core/chat/chatRequests';
import { recordOf } from '../../core/service/envelope';
import { type Explanation, FOR_THE_OWNER } from '../../core/service/resolution';
import { parseAgentUuid } from '../../core/service/parseIds';
import { nameIn } from '../../core/values/sheetCells';

export const personNameField: INodeProperties = {
	displayName: 'Person Name',
	name: 'personName',
	type: 'string',
	default: '',
	placeholder: 'e.g. Asha Rao',
	description: 'The name of the customer, for the agent to use',
};

export const requestSettings = developerSettings(
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField(1, 'How many requests to send at the same time'),
);

export const create: Operation = {
	name: 'Create',
	value: 'create',
	action: 'Create chat session',
	description:
		'Start a chat session with an agent. Create one per visitor, and store its session_id with the visitor, for later messages.',
	subtitle: 'create session',
	fields: [agentField, personNameField, requestSettings],
	toolDescription:
		'Starts a new chat session between a customer and an AI agent, and returns the session ID that the other chat tools need.',
	async execute(run) {
		const items = await forEachChatItem(run, createOne);
		if (items.some(({ json }) => isWithoutId(json))) {
			addHints(run.context, idNotFound(await run.account()));
		}
		return items;
	},
};

/** Whether a session was created, but its ID wasn't found in the response. */
const isWithoutId = ({ session_id: id, error }: IDataObject) =>
	id === undefined && error === undefined;

const idNotFound = (account: AccountClient): Explanation => ({
	message: "A chat session was created, but its ID wasn't found in the response",
	resolution: {
		onScreen: whereIsSessionId(account),
		forModel: FOR_THE_OWNER,
	},
});

/** Only these fields, because others may differ on each attempt, such as an execution ID. */
export function createTarget(agentUuid: string, personName: string): unknown {
	return ['create session', agentUuid, personName];
}

const createOne: Prepare = (form) => {
	const agentUuid = parseAgentUuid(form.text('agentUuid'));
	const personName = nameIn(form.text('personName', MAY_BE_BLANK));
	const additions = readAdditions(form.collection('developerSettings'));
	return {
		payload: { fields: { agentUuid, personName }, additions },
		target: createTarget(agentUuid, personName),
		modelMayRepeat: 'afterCompletion',
		happened: () => 'The chat session was created.',
		send: async ({ account }) => {
			const values = { agent: agentUuid, person: personName };
			const response = await createSession(account, values, additions);
			const sessionId = createdSessionId(account, response);
			// Later nodes find the ID in session_id, even if the service uses another name.
			return asItems({
				...recordOf(response),
				...(sessionId !== null && { session_id: sessionId }),
			});
		},
	};
};
