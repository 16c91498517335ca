import { usualOutcome, usualRecording, usualTranscript } from '../calls/outcome';
import { newSession } from '../chat/session';
import { istTimestamp } from '../clock';
import type { JsonObject } from '../json';
import { callId, DND_REASON, fixtures, UNUSUAL } from './fixtures';
import { newCall, type Agent, type Call, type CampaignStatus, type State } from './state';

const HOUR_MS = 3_600_000;
const { agents, campaigns, uploads, sessions } = fixtures;

export function seed(state: State, now: number): void {
	seedAgents(state);
	seedCampaigns(state, now);
	seedCalls(state, now);
	seedDnd(state, now);
	seedSessions(state, now);
}

function seedAgents(state: State): void {
	const add = (agentUuid: string, name: string, rest: Partial<Agent> = {}) =>
		state.agents.set(agentUuid, {
			agentUuid,
			name,
			accountId: state.accountId,
			active: true,
			number: '+918045671234',
			postCallAnalysis: true,
			...rest,
		});
	add(agents.full, 'Sales India');
	add(agents.us, 'Support US', { number: '+14155550123' });
	add(agents.noNumber, 'Without a Number', { number: null });
	add(agents.noAnalysis, 'Without Analysis', { postCallAnalysis: false });
	add(agents.inactive, 'Retired', { active: false });
	add(agents.foreign, 'Of Another Account', { accountId: 999 });
}

function seedCampaigns(state: State, now: number): void {
	const upload = (id: number, completed: boolean) => ({
		id,
		fileName: `leads_${id}.csv`,
		agentUuid: agents.full,
		createdAt: istTimestamp(now - 48 * HOUR_MS),
		queues: [{ agentUuid: agents.full, totalQueued: 20, completed }],
	});
	const add = (id: number, name: string, status: CampaignStatus) =>
		state.campaigns.set(id, {
			id,
			name,
			status,
			createdAt: istTimestamp(now - 240 * HOUR_MS),
			uploads:
				status === 'Active'
					? [upload(uploads.completed, true), upload(uploads.running, false)]
					: [],
			contacts: [],
			queuedPhones: new Set(),
		});
	add(campaigns.draft, 'Spring Preview', 'Draft');
	add(campaigns.paused, 'Renewals', 'Paused');
	add(campaigns.archived, 'Last Year', 'Archived');
	add(campaigns.active, 'Morning Leads', 'Active');
}

function seedCalls(state: State, now: number): void {
	const add = (number: number, fields: JsonObject, rest: Partial<Call> = {}) => {
		const at = now - (50 - number) * HOUR_MS;
		const call = seededCall(number, at);
		const outcome = { ...usualOutcome(call, state.agents.get(call.agentUuid), at), ...fields };
		state.calls.set(call.callId, { ...call, outcome, ...rest });
	};
	const talk = usualTranscript(now);
	add(1, {}, { transcript: talk, recording: usualRecording() });
	add(2, {}, { transcript: talk });
	add(3, {
		status: 'not_picked',
		duration_seconds: 0,
		call_picked_at: null,
		summary: null,
		data_captured: {},
		retry_count: 1,
	});
	const nowhere = { campaignId: null, uploadId: null };
	add(4, UNUSUAL, { agentUuid: agents.us, phone: '+12025550143', ...nowhere });
	const inFlight = seededCall(5, now);
	state.calls.set(inFlight.callId, { ...inFlight, finished: false, ...nowhere });
	for (let number = 6; number < 6 + fixtures.calls.more; number++) {
		add(number, number % 5 === 0 ? { status: 'failed' } : {}, {
			uploadId: number % 2 === 0 ? uploads.completed : uploads.running,
		});
	}
}

/** A finished call of the active campaign. */
export function seededCall(number: number, at: number): Call {
	return newCall({
		callId: callId(number),
		agentUuid: agents.full,
		phone: `+9198765${String(number).padStart(5, '0')}`,
		fromNumber: '+918045671234',
		callerName: `Contact ${number}`,
		campaignId: campaigns.active,
		uploadId: uploads.completed,
		createdAt: istTimestamp(at),
		finished: true,
	});
}

function seedDnd(state: State, now: number): void {
	const createdAt = istTimestamp(now - HOUR_MS);
	const add = (agentUuid: string, phone: string) =>
		state.dnd.push({ id: state.nextId(), agentUuid, phone, reason: DND_REASON, createdAt });
	add(agents.full, fixtures.dndPhone);
	for (let i = 0; i < 120; i++) add(agents.full, `+91700000${String(i).padStart(4, '0')}`);
	add(agents.us, '+12025550199');
}

function seedSessions(state: State, now: number): void {
	for (const [sessionId, status, agentUuid] of [
		[sessions.open, 'open', agents.full],
		[sessions.dormant, 'dormant', agents.full],
		[sessions.closed, 'closed', agents.full],
		[sessions.inactiveAgent, 'open', agents.inactive],
		[sessions.foreign, 'open', agents.foreign],
	] as const) {
		const agent = state.agents.get(agentUuid);
		if (agent) state.sessions.set(sessionId, { ...newSession(agent, now, sessionId), status });
	}
}
