import type { INode, INodeParameters } from 'n8n-workflow';
import { byId, node } from '../../n8n/workflow';
import { PACKAGE } from '../../e2e/calls';
import type { Reference } from '../../n8n/driver';
import { filled, fixtures, type Simulator } from '../../simulator';

/** The number of items for each writer in an execution. */
export const ITEMS = 8;

const { agents, campaigns, sessions } = fixtures;
const agent = (value: string) => ({ agentUuid: { __rl: true, mode: 'id', value } });
const AGENT = agent(agents.full);

/** A node that changes something at the service for each item. */
export type Writer = {
	name: string;
	type: string;
	parameters: INodeParameters;
	/** The requests of the writer. Without it, the writer sends WebSocket frames. */
	request?: { method: 'POST' | 'DELETE'; path: RegExp };
	/** Whether one request contains all items. */
	isOneRequest?: boolean;
	/** Whether all items are for the same chat session. A retry sends none of them if one had begun. */
	isOneSession?: boolean;
	/** A value that only the request of this item contains. */
	marker?: (value: Item) => string;
};

/** An input item. `session` is its own chat session, which exists at the service. */
export type Item = { phone: string; text: string; session: string };

const talk = { operation: 'sendMessage', sessionId: sessions.open, message: '={{ $json.text }}' };

/** Every operation that writes, with every way to send. */
export const writers: readonly Writer[] = [
	{
		name: 'Place Call',
		type: 'placeCall',
		parameters: { ...AGENT, countryCode: 'IN', phoneNumber: '={{ $json.phone }}' },
		request: { method: 'POST', path: /^\/v1\/call$/ },
	},
	{
		name: 'Push, one row a request',
		type: 'pushCampaignContacts',
		parameters: {
			...AGENT,
			campaignId: byId(campaigns.active),
			whatToDo: 'wait',
			options: { output: 'requests' },
			developerSettings: { contactsPerRequest: 1 },
		},
		request: { method: 'POST', path: /^\/v1\/campaigns\/101\/contacts$/ },
	},
	{
		name: 'Place Call with a limit per person',
		type: 'placeCall',
		parameters: {
			...AGENT,
			countryCode: 'IN',
			phoneNumber: '={{ $json.phone }}',
			...{ callLimit: 'month', maximumCalls: 1 },
			// Tells its requests from those of the other Place Call.
			developerSettings: { useLegacyEndpoint: true },
		},
		request: { method: 'POST', path: /^\/call$/ },
	},
	{
		name: 'Push, one request',
		type: 'pushCampaignContacts',
		parameters: {
			...AGENT,
			campaignId: byId(campaigns.draft),
			whatToDo: 'wait',
			options: { output: 'requests' },
		},
		request: { method: 'POST', path: /^\/v1\/campaigns\/102\/contacts$/ },
		isOneRequest: true,
	},
	{
		name: 'DND Add',
		type: 'dnd',
		parameters: { operation: 'add', ...agent(agents.us), phone: '=+91{{ $json.phone }}' },
		request: { method: 'POST', path: /^\/v1\/dnd_numbers$/ },
	},
	{
		name: 'DND Remove',
		type: 'dnd',
		parameters: { operation: 'remove', ...agent(agents.us), phone: '=+91{{ $json.phone }}' },
		request: { method: 'DELETE', path: /^\/v1\/dnd_numbers$/ },
	},
	{
		name: 'Chat Send, live connection',
		type: 'chatSend',
		parameters: { ...talk, sendBy: 'socket' },
		marker: ({ text }) => text,
		isOneSession: true,
	},
	{
		name: 'Chat Send, immediate reply',
		type: 'chatSend',
		parameters: { ...talk, sendBy: 'inbound' },
		request: { method: 'POST', path: /^\/v1\/chat\/inbound$/ },
		marker: ({ text }) => text,
		isOneSession: true,
	},
	{
		name: 'Chat Send, later reply',
		type: 'chatSend',
		parameters: { ...talk, sendBy: 'async' },
		request: { method: 'POST', path: /^\/v1\/chat\/inbound\/async$/ },
		marker: ({ text }) => text,
		isOneSession: true,
	},
	{
		name: 'Chat Send, legacy',
		type: 'chatSend',
		parameters: { ...talk, sendBy: 'legacy', ...AGENT },
		request: { method: 'POST', path: /^\/chat_messages\/send_message$/ },
		marker: ({ text }) => text,
		isOneSession: true,
	},
	{
		name: 'Inject Context',
		type: 'injectContext',
		parameters: { sessionId: sessions.open, context: '={{ $json.text }}' },
		request: { method: 'POST', path: /\/inject_context$/ },
		marker: ({ text }) => text,
		isOneSession: true,
	},
	{
		name: 'Chat Session Create',
		type: 'chatSession',
		parameters: { operation: 'create', ...AGENT, personName: '={{ $json.text }}' },
		request: { method: 'POST', path: /^\/v1\/chat\/session$/ },
		marker: ({ text }) => text,
	},
	{
		name: 'Legacy Create',
		type: 'chatSession',
		parameters: {
			resource: 'legacy',
			operation: 'legacyCreate',
			...AGENT,
			personName: '={{ $json.text }}',
		},
		request: { method: 'POST', path: /^\/chat_sessions$/ },
		marker: ({ text }) => text,
	},
	{
		name: 'Legacy Pause',
		type: 'chatSession',
		parameters: {
			resource: 'legacy',
			operation: 'legacyPause',
			...AGENT,
			sessionId: '={{ $json.session }}',
		},
		request: { method: 'POST', path: /\/pause_session$/ },
		marker: ({ session }) => session,
	},
	{
		name: 'Chat Session Close',
		type: 'chatSession',
		parameters: { operation: 'close', sessionId: '={{ $json.session }}' },
		request: { method: 'POST', path: /\/support$/ },
		marker: ({ session }) => session,
	},
];

/** The items of one execution, different from those of every other. */
export function itemsOf(execution: number): Item[] {
	const number = String(execution).padStart(4, '0');
	return Array.from({ length: ITEMS }, (_, index) => ({
		phone: `9${number}0000${index}`,
		text: `text ${execution}-${index}.`,
		session: filled.sessionId(ITEMS * execution + index),
	}));
}

export function nodeOf(
	{ name, type, parameters }: Writer,
	credentials: Record<string, Reference>,
	rest: Partial<INode> = {},
): INode {
	return node(name, `${PACKAGE}.${type}`, 1, parameters, { credentials, ...rest });
}

/** How many times the service received the request of each item, one digit per item: `11111000`. */
export function received(simulator: Simulator, writer: Writer, items: readonly Item[]): string {
	const { request: wanted, marker = ({ phone }: Item) => phone } = writer;
	const texts =
		wanted === undefined
			? simulator.sessions.frames().map(({ text }) => text)
			: simulator.requests
					.filter(({ method, path }) => method === wanted.method && wanted.path.test(path))
					.map(({ path, query, body }) => JSON.stringify([path, query, body]));
	return items.map((item) => texts.filter((text) => text.includes(marker(item))).length).join('');
}
