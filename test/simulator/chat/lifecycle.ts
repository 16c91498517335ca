import type { Emit, Session, SessionMode } from './types';

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
