import set from 'lodash/set';
import type { JsonObject } from '../json';
import type { Dialect, Field } from './forms';

/** The *Service Profile* of a service that speaks this dialect. */
export function profileOf({ agents, calls, dnd, chat }: Dialect): { [part: string]: JsonObject } {
	const { filters, paging, entries, total, dateForm } = calls;
	const { list } = agents;
	const { path: session } = chat.created;
	return {
		...(list.path !== undefined && {
			agents: { list: list.path, id: '{key}' },
		}),
		calls: {
			query: {
				...placed(filters),
				...(paging.style === 'page' && { [paging.position]: '{page}' }),
				[paging.size]: '{pageSize?}',
			},
			list: entries.path,
			...(entries.itemPath !== undefined && { entry: entries.itemPath }),
			...(total !== null && { total }),
			dates: dateForm,
			next: paging.style === 'page' ? { page: 1 } : { link: paging.nextPath },
		},
		'dnd.add': requestOf({ agent: dnd.add.agent, phone: dnd.add.phone, 'reason?': dnd.add.reason }),
		'dnd.list': {
			query: {
				[dnd.list.agent]: '{agent}',
				[dnd.list.phone]: '{phone?}',
				[dnd.list.page]: '{page?}',
				[dnd.list.perPage]: '{pageSize?}',
			},
		},
		'dnd.remove': requestOf(dnd.remove),
		'chat.session': {
			...requestOf({ agent: chat.create.agent, 'person?': chat.create.person }),
			...(session !== undefined && { session }),
		},
		'chat.inbound': message(chat.inbound),
		'chat.async': message(chat.async),
	};
}

/** Values of a query that may be left out. */
function placed(names: { readonly [placeholder: string]: string }): JsonObject {
	return Object.fromEntries(Object.entries(names).map(([one, name]) => [name, `{${one}?}`]));
}

function message({ session, agent, message: text }: Dialect['chat']['inbound']): JsonObject {
	return requestOf({ 'session?': session, 'agent?': agent, message: text });
}

/** A request with these placeholders. In a body, dots nest. */
export function requestOf(fields: { readonly [placeholder: string]: Field }): JsonObject {
	const query: JsonObject = {};
	const body: JsonObject = {};
	for (const [placeholder, { in: place, name }] of Object.entries(fields)) {
		if (place === 'query') query[name] = `{${placeholder}}`;
		else set(body, name, `{${placeholder}}`);
	}
	return {
		...(Object.keys(query).length > 0 && { query }),
		...(Object.keys(body).length > 0 && { body }),
	};
}
