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

/** The session and token of an accepted socket, or the close code of a rejected one. */
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
	const clients = hub.connectionsOf(sessionId).map((other) => other.clientId);
	if (sameClientTwice === 'rejected' && clients.includes(clientId)) {
		return { code: 1008, word: 'client_connected_already' };
	}
	const taken = clients.some((other) => other !== clientId);
	return taken && !claim ? { code: 1008, word: 'claim_conflict' } : { session, token: valid };
}
