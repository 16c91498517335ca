import type { Session } from '../chat/session';
import type { RecordedRequest } from '../http/requestLog';
import { shownText } from '../json';
import type { Simulator } from '../simulator';
import type { Agent, Call, Campaign, StoredContact } from '../state/state';
import { faultText, switchesOf } from './switches';

/** The page shows the newest of each kind. */
const MAX_CALLS = 60;
const MAX_CONTACTS = 200;
const MAX_NUMBERS = 200;
const MAX_CHATS = 12;
const MAX_MESSAGES = 60;
const MAX_REQUESTS = 100;

/** What the page shows at a moment. */
export function snapshot(sim: Simulator) {
	const { state, baseUrl, token } = sim;
	const calls = [...state.calls.values()].filter(({ callId }) => !sim.isSeeded(callId));
	return {
		service: { baseUrl, token },
		switches: switchesOf(sim),
		agents: [...state.agents.values()].filter(isUsable(sim)).map(({ agentUuid, name }) => {
			return { agentUuid, name };
		}),
		calls: calls
			.slice(-MAX_CALLS)
			.reverse()
			.map((call) => shownCall(sim, call)),
		callCount: calls.length,
		campaigns: [...state.campaigns.values()]
			.filter(({ contacts }) => contacts.length > 0)
			.map((campaign) => shownCampaign(campaign)),
		numbers: state.dnd
			.slice(-MAX_NUMBERS)
			.reverse()
			.map(({ phone, agentUuid, reason }) => {
				return { phone, reason, agent: nameOf(sim, agentUuid) };
			}),
		chats: [...state.sessions.values()]
			.filter(({ sessionId, messages }) => messages.length > 0 || !sim.isSeeded(sessionId))
			.slice(-MAX_CHATS)
			.reverse()
			.map((session) => shownChat(sim, session)),
		requests: shownRequests(sim),
	};
}

function isUsable({ state }: Simulator) {
	return ({ active, accountId }: Agent) => active && accountId === state.accountId;
}

function nameOf({ state }: Simulator, agentUuid: string): string {
	return state.agents.get(agentUuid)?.name ?? agentUuid;
}

function shownCall(sim: Simulator, call: Call) {
	const { callId, phone, callerName, campaignId, createdAt, outcome } = call;
	return {
		callId,
		phone,
		name: callerName,
		agent: nameOf(sim, call.agentUuid),
		from: campaignId === null ? 'Place Call' : `Campaign ${campaignId}`,
		createdAt,
		phase: phaseOf(sim, call),
		summary: typeof outcome.summary === 'string' ? outcome.summary : null,
		webhooks: call.deliveries.map(({ status }) => status),
	};
}

function phaseOf(sim: Simulator, call: Call): string {
	const { finished, dialed, isTalking, scheduledAt, outcome } = call;
	if (finished) return typeof outcome.status === 'string' ? `Ended: ${outcome.status}` : 'Ended';
	if (!dialed) return 'Not dialed: do not disturb';
	if (isTalking) return 'Talking';
	if (scheduledAt !== null && scheduledAt > sim.clock.now()) {
		return `Scheduled for ${new Date(scheduledAt).toISOString()}`;
	}
	return 'Ringing';
}

function shownCampaign({ id, name, status, contacts, uploads }: Campaign) {
	return {
		id,
		name,
		status,
		lists: uploads.length,
		contactCount: contacts.length,
		contacts: contacts
			.slice(-MAX_CONTACTS)
			.reverse()
			.map((contact) => ({
				phone: contact.phone,
				name: contact.personName,
				list: contact.uploadId,
				phase: contactPhase(contact),
			})),
	};
}

function contactPhase({ enqueued, dialed }: StoredContact): string {
	if (dialed === 'called') return 'Called';
	if (dialed === 'do_not_disturb') return 'Not called: do not disturb';
	return enqueued ? 'In the calling queue' : 'Uploaded, not released';
}

function shownChat(sim: Simulator, session: Session) {
	const { sessionId, agentUuid, person, status, mode, messages } = session;
	return {
		sessionId,
		agent: nameOf(sim, agentUuid),
		person,
		status,
		mode,
		connections: sim.hub.connectionsOf(sessionId).length,
		messages: messages.slice(-MAX_MESSAGES).map(({ role, content }) => ({ role, content })),
	};
}

/** By request: what it sent, because converting a large body takes long. */
const sentTexts = new WeakMap<RecordedRequest, string>();

function shownRequests({ log }: Simulator) {
	const first = Math.max(0, log.requests.length - MAX_REQUESTS);
	return log.requests
		.slice(first)
		.map((request, index) => {
			const { method, path, query, at, outcome } = request;
			const { status, fault, error, responseText } = outcome;
			return {
				number: first + index + 1,
				method,
				path: withQuery(path, query),
				at,
				sent: sentText(request),
				status: status ?? null,
				fault: fault === undefined ? null : faultText({ kind: fault }),
				error: error ?? null,
				response: responseText ?? null,
			};
		})
		.reverse();
}

function withQuery(path: string, query: Record<string, string>): string {
	const text = new URLSearchParams(query).toString();
	return text === '' ? path : `${path}?${text}`;
}

function sentText(request: RecordedRequest): string {
	const known = sentTexts.get(request);
	if (known !== undefined) return known;
	const shown = shownText(request.body);
	sentTexts.set(request, shown);
	return shown;
}
