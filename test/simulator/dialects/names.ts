import type { Dialect, Field } from './forms';

/** Names of values, by their placement. */
export type Names = { readonly [placement in Field['in']]?: readonly string[] };

/** The parameter of a link to the next page: the whole query and the start of the page. */
export const LINK = 'page_token';

const namesOf = (fields: { [role: string]: Field }): Names => {
	const all = Object.values(fields);
	const placed = (placement: Field['in']) =>
		all.filter((one) => one.in === placement).map(({ name }) => name);
	return { query: placed('query'), body: placed('body') };
};

/** A dialect's names for values of requests that aren't documented, by operation. In a body, dots nest. */
export function undocumentedNames(dialect: Dialect): { readonly [operation: string]: Names } {
	const { agents, calls, dnd, chat } = dialect;
	const { phone, agent } = dnd.remove;
	const removed = namesOf({ agent });
	return {
		listActiveAgents: { query: [agents.filter] },
		listCalls: {
			query: [...Object.values(calls.filters), calls.paging.position, calls.paging.size, LINK],
		},
		addDndNumber: namesOf(dnd.add),
		listDndNumbers: { query: Object.values(dnd.list) },
		// A number in the wrong place is a missing number, which is a documented error.
		removeDndNumber: {
			query: [phone.name, ...(removed.query ?? [])],
			body: [phone.name, ...(removed.body ?? [])],
		},
		createSession: namesOf(chat.create),
		sendInbound: namesOf(chat.inbound),
		sendInboundAsync: namesOf(chat.async),
		sendSupportCommand: { body: [chat.commands.text] },
	};
}
