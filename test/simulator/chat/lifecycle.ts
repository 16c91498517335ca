import { istTimestamp } from '../clock';
import type { Dialect } from '../dialects';
import type { Agent } from '../state/types';
import type { Emit, Session, SessionMode } from './types';

/** An open session. Its context bucket already has an initial entry. */
export function newSession(
	agent: Agent,
	dialect: Dialect,
	now: number,
	sessionId: string,
): Session {
	return {
		sessionId,
		agentUuid: agent.agentUuid,
		accountId: agent.accountId,
		status: 'open',
		mode: 'ai',
		person: null,
		context: [dialect.chat.initialContext(agent.name)],
		messages: [],
		interactions: new Map(),
		remembered: new Map(),
		spent: new Set(),
		flight: null,
		events: [],
		deliveryUrl: null,
		createdAt: istTimestamp(now),
	};
}

export function goDormant(session: Session, emit: Emit): void {
	if (session.status !== 'open') return;
	session.status = 'dormant';
	emit('session_dormant', { reason: 'inactivity' });
}

/** The next message reactivates a dormant session. */
export function wake(session: Session, reason: string, emit: Emit): void {
	if (session.status === 'dormant') emit('session_reactivated', { reason });
	if (session.status !== 'closed') session.status = 'open';
}

export function closeSession(session: Session, emit: Emit): void {
	if (session.status === 'closed') return;
	session.status = 'closed';
	emit('session_closed', {});
}

export function switchMode(session: Session, mode: SessionMode, emit: Emit): void {
	if (session.mode === mode) return;
	session.mode = mode;
	emit(
		'mode_changed',
		mode === 'support' ? { to: mode, active_human: 'operator-1' } : { to: mode },
	);
}
