import { usualOutcome } from '../calls/outcome';
import { newSession } from '../chat/session';
import { filled, fixtures } from './fixtures';
import { seededCall } from './seed';
import type { State } from './state';

/** How many to add to the initial data. */
export type Filling = { calls: number; sessions: number };

/** Adds finished calls and open sessions, like in an old account. */
export function fill(state: State, now: number, { calls, sessions }: Filling): void {
	const agent = state.agents.get(fixtures.agents.full);
	if (agent === undefined) throw new Error('The simulator has no agent');
	for (let number = 0; number < calls; number++) {
		const call = { ...seededCall(number, now), callId: filled.callId(number) };
		state.calls.set(call.callId, { ...call, outcome: usualOutcome(call, agent, now) });
	}
	for (let number = 0; number < sessions; number++) {
		const session = newSession(agent, now, filled.sessionId(number));
		state.sessions.set(session.sessionId, session);
	}
}
