import { plain } from './plain';
import type { Dialect } from './types';

/** Nested bodies, some values in the query, IDs as keys, pages from 0, and the URL of the next page in the response. */
export const nested: Dialect = {
	...plain,
	name: 'nested',
	statuses: {
		agentNotFound: 422,
		callNotFound: 410,
		recordingNotAvailable: 422,
		campaignNotFound: 410,
		phoneMissing: 409,
		notOnDndList: 422,
		noOutboundNumber: 409,
		relayedRejection: 403,
		sessionNotFound: 410,
		keyReused: 412,
		busy: 423,
	},
	validation: {
		status: 400,
		body: (problems) => ({
			success: false,
			error: `Not valid: ${problems.join(', ')}`,
			details: {},
		}),
	},
	agents: {
		filter: 'only.bot',
		record: (agent) => ({ ref: agent.agentUuid, agent_name: agent.name, lines: [agent.number] }),
		body: (agents) => ({
			success: true,
			data: {
				on_duty: Object.fromEntries(agents.map(({ ref, ...agent }) => [String(ref), agent])),
			},
		}),
	},
	calls: {
		...plain.calls,
		filters: {
			status: 'where.outcome',
			agent: 'where.bot',
			campaign: 'where.drive',
			from: 'begun_after',
			to: 'begun_before',
			phone: 'where.digits',
		},
		paging: { style: 'offset', position: 'skip', size: 'take', defaultSize: 15, maxSize: 40 },
		listBody: ({ items, total, link }) => ({
			success: true,
			data: {
				by_id: Object.fromEntries(
					items.map(({ call_id, ...about }) => [String(call_id), { about }]),
				),
			},
			meta: { found: String(total) },
			links: { onward: link },
		}),
		inFlight: ['waiting', 'in_talk'],
	},
	campaigns: {
		...plain.campaigns,
		extraFields: { calling: { weekdays: 'mon-fri', daily: ['10:00', '18:00'] } },
		archivedText: 'This campaign is closed for good',
		dndSkipped: (phone, index) => ({ line: index, targets: [{ digits: phone }] }),
		warning: (status) => ({ texts: [`not calling: ${status}`] }),
		acceptedCountsDndSkipped: true,
	},
	dnd: {
		add: {
			placement: 'body',
			agentPlacement: 'query',
			agent: 'for.bot',
			phone: 'blocked.digits',
			reason: 'blocked.notes.0',
		},
		list: { agent: 'for.bot', phone: 'has', page: 'sheet', perPage: 'per_sheet' },
		remove: {
			phonePlacement: 'body',
			phone: 'blocked.phone',
			agentPlacement: 'body',
			agent: 'blocked.bot',
		},
		firstPage: 0,
		defaultPerPage: 20,
		overCap: 'rejected',
		phoneForms: 'any',
		addTwice: 'accepted',
		addBody: (entry) => ({ success: true, data: { blocked: [{ id: entry.id }] } }),
		phoneMissing: 'blocked.phone is missing',
	},
	webhook: {
		body: (_callId, record) => ({ bulletin: { topic: 'call_over', about: [record] } }),
		headers: () => ({ 'content-type': 'application/json', 'x-bulletin': 'call_over' }),
	},
	chat: {
		...plain.chat,
		create: { agent: 'with.bot', person: 'caller.label', metadata: 'caller.facts' },
		createBody: ({ session_id: ref, status }) => ({
			success: true,
			data: { talks: [{ ref, status }] },
		}),
		inQuery: ['with.bot', 'to.talk_ref'],
		inbound: {
			session: 'to.session_ref',
			agent: 'with.bot',
			person: 'caller.label',
			message: 'said.text',
			messageId: 'said.ref',
		},
		async: {
			session: 'to.talk_ref',
			agent: 'to.bot',
			person: 'caller.title',
			message: 'said.parts.0.text',
			messageId: 'said.key_ref',
		},
		inboundBody: (result) => ({ success: true, data: { outcome: { of_turn: result } } }),
		asyncBody: (turnId, messageId) => ({
			success: true,
			data: { line: [{ turn_ref: turnId, message_id: messageId }] },
		}),
		commands: { takeOver: 'human_in', release: 'human_out', tell: 'brief', text: 'words' },
		supportBody: (command, mode) => ({
			success: true,
			data: { carried_out: command, now: { in_mode: mode } },
		}),
		unknownSession: 'No such talk',
		closedText: 'This talk is over',
	},
	socket: { ...plain.socket, resultNames: 'customer' },
};
