import { nestedChat, nestedSocket } from './nestedChat';
import { plain } from './plain';
import type { Dialect } from './types';

/**
 * Nested bodies, some values in the query, IDs as keys, pages from 0, one filter for a range of
 * time in seconds, and the URL of the next page in the response.
 */
export const nested: Dialect = {
	name: 'nested',
	statuses: {
		agentNotFound: 422,
		callNotFound: 410,
		recordingNotAvailable: 422,
		campaignNotFound: 410,
		dndPhoneMissing: 409,
		dndNotOnList: 422,
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
		range: { name: 'begun', form: '{from}..{to}' },
		timesInSeconds: true,
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
		unusual: {
			status: 'line_dead',
			callType: 'second_attempt',
			channel: 'gsm',
			endedBy: 'carrier',
			endedReason: 'carrier-ended-call',
		},
		customerRole: 'callee',
	},
	campaigns: {
		...plain.campaigns,
		retryDelay: 3600,
		extraFields: { calling: { weekdays: 'mon-fri', daily: ['10:00', '18:00'] } },
		lifecycle: { Active: ['Paused', 'Draft'], Paused: ['Active'], Archived: ['Paused', 'Draft'] },
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
		removedMessage: (phone) => `unblocked ${phone}`,
		phoneMissing: 'blocked.phone is missing',
		reason: 'not_said',
	},
	webhook: {
		body: (_callId, record) => ({ bulletin: { topic: 'call_over', about: [record] } }),
		headers: () => ({ 'content-type': 'application/json', 'x-bulletin': 'call_over' }),
		attempts: 4,
		retryAfterMs: 200,
		received: (status) => status < 300 || status === 404,
	},
	general: {
		...plain.general,
		rateLimit: { perMinute: 1_200_000, retryAfter: 'seconds' },
		tooManyBody: { success: false, error: 'Too fast', details: { per: 'minute' } },
		versionHeader: 'X-Service-Version',
		legacyHeaders: { warning: '299 - "deprecated"' },
		maxMessage: 3000,
		maxContext: 8000,
		maxBodyBytes: 48_000_000,
		otherCredential: { header: 'x-desk-key', value: 'desk', stream: 'desk' },
		unknownPath: { success: false, error: 'Nothing here', details: { path: null } },
	},
	chat: nestedChat,
	socket: nestedSocket,
};
