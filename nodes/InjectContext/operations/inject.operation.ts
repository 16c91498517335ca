import { injectContext } from '../../core/service/endpoints';
import { documentedRecord } from '../../core/service/envelope';
import { parseSessionId, requireText, sessionKey } from '../../core/chat/parseChatFields';
import { sessionField } from '../../host/forms/chatFields';
import {
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField,
	optionsCollection,
	readAdditions,
} from '../../host/forms/options';
import { forEachChatItem, type Prepare } from '../../host/run/chatItems';
import { asItems } from '../../host/run/itemLoop';
import type { OnlyOperation } from '../../host/run/operations';

/** Entries in flight if 'Concurrency' isn't set. */
const ENTRIES_AT_ONCE = 20;

export const inject: OnlyOperation = {
	fields: [
		sessionField,
		{
			displayName: 'Context',
			name: 'context',
			type: 'string',
			typeOptions: { rows: 5 },
			default: '',
			required: true,
			placeholder: 'e.g. In a call yesterday, the customer asked for a visit on Saturday.',
			description:
				"Text to add to the agent's context. Each item adds one entry. Entries of the same session keep the order of the items.",
		},
		optionsCollection(
			additionalBodyFields,
			additionalQueryParameters,
			concurrencyField(
				ENTRIES_AT_ONCE,
				'How many entries to send at the same time. Items with the same session are always sent one by one.',
			),
		),
	],
	toolDescription:
		'Gives the AI agent of a chat session more information about the customer or the conversation.',

	async execute(run) {
		return [await forEachChatItem(run, injectOne, ENTRIES_AT_ONCE)];
	},
};

/** Adds one entry and returns the session's full context list (Chat › `inject_context`). */
const injectOne: Prepare = (form) => {
	const sessionId = parseSessionId(form.text('sessionId'));
	const context = requireText(form.text('context'), 'Context');
	const additions = readAdditions(form.collection('options'));
	return {
		payload: { sessionId, context, additions },
		target: ['context', sessionKey(sessionId)],
		once: 'item',
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
