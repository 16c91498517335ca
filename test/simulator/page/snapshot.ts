import type { Session } from '../chat/session';
import type { RecordedRequest } from '../http/requestLog';
import { shownText } from '../json';
import type { Simulator } from '../simulator';
import type { Call, Campaign, StoredContact } from '../state/state';
import { faultText, switchesOf } from './switches';

/** The page shows the newest of each kind. */
const MAX_SHOWN = 100;

const newest = <T>(all: readonly T[]): T[] => all.slice(-MAX_SHOWN).reverse();

/** What the page shows at a moment. */
export function snapshot(sim: Simulator) {
	const { state, baseUrl, token } = sim;
	const calls = [...state.calls.values()].filter(({ callId }) => !sim.isSeeded(callId));
	const chats = [...state.sessions.values()].filter(
		({ sessionId, messages }) => messages.length > 0 || !sim.isSeeded(sessionId),
	);
	return {
		service: { baseUrl, token },
		switches: switchesOf(sim),
		agents: [...state.agents.values()]
			.filter(({ agentUuid, active }) => active && state.ownAgent(agentUuid))
			.map(({ agentUuid, name }) => ({ agentUuid, name })),
		calls: newest(calls).map((call) => shownCall(sim, call)),
		callCount: calls.length,
		campaigns: [...state.campaigns.values()]
			.filter(({ contacts }) => contacts.length > 0)
			.map(shownCampaign),
		numbers: newest(state.dnd).map(({ phone, agentUuid, reason }) => {
			return { phone, reason, agent: nameOf(sim, agentUuid) };
		}),
		chats: newest(chats).map((session) => shownChat(sim, session)),
		requests: shownRequests(sim),
	};
}

function nameOf({ state }: Simulator, agentUuid: string): string {
	return state.agents.get(agentUuid)?.name ?? agentUuid;
}

function shownCall(sim: Simulator, call: Call) {
	const { callId, phone, callerName, campaignId, outcome } = call;
	return {
		callId,
		phone,
		name: callerName,
		agent: nameOf(sim, call.agentUuid),
		from: campaignId === null ? 'Place Call' : `Campaign ${campaignId}`,
		phase: phaseOf(sim, call),
		summary: typeof outcome.summary === 'string' ? outcome.summary : null,
		webhooks: call.deliveries.map(({ status }) => status),
	};
}

function phaseOf({ clock }: Simulator, call: Call): string {
	const { finished, dialed, isTalking, scheduledAt, outcome } = call;
	if (finished) return typeof outcome.status === 'string' ? `Ended: ${outcome.status}` : 'Ended';
	if (!dialed) return 'Not dialed: do not disturb';
	if (isTalking) return 'Talking';
	const isLater = scheduledAt !== null && scheduledAt > clock.now();
	return isLater ? `Scheduled for ${new Date(scheduledAt).toISOString()}` : 'Ringing';
}

function shownCampaign({ id, name, status, contacts, uploads }: Campaign) {
	return {
		id,
		name,
		status,
		lists: uploads.length,
		contactCount: contacts.length,
		contacts: newest(contacts).map((contact) => ({
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
		connections: sim.sessions.openSockets(sessionId),
		messages: messages.slice(-MAX_SHOWN).map(({ role, content }) => ({ role, content })),
	};
}

/** By request: what it sent, because converting a large body takes long. */
const sentTexts = new WeakMap<RecordedRequest, string>();

function shownRequests({ requests }: Simulator) {
	return newest(requests).map((request, index) => {
		const { method, path, query, at, outcome } = request;
		const { status = null, fault, error = null, responseText: response = null } = outcome;
		const parameters = new URLSearchParams(query).toString();
		const sent = sentTexts.get(request) ?? shownText(request.body);
		sentTexts.set(request, sent);
		return {
			number: requests.length - index,
			method,
			path: parameters === '' ? path : `${path}?${parameters}`,
			at,
			sent,
			status,
			fault: fault === undefined ? null : faultText({ kind: fault }),
			error,
			response,
		};
	});
}
