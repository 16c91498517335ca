import type { SocketToken } from '../chat/tokens';
import type { Session } from '../chat/types';
import type { SimulatorState } from '../world';

export interface Rejection {
	code: number;
	word: string;
}

export interface Wanted {
	sessionId: string;
	token: string | null;
	clientId: string;
	claim: boolean;
}

/** Whether a socket may stay: the session and token it holds, or the code it is closed with. */
export function admission(
	world: SimulatorState,
	{ sessionId, token, clientId, claim }: Wanted,
): { session: Session; token: SocketToken } | Rejection {
	const { tokens, state, dialect, hub } = world;
	const valid = tokens.valid(token);
	const owner = state.sessions.get(valid?.sessionId ?? '');
	if (!valid || owner?.accountId !== state.accountId) return { code: 4401, word: 'unauthorized' };
	const session = state.sessions.get(sessionId);
	if (!session || valid.sessionId !== sessionId) return { code: 1008, word: 'session_mismatch' };
	if (state.agents.get(session.agentUuid)?.active !== true) {
		return { code: 1008, word: 'agent_inactive' };
	}
	const { closedSessionCode, sameClientTwice } = dialect.socket;
	if (session.status === 'closed' && closedSessionCode !== null) {
		return { code: closedSessionCode, word: 'session_closed' };
	}
	const holders = hub.connectionsOf(sessionId).map((other) => other.clientId);
	if (sameClientTwice === 'rejected' && holders.includes(clientId)) {
		return { code: 1008, word: 'client_connected_already' };
	}
	const taken = holders.some((other) => other !== clientId);
	return taken && !claim ? { code: 1008, word: 'claim_conflict' } : { session, token: valid };
}
