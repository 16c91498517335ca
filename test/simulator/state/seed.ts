import { usualOutcome, usualRecording, usualTranscript } from '../calls/outcome';
import { newSession } from '../chat/lifecycle';
import { istTimestamp } from '../clock';
import type { Dialect } from '../dialects';
import type { JsonObject } from '../json';
import { callId, fixtures } from './fixtures';
import { newCall } from './newCall';
import type { State } from './store';
import type { Agent, Call, CampaignStatus } from './types';

const HOUR_MS = 3_600_000;

export function seed(state: State, dialect: Dialect, now: number): void {
	seedAgents(state);
	seedCampaigns(state, now);
	seedCalls(state, dialect, now);
	seedDnd(state, dialect, now);
	seedSessions(state, dialect, now);
}

function seedAgents(state: State): void {
	const { agents } = fixtures;
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
	const add = (id: number, name: string, status: CampaignStatus) =>
		state.campaigns.set(id, {
			id,
			name,
			status,
			isRetryEnabled: status === 'Active',
			retryThreshold: 3,
			createdAt: istTimestamp(now - 240 * HOUR_MS),
			uploads: [],
			contacts: [],
			queuedPhones: new Set(),
		});
	const { campaigns, uploads, agents } = fixtures;
	add(campaigns.draft, 'Spring Preview', 'Draft');
	add(campaigns.paused, 'Renewals', 'Paused');
	add(campaigns.archived, 'Last Year', 'Archived');
	const active = add(campaigns.active, 'Morning Leads', 'Active').get(campaigns.active);
	for (const [id, completed] of [
		[uploads.completed, true],
		[uploads.running, false],
	] as const) {
		active?.uploads.push({
			id,
			fileName: `leads_${id}.csv`,
			agentUuid: agents.full,
			createdAt: istTimestamp(now - 48 * HOUR_MS),
			queues: [{ agentUuid: agents.full, totalQueued: 20, completed }],
		});
	}
}

function seedCalls(state: State, dialect: Dialect, now: number): void {
	const { unusual } = dialect.calls;
	const add = (number: number, fields: JsonObject, rest: Partial<Call> = {}) => {
		const at = now - (50 - number) * HOUR_MS;
		const call = seededCall(number, at);
		const agent = state.agents.get(call.agentUuid);
		call.outcome = { ...usualOutcome(call, agent, at), ...fields };
		state.calls.set(call.callId, { ...call, ...rest });
	};
	const talk = usualTranscript(dialect, now);
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
	add(
		4,
		{
			status: unusual.status,
			call_type: unusual.callType,
			channel: unusual.channel,
			call_ended_by: unusual.endedBy,
			call_ended_reason: unusual.endedReason,
		},
		{ agentUuid: fixtures.agents.us, phone: '+12025550143', campaignId: null, uploadId: null },
	);
	const inFlight = seededCall(5, now);
	state.calls.set(inFlight.callId, {
		...inFlight,
		finished: false,
		campaignId: null,
		uploadId: null,
	});
	for (let number = 6; number < 6 + fixtures.calls.more; number++) {
		add(number, number % 5 === 0 ? { status: 'failed' } : {}, {
			uploadId: number % 2 === 0 ? fixtures.uploads.completed : fixtures.uploads.running,
		});
	}
}

export function seededCall(number: number, at: number): Call {
	return {
		...newCall({
			callId: callId(number),
			agentUuid: fixtures.agents.full,
			phone: `+9198765${String(number).padStart(5, '0')}`,
			fromNumber: '+918045671234',
			callerName: `Contact ${number}`,
			request: null,
			webhookUrl: null,
			campaignId: fixtures.campaigns.active,
			uploadId: fixtures.uploads.completed,
			createdAt: istTimestamp(at),
			scheduledAt: null,
		}),
		finished: true,
	};
}

function seedDnd(state: State, dialect: Dialect, now: number): void {
	const add = (agentUuid: string, phone: string) =>
		state.dnd.push({
			id: state.nextId(),
			agentUuid,
			phone,
			reason: dialect.dnd.reason,
			createdAt: istTimestamp(now - HOUR_MS),
		});
	add(fixtures.agents.full, fixtures.dndPhone);
	for (let i = 0; i < 120; i++) add(fixtures.agents.full, `+91700000${String(i).padStart(4, '0')}`);
	add(fixtures.agents.us, '+12025550199');
}

function seedSessions(state: State, dialect: Dialect, now: number): void {
	const { sessions, agents } = fixtures;
	for (const [sessionId, status, agentUuid] of [
		[sessions.open, 'open', agents.full],
		[sessions.dormant, 'dormant', agents.full],
		[sessions.closed, 'closed', agents.full],
		[sessions.inactiveAgent, 'open', agents.inactive],
		[sessions.foreign, 'open', agents.foreign],
	] as const) {
		const agent = state.agents.get(agentUuid);
		if (!agent) continue;
		const session = newSession(agent, dialect, now, sessionId);
		session.status = status;
		state.sessions.set(sessionId, session);
	}
}
