import type { INodeProperties } from 'n8n-workflow';
import { sessionField } from '../../shared/n8n/chatFields';
import { forEachChatItem, type ChatItem, type Prepare } from '../../shared/n8n/chatItems';
import { concurrencyField } from '../../shared/n8n/options';
import { asItems } from '../../shared/n8n/itemLoop';
import type { Operation } from '../../shared/n8n/operations';
import { parseSessionId } from '../../shared/chat/chatInput';
import type { WatchRequest } from '../../shared/chat/chatWatch';
import { optionsOf } from './options';
import { parseTriggerAddress, postToTrigger } from './postToTrigger.operation';

const REQUESTS_AT_ONCE = 5;

const fields: INodeProperties[] = [
	sessionField,
	{
		displayName: 'Trigger Address',
		name: 'triggerAddress',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. https://n8n.example.com/webhook/…/watch',
		description:
			'The production URL that the Chat Events Trigger shows when its Watched Sessions are on',
	},
	{
		displayName: 'Trigger Secret',
		name: 'triggerSecret',
		type: 'string',
		typeOptions: { password: true },
		default: '',
		description: 'The same as in the Chat Events Trigger; leave empty where it has none',
	},
	optionsOf(concurrencyField(REQUESTS_AT_ONCE, 'How many requests are under way at the same time')),
];

export const watch: Operation = {
	name: 'Watch',
	value: 'watch',
	action: 'Have a trigger watch a chat session',
	description: 'From now on the Chat Events Trigger reports the events of this session',
	fields,
	async execute(run) {
		return await forEachChatItem(run, (item) => ask(item, 'watch'), {
			concurrency: REQUESTS_AT_ONCE,
			deed: { one: 'session is already watched', several: 'sessions are already watched' },
		});
	},
};

export const unwatch: Operation = {
	name: 'Unwatch',
	value: 'unwatch',
	action: 'Have a trigger no longer watch a chat session',
	description: 'The Chat Events Trigger leaves this session',
	fields,
	async execute(run) {
		return await forEachChatItem(run, (item) => ask(item, 'unwatch'), {
			concurrency: REQUESTS_AT_ONCE,
			deed: { one: 'session was already left', several: 'sessions were already left' },
		});
	},
};

function ask({ parameters, index }: ChatItem, action: WatchRequest['action']): ReturnType<Prepare> {
	const sessionId = parseSessionId(parameters.text('sessionId', index));
	const address = parseTriggerAddress(parameters.text('triggerAddress', index));
	const secret = parameters.text('triggerSecret', index);
	const request: WatchRequest = { action, sessionIds: [sessionId] };
	return {
		request: { address, ...request },
		// Watching twice is watching once, and the trigger may have left the session meanwhile.
		repeatable: true,
		send: async ({ context }) =>
			asItems({
				session_id: sessionId,
				...(await postToTrigger(context, address, secret, request)),
			}),
	};
}
