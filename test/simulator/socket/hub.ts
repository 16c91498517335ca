import { randomUUID } from 'node:crypto';
import type { WebSocket } from 'ws';
import type { Session } from '../chat/types';
import type { JsonObject } from '../json';
import { EVENT_TIMES, type SimulatorState } from '../world';
import { admission, type Rejection, type Wanted } from './admission';
import { handleFrame, transmit } from './connection';
import type { Connection, ReceivedFrame } from './types';

/** The open sockets of all sessions, and the events that go to them. */
export class SocketHub {
	/** Every text frame received. */
	readonly frames: ReceivedFrame[] = [];
	private readonly open = new Set<Connection>();
	/** Earlier clients, by session. They get recent events again. */
	private readonly seen = new Set<string>();
	/** Not reset, because the ID of an event is never used again. */
	private eventCounter = 0;

	constructor(private readonly world: SimulatorState) {}

	connectionsOf(sessionId?: string): Connection[] {
		return [...this.open].filter(
			({ session }) => sessionId === undefined || session.sessionId === sessionId,
		);
	}

	accept(ws: WebSocket, wanted: Wanted): Rejection | undefined {
		// Without a client_id, each connection counts as another client.
		const clientId = wanted.clientId === '' ? randomUUID() : wanted.clientId;
		const admitted = admission(this.world, { ...wanted, clientId });
		ws.on('error', () => ws.terminate());
		if ('code' in admitted) {
			ws.close(admitted.code, this.world.dialect.socket.closeReason(admitted.word));
			return admitted;
		}
		this.makeRoom(admitted.session.sessionId, clientId);
		const connection: Connection = { ws, clientId, ...admitted, expiry: null };
		this.open.add(connection);
		this.listen(connection);
		this.endWithToken(connection);
		this.replay(connection);
		return undefined;
	}

	/** Stores an event for replaying and sends it to the session's sockets. */
	emit(session: Session, type: string, payload: JsonObject): string {
		const { dialect, clock } = this.world;
		const eventId = dialect.socket.eventId(++this.eventCounter);
		const frame: JsonObject = {
			type,
			session_id: session.sessionId,
			account_id: dialect.socket.accountId(session.accountId),
			ts: this.timeOf(clock.now()),
			event_id: eventId,
			payload,
		};
		session.events.push({ eventId, at: clock.now(), frame });
		if (session.events.length > this.replayLimit()) session.events.shift();
		for (const connection of this.connectionsOf(session.sessionId)) transmit(connection, frame);
		if (type === 'session_closed' && dialect.socket.afterClosed === 'closes') {
			for (const { ws } of this.connectionsOf(session.sessionId)) ws.close(1000);
		}
		return eventId;
	}

	private timeOf(ms: number): string | number {
		const { dialect, settings } = this.world;
		const { eventTime } = settings;
		return eventTime ? EVENT_TIMES[eventTime](ms) : dialect.socket.ts(ms);
	}

	reset(): void {
		for (const { ws, expiry } of this.open) {
			if (expiry) clearTimeout(expiry);
			ws.terminate();
		}
		this.open.clear();
		this.seen.clear();
		this.frames.length = 0;
	}

	/** Ends the sockets of other clients, and those of the same client as the dialect does. */
	private makeRoom(sessionId: string, clientId: string): void {
		const { socket } = this.world.dialect;
		for (const other of this.connectionsOf(sessionId)) {
			const same = other.clientId === clientId;
			if (same && socket.sameClientTwice === 'both') continue;
			this.open.delete(other);
			if (other.expiry) clearTimeout(other.expiry);
			const code = same ? socket.replacedCode : socket.takeOverCode;
			other.ws.close(code, socket.closeReason(same ? 'replaced' : 'taken_over'));
		}
	}

	private listen(connection: Connection): void {
		const { ws, session, clientId } = connection;
		ws.on('message', (data: Buffer, isBinary: boolean) => {
			if (isBinary) {
				ws.close(1003, this.world.dialect.socket.closeReason('text_only'));
				return;
			}
			const text = data.toString('utf8');
			this.frames.push({ sessionId: session.sessionId, clientId, at: Date.now(), text });
			void handleFrame(this.world, connection, text);
		});
		ws.on('close', () => {
			this.open.delete(connection);
			if (connection.expiry) clearTimeout(connection.expiry);
		});
	}

	private endWithToken(connection: Connection): void {
		const { dialect, clock } = this.world;
		if (!dialect.socket.socketEndsWithToken) return;
		connection.expiry = setTimeout(
			() => connection.ws.close(4401, dialect.socket.closeReason('token_expired')),
			connection.token.expiresAt - clock.now(),
		);
	}

	private replay(connection: Connection): void {
		const { dialect, clock, settings } = this.world;
		const { session, clientId } = connection;
		const key = `${session.sessionId} ${clientId}`;
		const known = this.seen.has(key);
		this.seen.add(key);
		if (!known && !dialect.socket.replay.onFirstConnect) return;
		const since = clock.now() - (settings.replayWindowMs ?? dialect.socket.replay.windowMs);
		for (const event of session.events) if (event.at >= since) transmit(connection, event.frame);
	}

	private replayLimit(): number {
		return this.world.settings.replayMaxEvents ?? this.world.dialect.socket.replay.maxEvents;
	}
}
