import { agentNotFound, rejected, type SimulatorResponse } from '../http/responses';
import type { Session } from '../chat/types';
import type { SimulatorState } from '../world';

/** Runs with the session of the path, or responds that it's unknown. */
export async function withSession(
	world: SimulatorState,
	id: unknown,
	run: (session: Session) => SimulatorResponse | Promise<SimulatorResponse>,
): Promise<SimulatorResponse> {
	const { state, dialect } = world;
	// A UUID is the same in upper and lower case.
	const session = typeof id === 'string' ? state.sessions.get(id.toLowerCase()) : undefined;
	if (!session) return rejected(dialect.statuses.sessionNotFound, dialect.chat.unknownSession);
	return state.ownAgent(session.agentUuid) ? await run(session) : agentNotFound(dialect);
}
