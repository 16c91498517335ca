import { randomBytes, randomUUID } from 'node:crypto';
import type { WebSocket } from 'ws';
import { asks } from '../chat/scriptedReplies';
import type { Emit, Id, Session } from '../chat/session';
import { delay } from '../clock';
import type { JsonObject } from '../json';
import type { Simulator } from '../simulator';
import { readFrame } from './frames';

const TOKEN_LIFETIME_MS = 300_000;
const REPLAY_WINDOW_MS = 60_000;
const REPLAY_MAX_EVENTS = 200;

interface SocketToken {
	token: string;
	sessionId: string;
	expiresAt: number;
}

export interface Connection {
	ws: WebSocket;
	session: Session;
	clientId: string;
	/** Closes the socket when its token ends. */
	expiry: NodeJS.Timeout | undefined;
}

/** What a client asks for when it connects. */
export interface Wanted {
	sessionId: string;
	token: string | undefined;
	clientId: string;
	claim: boolean;
}

export interface Rejection {
	code: number;
	word: string;
}

/** The open sockets of all sessions, their short-lived tokens, and the events that go to them. */
export class SocketHub {
	/** Every text frame received. */
	readonly frames: Array<{ sessionId: string; clientId: string; text: string }> = [];
	private readonly tokens = new Map<string, SocketToken>();
	private readonly open = new Set<Connection>();
	/** Earlier clients, by session. They get recent events again. */
	private readonly seen = new Set<string>();
	/** Not reset, because the ID of an event is never used again. */
	private eventCounter = 0;

	constructor(private readonly sim: Simulator) {}

	connectionsOf(sessionId?: string): Connection[] {
		return [...this.open].filter(
			({ session }) => sessionId === undefined || session.sessionId === sessionId,
		);
	}

	mint(sessionId: string): SocketToken {
		const minted = {
			token: randomBytes(24).toString('base64url'),
			sessionId,
			expiresAt: this.sim.clock.now() + TOKEN_LIFETIME_MS,
		};
		this.tokens.set(minted.token, minted);
		return minted;
	}

	/** Expires all tokens issued so far. */
	expireTokens(): void {
		this.tokens.clear();
	}

	accept(ws: WebSocket, wanted: Wanted): Rejection | undefined {
		const { socket } = this.sim.dialect;
		// Without a client_id, each connection counts as another client.
		const clientId = wanted.clientId === '' ? randomUUID() : wanted.clientId;
		const admitted = this.admission({ ...wanted, clientId });
		ws.on('error', () => ws.terminate());
		if ('code' in admitted) {
			ws.close(admitted.code, socket.closeReason(admitted.word));
			return admitted;
		}
		const { session, expiresAt } = admitted;
		this.makeRoom(session.sessionId, clientId);
		const expire = () => ws.close(4401, socket.closeReason('token_expired'));
		const expiry = socket.socketEndsWithToken
			? setTimeout(expire, expiresAt - this.sim.clock.now())
			: undefined;
		const connection: Connection = { ws, clientId, session, expiry };
		this.open.add(connection);
		this.listen(connection);
		this.replay(connection);
		return undefined;
	}

	/** Stores an event for replaying and sends it to the session's sockets. */
	emit(session: Session, type: string, payload: JsonObject): Id {
		const { dialect, clock, settings } = this.sim;
		const { replayMaxEvents = REPLAY_MAX_EVENTS } = settings;
		const at = clock.now();
		const event_id = dialect.socket.eventId(++this.eventCounter);
		const frame: JsonObject = {
			type,
			session_id: session.sessionId,
			account_id: dialect.socket.accountId(session.accountId),
			ts: dialect.socket.ts(at),
			event_id,
			payload,
		};
		session.events.push({ at, frame });
		if (session.events.length > replayMaxEvents) session.events.shift();
		const connections = this.connectionsOf(session.sessionId);
		for (const connection of connections) this.transmit(connection, frame);
		if (type === 'session_closed' && dialect.socket.afterClosed === 'closes') {
			for (const { ws } of connections) ws.close(1000);
		}
		return event_id;
	}

	reset(): void {
		for (const { ws, expiry } of this.open) {
			clearTimeout(expiry);
			ws.terminate();
		}
		this.open.clear();
		this.seen.clear();
		this.tokens.clear();
		this.frames.length = 0;
	}

	/** The session and the end of its token, or the close code of a rejected socket. */
	private admission({
		sessionId,
		token,
		clientId,
		claim,
	}: Wanted): Rejection | { session: Session; expiresAt: number } {
		const { state, dialect, clock } = this.sim;
		const known = this.tokens.get(token ?? '');
		const owner = state.sessions.get(known?.sessionId ?? '');
		if (!known || known.expiresAt <= clock.now() || owner?.accountId !== state.accountId) {
			return { code: 4401, word: 'unauthorized' };
		}
		const session = state.sessions.get(sessionId);
		if (!session || known.sessionId !== sessionId) return { code: 1008, word: 'session_mismatch' };
		if (state.agents.get(session.agentUuid)?.active !== true) {
			return { code: 1008, word: 'agent_inactive' };
		}
		const { closedSessionCode } = dialect.socket;
		if (session.status === 'closed' && closedSessionCode !== null) {
			return { code: closedSessionCode, word: 'session_closed' };
		}
		const isTaken = this.connectionsOf(sessionId).some((other) => other.clientId !== clientId);
		if (isTaken && !claim) return { code: 1008, word: 'claim_conflict' };
		return { session, expiresAt: known.expiresAt };
	}

	/** Ends the sockets of other clients, and those of the same client as the dialect does. */
	private makeRoom(sessionId: string, clientId: string): void {
		const { socket } = this.sim.dialect;
		for (const other of this.connectionsOf(sessionId)) {
			const isSame = other.clientId === clientId;
			if (isSame && socket.sameClientTwice === 'both') continue;
			this.open.delete(other);
			clearTimeout(other.expiry);
			const code = isSame ? socket.replacedCode : socket.takeOverCode;
			other.ws.close(code, socket.closeReason(isSame ? 'replaced' : 'taken_over'));
		}
	}

	private listen(connection: Connection): void {
		const { ws, session, clientId } = connection;
		ws.on('message', (data: Buffer, isBinary: boolean) => {
			if (isBinary) {
				ws.close(1003, this.sim.dialect.socket.closeReason('text_only'));
				return;
			}
			const text = data.toString('utf8');
			this.frames.push({ sessionId: session.sessionId, clientId, text });
			void this.handle(connection, text);
		});
		ws.on('close', () => {
			this.open.delete(connection);
			clearTimeout(connection.expiry);
		});
	}

	/** Handles a text frame of the client, and sends its ack. */
	private async handle(connection: Connection, text: string): Promise<void> {
		const { chat, dialect, settings } = this.sim;
		const { session, ws } = connection;
		await delay(settings.latencyMs ?? 0);
		const read = readFrame(text);
		if ('error' in read) {
			this.ack(connection, { state: 'invalid', error: read.error }, read.messageId);
			return;
		}
		const { content, messageId } = read.incoming;
		const direct = chat.emitter(session);
		const held: Array<() => void> = [];
		const later: Emit = (type, payload) => held.push(() => direct(type, payload));
		const emit = dialect.socket.ackBeforeEvents ? later : direct;
		const outcome = await chat.send(session, read.incoming, emit);
		if (asks(content, 'drop')) ws.terminate();
		else if (!asks(content, 'noAck')) this.ack(connection, outcome, messageId);
		for (const emitNow of held) emitNow();
	}

	private ack(connection: Connection, outcome: JsonObject, messageId: string | null): void {
		const { sessionId, accountId } = connection.session;
		// The ack of a rejected frame has the ID of its sender.
		const isNamed = messageId === null || 'message_id' in outcome;
		this.transmit(connection, {
			type: 'ws_write_result',
			session_id: sessionId,
			account_id: this.sim.dialect.socket.accountId(accountId),
			payload: { ...outcome, ...(!isNamed && { message_id: messageId }) },
		});
	}

	private replay(connection: Connection): void {
		const { dialect, clock, settings } = this.sim;
		const { session, clientId } = connection;
		const key = `${session.sessionId} ${clientId}`;
		const isKnown = this.seen.has(key);
		this.seen.add(key);
		if (!isKnown && !dialect.socket.replaysOnFirstConnect) return;
		const since = clock.now() - (settings.replayWindowMs ?? REPLAY_WINDOW_MS);
		for (const { at, frame } of session.events) if (at >= since) this.transmit(connection, frame);
	}

	private transmit({ ws }: Connection, frame: JsonObject): void {
		if (ws.readyState !== ws.OPEN) return;
		const text = JSON.stringify(frame);
		// As text, even if the bytes aren't valid text.
		ws.send(this.sim.tamper?.(Buffer.from(text)).bytes ?? text, { binary: false });
	}
}
