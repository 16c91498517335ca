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
			agents: {
				list: list.path,
				...(list.idPlace === 'key' && { id: '{key}' }),
				...(list.idPath !== undefined && { id: list.idPath }),
				...(list.namePath !== undefined && { name: list.namePath }),
			},
		}),
		calls: {
			query: {
				...placed(filters),
				...(paging.style !== 'nextLink' && { [paging.position]: `{${POSITION[paging.style]}}` }),
				[paging.size]: '{pageSize?}',
			},
			list: entries.path,
			...(entries.keyName !== undefined && { key: entries.keyName }),
			...(entries.itemPath !== undefined && { entry: entries.itemPath }),
			...(total !== null && { total: total.path }),
			dates: dateForm,
			next: nextOf(paging),
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

const POSITION = {
	pageFromOne: 'page',
	pageFromZero: 'page',
	offset: 'offset',
	cursor: 'cursor',
} as const;

function nextOf({ style, nextPath }: Dialect['calls']['paging']): JsonObject {
	if (style === 'cursor') return { cursor: nextPath };
	if (style === 'nextLink') return { link: nextPath };
	if (style === 'offset') return { offset: 0 };
	return { page: style === 'pageFromZero' ? 0 : 1 };
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
