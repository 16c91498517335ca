import type { Dialect } from './types';

type Placement = 'query' | 'body';
export type Names = { readonly [placement in Placement]?: readonly string[] };

/** The parameter of a link to the next page: the whole query and the start of the page. */
export const LINK = 'page_token';

const named = (values: ReadonlyArray<readonly [Placement, string]>): Names => ({
	query: values.flatMap(([placement, name]) => (placement === 'query' ? [name] : [])),
	body: values.flatMap(([placement, name]) => (placement === 'body' ? [name] : [])),
});

/** A dialect's names for values of requests that aren't documented, by operation. In a body, dots nest. */
export function undocumentedNames(dialect: Dialect): { readonly [operation: string]: Names } {
	const { agents, calls, dnd, chat } = dialect;
	const { placement, agentPlacement = placement } = dnd.add;
	const { phone = 'phone' } = dnd.remove;
	const ofChat = (names: object) =>
		named(
			Object.values(names).map((name: string) => [
				chat.inQuery.includes(name) ? 'query' : 'body',
				name,
			]),
		);
	return {
		listActiveAgents: { query: [agents.filter] },
		listCalls: {
			query: [...Object.values(calls.filters), calls.paging.position, calls.paging.size, LINK],
		},
		addDndNumber: named([
			[agentPlacement, dnd.add.agent],
			[placement, dnd.add.phone],
			[placement, dnd.add.reason],
		]),
		listDndNumbers: { query: Object.values(dnd.list) },
		removeDndNumber: named([
			// A number in the wrong place is a missing number, which is a documented error.
			['query', phone],
			['body', phone],
			[dnd.remove.agentPlacement, dnd.remove.agent],
		]),
		createSession: ofChat(chat.create),
		sendMessage: ofChat(chat.inbound),
		sendMessageAsync: ofChat(chat.async),
		sendSupportCommand: { body: [chat.commands.text] },
	};
}
