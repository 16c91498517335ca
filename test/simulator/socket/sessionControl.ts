import { closeSession, goDormant, switchMode, wake } from '../chat/session';
import type { Session, SessionMode } from '../chat/session';
import type { JsonObject } from '../json';
import type { Simulator } from '../simulator';
import { fixtures } from '../state/fixtures';

/** Controls chat sessions and their sockets. Without a session ID, all of them. */
export class SessionControl {
	constructor(private readonly sim: Simulator) {}

	create(agentUuid: string = fixtures.agents.full, person: string | null = null): Session {
		return this.sim.chat.open(this.agent(agentUuid), person);
	}

	get(sessionId: string): Session {
		const session = this.sim.state.sessions.get(sessionId);
		if (!session) throw new Error(`The simulator has no session ${sessionId}`);
		return session;
	}

	/** Sends an event with any type and payload. Returns its event_id as text. */
	pushEvent(sessionId: string, type: string, payload: JsonObject = {}): string {
		return String(this.sim.hub.emit(this.get(sessionId), type, payload));
	}

	/** Sends any frame unchanged: malformed or very long text, or bytes. */
	pushRaw(sessionId: string, frame: string | Buffer): void {
		for (const { ws } of this.sim.hub.connectionsOf(sessionId)) ws.send(frame);
	}

	closeSockets(code: number, sessionId?: string): void {
		for (const { ws } of this.sim.hub.connectionsOf(sessionId)) ws.close(code);
	}

	/** Ends the connections without a closing handshake: the client sees 1006. Returns how many. */
	cutSockets(sessionId?: string): number {
		const connections = this.sim.hub.connectionsOf(sessionId);
		for (const { ws } of connections) ws.terminate();
		return connections.length;
	}

	openSockets(sessionId?: string): number {
		return this.sim.hub.connectionsOf(sessionId).length;
	}

	/** Every text frame received from clients. */
	frames(sessionId?: string) {
		return this.sim.hub.frames.filter(
			(frame) => sessionId === undefined || frame.sessionId === sessionId,
		);
	}

	/** Ends all tokens issued so far, and the open sockets if the dialect ends them with their token. */
	expireTokens(): void {
		this.sim.hub.expireTokens();
		if (this.sim.dialect.socket.socketEndsWithToken) this.closeSockets(4401);
	}

	setMode(sessionId: string, mode: SessionMode): void {
		const session = this.get(sessionId);
		switchMode(session, mode, this.sim.dialect, this.sim.chat.emitter(session));
	}

	goDormant(sessionId: string): void {
		const session = this.get(sessionId);
		goDormant(session, this.sim.chat.emitter(session));
	}

	reactivate(sessionId: string): void {
		const session = this.get(sessionId);
		wake(session, this.sim.dialect, this.sim.chat.emitter(session));
	}

	close(sessionId: string): void {
		const session = this.get(sessionId);
		closeSession(session, this.sim.chat.emitter(session));
	}

	nudge(sessionId: string, idleSeconds = 60): string {
		return this.pushEvent(sessionId, 'nudge_sent', { idle_seconds: idleSeconds });
	}

	autoResume(sessionId: string, idleSeconds = 120): string {
		const reason = this.sim.dialect.socket.resumedReason;
		const payload = { idle_seconds: idleSeconds, reason };
		return this.pushEvent(sessionId, 'auto_resume_fired', payload);
	}

	private agent(agentUuid: string) {
		const agent = this.sim.state.agents.get(agentUuid);
		if (!agent) throw new Error(`The simulator has no agent ${agentUuid}`);
		return agent;
	}
}
