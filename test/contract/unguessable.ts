import camelCase from 'lodash/camelCase';
import { ERRORS_AT_ANY_STATUS } from '../openapi/openapi';
import { dialects, type Dialect } from '../simulator';

const { plain } = dialects;

/** Replaces each name by one that nobody could guess. Placements stay. */
function scrambled<T extends object>(names: T, prefix: string): T {
	const replaced = Object.keys(names).filter((key) => !/placement/i.test(key));
	return { ...names, ...Object.fromEntries(replaced.map((key) => [key, `${prefix}_${key}_7q`])) };
}

/** A status that nobody could guess for each error whose status isn't documented. */
function statusesNotShown(): Partial<Dialect['statuses']> {
	const rare = [402, 406, 412, 417, 418, 423, 424, 451];
	return Object.fromEntries(
		ERRORS_AT_ANY_STATUS.map((name, index) => [camelCase(name), rare[index]]),
	);
}

/**
 * The plain dialect with every undocumented name and status replaced by one that nobody could guess.
 * A node with such a name in its own code fails.
 */
export const unguessable: Dialect = {
	...plain,
	// The nodes recognize these errors by their bodies, so any status must work.
	statuses: { ...plain.statuses, ...statusesNotShown() },
	agents: { ...plain.agents, filter: 'agents_filter_7q' },
	calls: {
		...plain.calls,
		filters: scrambled(plain.calls.filters, 'calls'),
		paging: { ...plain.calls.paging, position: 'calls_part_7q', size: 'calls_size_7q' },
		inFlight: ['state_7q'],
	},
	campaigns: { ...plain.campaigns, extraFields: { window_7q: { days_7q: [1, 2] } } },
	dnd: {
		...plain.dnd,
		add: scrambled(plain.dnd.add, 'add'),
		list: scrambled(plain.dnd.list, 'list'),
		remove: scrambled(plain.dnd.remove, 'remove'),
	},
	chat: {
		...plain.chat,
		create: scrambled(plain.chat.create, 'create'),
		inbound: scrambled(plain.chat.inbound, 'inbound'),
		async: scrambled(plain.chat.async, 'async'),
		commands: scrambled(plain.chat.commands, 'command'),
	},
};
