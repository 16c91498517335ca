import { dialects, type Dialect } from '../simulator';

const { plain } = dialects;

/** Each name replaced by one that nobody could guess; placements stay. */
function scrambled<T extends object>(names: T, place: string): T {
	const open = Object.keys(names).filter((key) => !/placement/i.test(key));
	return { ...names, ...Object.fromEntries(open.map((key) => [key, `${place}_${key}_7q`])) };
}

/**
 * The plain dialect with every open name and status replaced by one that cannot be known. A node
 * that holds any of them itself does not pass.
 */
export const unguessable: Dialect = {
	...plain,
	// These bodies are known by what they say, so any rejection's status must do.
	statuses: {
		...plain.statuses,
		agentNotFound: 418,
		callNotFound: 451,
		recordingNotAvailable: 406,
		campaignNotFound: 424,
		dndPhoneMissing: 417,
		dndNotOnList: 423,
		noOutboundNumber: 402,
		relayedRejection: 412,
	},
	agents: { ...plain.agents, filter: 'agents_filter_7q' },
	calls: {
		...plain.calls,
		filters: scrambled(plain.calls.filters, 'calls'),
		paging: { ...plain.calls.paging, position: 'calls_part_7q', size: 'calls_size_7q' },
		unusual: scrambled(plain.calls.unusual, 'value'),
		inFlight: ['state_7q'],
		customerRole: 'role_7q',
	},
	campaigns: { ...plain.campaigns, extraFields: { window_7q: { days_7q: [1, 2] } } },
	dnd: {
		...plain.dnd,
		add: scrambled(plain.dnd.add, 'add'),
		list: scrambled(plain.dnd.list, 'list'),
		remove: scrambled(plain.dnd.remove, 'remove'),
		reason: 'reason_7q',
	},
	chat: {
		...plain.chat,
		openState: 'state_7q',
		create: scrambled(plain.chat.create, 'create'),
		inbound: scrambled(plain.chat.inbound, 'inbound'),
		async: scrambled(plain.chat.async, 'async'),
		commands: scrambled(plain.chat.commands, 'command'),
		reactivatedReason: 'reason_7q',
		autoResumeReason: 'reason_7q',
	},
};
