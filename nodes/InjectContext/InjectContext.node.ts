import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { injectContext } from '../shared/api/endpoints';
import { documentedRecord } from '../shared/api/envelope';
import type { OutcomeUnknown } from '../shared/api/errors';
import { forEveryone } from '../shared/api/resolution';
import { parseSessionId, requireText, sessionKey } from '../shared/chat/parseChatFields';
import { readAdditions } from '../shared/n8n/forms/options';
import { voiceChatAgentApiTest } from '../shared/n8n/http/credentialTest';
import { forEachChatItem, type Prepare } from '../shared/n8n/run/chatItems';
import { asItems } from '../shared/n8n/run/itemLoop';
import { runNode } from '../shared/n8n/run/operations';
import { contextFields, ENTRIES_AT_ONCE } from './properties';

export class InjectContext implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Chat Agent: Inject Context',
		name: 'injectContext',
		icon: {
			light: 'file:../shared/icons/chat.svg',
			dark: 'file:../shared/icons/chat.dark.svg',
		},
		group: ['output'],
		version: 1,
		subtitle: 'add context to the chat',
		description: 'Give a chat agent context for the conversation, such as the summary of a call',
		builderHint: {
			searchHint:
				"Tells the AI agent of a chat something that the customer doesn't see, such as an order status.",
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-voice-chat-agent.chatSend',
					relationHint: 'Sends a message of the customer',
				},
			],
		},
		defaults: { name: 'Inject Context' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		// Literals, because n8n's verification reads them from the source.
		credentials: [
			{ name: 'voiceChatAgentApiTokenApi', required: true, testedBy: 'voiceChatAgentApiTest' },
		],
		properties: contextFields,
	};

	methods = { credentialTest: { voiceChatAgentApiTest } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runNode(this, contextFields, async (run) => [
			await forEachChatItem(run, injectOne, ENTRIES_AT_ONCE),
		]);
	}
}

/** Adds one entry and returns the session's full context list (Chat › `inject_context`). */
const injectOne: Prepare = (form) => {
	const sessionId = parseSessionId(form.text('sessionId'));
	const context = requireText(form.text('context'), 'Context');
	const additions = readAdditions(form.collection('developerSettings'));
	return {
		payload: { sessionId, context, additions },
		target: ['context', sessionKey(sessionId)],
		withDetails: (error) => maybeInjected(sessionId, error),
		modelMayRepeat: 'afterCompletion',
		happened: () => 'The context was added.',
		send: async ({ account: { client } }) =>
			asItems(
				documentedRecord(
					'session_id',
					await injectContext(client, sessionId, { context }, additions),
				),
			),
	};
};

/** The response to the next entry contains the full list, so it shows whether this entry was added. */
function maybeInjected(sessionId: string, error: OutcomeUnknown): OutcomeUnknown {
	return error.withText({
		message: `${error.message} (context of session ${sessionId})`,
		resolution: forEveryone(
			"The entry wasn't sent again. The next entry for this session returns the full list, which shows whether this one was added.",
		),
	});
}
