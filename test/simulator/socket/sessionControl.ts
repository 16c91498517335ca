import { closeSession, goDormant, switchMode, wake } from '../chat/lifecycle';
import type { Session, SessionMode } from '../chat/types';
import type { JsonObject } from '../json';
import { fixtures } from '../state/fixtures';
import type { SimulatorState } from '../world';
import type { ReceivedFrame } from './types';

/** Controls chat sessions and their sockets. Without a session ID, all of them. */
export class SessionControl {
	constructor(private readonly world: SimulatorState) {}

	create(agentUuid: string = fixtures.agents.full, person: string | null = null): Session {
		const agent = this.world.state.agents.get(agentUuid);
		if (!agent) throw new Error(`The simulator has no agent ${agentUuid}`);
		return this.world.chat.open(agent, person);
	}

	get(sessionId: string): Session {
		const session = this.world.state.sessions.get(sessionId);
		if (!session) throw new Error(`The simulator has no session ${sessionId}`);
		return session;
	}

	/** Sends an event with any type and payload. Returns its event_id. */
	pushEvent(sessionId: string, type: string, payload: JsonObject = {}): string {
		return this.world.hub.emit(this.get(sessionId), type, payload);
	}

	/** Sends the same event again, as after a reconnect. */
	repeatEvent(sessionId: string, eventId: string): void {
		const event = this.get(sessionId).events.find((one) => one.eventId === eventId);
		if (!event) throw new Error(`The session no longer has event ${eventId}`);
		this.pushRaw(sessionId, JSON.stringify(event.frame));
	}

	/** Sends any frame unchanged: malformed or very long text, or bytes. */
	pushRaw(sessionId: string, frame: string | Buffer): void {
		for (const { ws } of this.world.hub.connectionsOf(sessionId)) ws.send(frame);
	}

	closeSockets(code: number, sessionId?: string, reason = ''): number {
		const sockets = this.world.hub.connectionsOf(sessionId);
		for (const { ws } of sockets) ws.close(code, reason);
		return sockets.length;
	}

	/** Ends the connections without a closing handshake: the client sees 1006. */
	cutSockets(sessionId?: string): number {
		const sockets = this.world.hub.connectionsOf(sessionId);
		for (const { ws } of sockets) ws.terminate();
		return sockets.length;
	}

	openSockets(sessionId?: string): number {
		return this.world.hub.connectionsOf(sessionId).length;
	}

	clientIds(sessionId: string): string[] {
		return this.world.hub.connectionsOf(sessionId).map(({ clientId }) => clientId);
	}

	/** Every text frame received from clients. */
	frames(sessionId?: string): ReceivedFrame[] {
		return this.world.hub.frames.filter(
			(frame) => sessionId === undefined || frame.sessionId === sessionId,
		);
	}

	/** Ends all tokens issued so far, and the open sockets if the dialect ends them with their token. */
	expireTokens(): void {
		this.world.tokens.expireAll();
		if (this.world.dialect.socket.socketEndsWithToken) this.closeSockets(4401);
	}

	/** Switches an agent off, which ends its sockets with 1008, or on again. */
	setAgentActive(agentUuid: string, active: boolean): void {
		const agent = this.world.state.agents.get(agentUuid);
		if (!agent) throw new Error(`The simulator has no agent ${agentUuid}`);
		agent.active = active;
		if (active) return;
		const reason = this.world.dialect.socket.closeReason('agent_inactive');
		for (const { ws, session } of this.world.hub.connectionsOf()) {
			if (session.agentUuid === agentUuid) ws.close(1008, reason);
		}
	}

	setMode(sessionId: string, mode: SessionMode): void {
		const session = this.get(sessionId);
		switchMode(session, mode, this.world.chat.emitter(session));
	}

	goDormant(sessionId: string): void {
		const session = this.get(sessionId);
		goDormant(session, this.world.chat.emitter(session));
	}

	reactivate(sessionId: string): void {
		const session = this.get(sessionId);
		wake(session, this.world.dialect.chat.reactivatedReason, this.world.chat.emitter(session));
	}

	close(sessionId: string): void {
		const session = this.get(sessionId);
		closeSession(session, this.world.chat.emitter(session));
	}

	nudge(sessionId: string, idleSeconds = 60): string {
		return this.pushEvent(sessionId, 'nudge_sent', { idle_seconds: idleSeconds });
	}

	autoResume(sessionId: string, idleSeconds = 120): string {
		const reason = this.world.dialect.chat.autoResumeReason;
		return this.pushEvent(sessionId, 'auto_resume_fired', { idle_seconds: idleSeconds, reason });
	}
}
