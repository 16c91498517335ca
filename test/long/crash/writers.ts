import type { INode, INodeParameters } from 'n8n-workflow';
import { agent } from '../../contract/contractCase';
import { byId, node } from '../../n8n/workflow';
import { PACKAGE } from '../../e2e/calls';
import type { Reference } from '../../n8n/driver';
import { operationNamed, SOCKET, useOf } from '../../operations/operations';
import { dialects, filled, fixtures, type Simulator } from '../../simulator';

/** The number of items for each writer in an execution. */
export const ITEMS = 8;

const { agents, campaigns } = fixtures;
const { commands } = dialects.plain.chat;

/** A node that changes something at the service for each item. */
export type Writer = {
	name: string;
	/** In the table of operations. */
	operation: string;
	/** An endpoint, or the live connection. */
	sends: string;
	type: string;
	parameters: INodeParameters;
	/** The requests of the writer. Without it, the writer sends WebSocket frames. */
	request?: { method: string; path: RegExp };
	/** Whether one request contains all items. */
	isOneRequest?: boolean;
	/** Whether a retry sends it again, because twice does no harm. */
	isHarmlessTwice?: boolean;
	/** A value that only the request of this item contains. */
	marker: (value: Item) => string;
};

/** An input item, and its own chat sessions, which exist at the service. A closed one can't be closed again. */
export type Item = { phone: string; text: string; session: string; legacySession: string };

/** What differs from the table. */
type Own = Pick<Writer, 'marker' | 'isOneRequest'> & {
	with: INodeParameters;
	title?: string;
	sends?: string;
	/** The ID in the path, if another writer has the same path. */
	id?: number;
};

function writer(operation: string, own: Own): Writer {
	const { with: more, title = operation, id, ...rest } = own;
	const { sends = '', isHarmlessTwice = false } = { ...operationNamed(operation), ...rest };
	const { node: type, parameters } = useOf(operation);
	const [method = '', path = ''] = sends.split(' ');
	const pattern = path.replace(/\{id\}/, id === undefined ? '[^/]+' : String(id));
	return {
		...{ name: title, operation, type, parameters: { ...parameters, ...more } },
		...rest,
		...{ sends, isHarmlessTwice },
		...(sends !== SOCKET && { request: { method, path: new RegExp(`^${pattern}$`) } }),
	};
}

const byPhone = ({ phone }: Item) => phone;
const bySession = ({ session }: Item) => session;
const byLegacySession = ({ legacySession }: Item) => legacySession;
/** As a whole value, which also others contain. */
const byText = ({ text }: Item) => JSON.stringify(text);

const TEXT = '={{ $json.text }}';
const PHONE = { phoneNumber: '={{ $json.phone }}' };
const LISTED = { ...agent(agents.us), phone: '=+91{{ $json.phone }}' };
const SESSION = { sessionId: '={{ $json.session }}' };
const LEGACY_SESSION = { sessionId: '={{ $json.legacySession }}' };
const message = { with: { message: TEXT }, marker: byText } as const;
const sentBy = (sendingMethod: string) => ({
	...message,
	with: { ...message.with, sendingMethod, ...agent() },
});

/** Every operation that writes, with every way to send. */
export const writers: readonly Writer[] = [
	writer('placeCall › place', { with: { ...PHONE, personName: TEXT }, marker: byText }),
	writer('pushCampaignContacts', {
		title: 'Push, one row a request',
		with: { options: { contactsPerRequest: 1 } },
		id: campaigns.active,
		marker: byPhone,
	}),
	writer('placeCall › place', {
		title: 'Place Call with a limit per person',
		with: {
			...{ ...PHONE, callLimit: 'month', maximumCalls: 1 },
			options: { useLegacyEndpoint: true },
		},
		sends: 'POST /call',
		marker: byPhone,
	}),
	writer('pushCampaignContacts', {
		title: 'Push, one request',
		with: { campaignId: byId(campaigns.draft) },
		id: campaigns.draft,
		isOneRequest: true,
		marker: byPhone,
	}),
	writer('placeCall › askAndWait', {
		with: { ...PHONE, question: '={{ $json.text }} May we?' },
		marker: ({ text }) => `${text} May we?`,
	}),
	writer('dnd › add', { with: LISTED, marker: byPhone }),
	writer('dnd › remove', { with: LISTED, marker: byPhone }),
	writer('chatSend › sendMessage', { title: 'Chat Send, live connection', ...message }),
	writer('chatSend › sendMessage', {
		...{ title: 'Chat Send, immediate reply', ...sentBy('inbound') },
		sends: 'POST /v1/chat/inbound',
	}),
	writer('chatSend › sendMessage', {
		...{ title: 'Chat Send, later reply', ...sentBy('async') },
		sends: 'POST /v1/chat/inbound/async',
	}),
	writer('chatSend › sendMessage', {
		...{ title: 'Chat Send, legacy', ...sentBy('legacy') },
		sends: 'POST /chat_messages/send_message',
	}),
	writer('chatSend › answerInteraction', {
		with: { interactionId: '=question {{ $json.text }}' },
		marker: questionOf,
	}),
	writer('injectContext', { with: { context: TEXT }, marker: byText }),
	writer('chatSession › create', { with: { personName: TEXT }, marker: byText }),
	writer('chatSession › legacyCreate', { with: { personName: TEXT }, marker: byText }),
	writer('chatSession › legacyPause', { with: LEGACY_SESSION, marker: byLegacySession }),
	writer('chatSession › legacyClose', { with: LEGACY_SESSION, marker: byLegacySession }),
	writer('chatSession › supportCommand', {
		with: {
			command: commands.tell,
			options: {
				additionalBodyFields: `={{ { ${JSON.stringify(commands.text)}: $json.text } }}`,
			},
		},
		marker: byText,
	}),
	writer('chatSession › close', { with: SESSION, marker: bySession }),
];

/** The ID of the interactive message for an item. */
export function questionOf({ text }: Item): string {
	return `question ${text}`;
}

/** The items of one execution, different from those of every other. */
export function itemsOf(execution: number): Item[] {
	const number = String(execution).padStart(4, '0');
	return Array.from({ length: ITEMS }, (_, index) => ({
		phone: `9${number}0000${index}`,
		text: `text ${execution}-${index}.`,
		session: filled.sessionId(2 * (ITEMS * execution + index)),
		legacySession: filled.sessionId(2 * (ITEMS * execution + index) + 1),
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
	const { request: wanted, marker } = writer;
	const texts =
		wanted === undefined
			? simulator.sessions.frames().map(({ text }) => text)
			: simulator.requests
					.filter(({ method, path }) => method === wanted.method && wanted.path.test(path))
					.map(({ path, query, body }) => JSON.stringify([path, query, body]));
	return items.map((item) => texts.filter((text) => text.includes(marker(item))).length).join('');
}
