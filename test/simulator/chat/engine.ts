import { randomUUID } from 'node:crypto';
import { delay } from '../clock';
import type { JsonObject } from '../json';
import type { Simulator } from '../simulator';
import type { Agent } from '../state/state';
import { gate } from './gate';
import { asks, SLOW_MS } from './scriptedReplies';
import {
	newSession,
	wake,
	type Emit,
	type Flight,
	type Id,
	type Incoming,
	type Session,
} from './session';

/** Time between an asynchronous message and its reply. */
const ASYNC_REPLY_MS = 50;

interface Turn {
	turnId: Id;
	messageId: Id;
	incoming: Incoming;
}

/** The agent of the chat: an echo with the scripted replies of scriptedReplies.ts. */
export class ChatEngine {
	private counter = 0;
	private readonly timers = new Set<NodeJS.Timeout>();

	constructor(private readonly sim: Simulator) {}

	open(agent: Agent, person: string | null): Session {
		const session = newSession(agent, this.sim.clock.now(), randomUUID());
		session.person = person;
		this.sim.state.sessions.set(session.sessionId, session);
		return session;
	}

	emitter(session: Session): Emit {
		return (type, payload) => this.sim.hub.emit(session, type, payload);
	}

	/** Adds a message to the session and emits its event. Returns its ID. */
	addMessage(
		session: Session,
		role: 'user' | 'ai',
		content: string,
		emit = this.emitter(session),
	): Id {
		const id = this.sim.dialect.chat.messageId(++this.counter);
		const created_at = new Date(this.sim.clock.now()).toISOString();
		session.messages.push({ id, role, content });
		emit('message_received', { id, type: 'message', role, content, created_at });
		return id;
	}

	/** A synchronous message. */
	async send(session: Session, incoming: Incoming, emit = this.emitter(session)) {
		const stopped = gate(this.sim, session, incoming);
		if (stopped) return stopped;
		const { content } = incoming;
		const turn = this.begin(session, incoming, emit);
		if (!session.flight && asks(content, 'merge')) this.startOtherTurn(session);
		if (session.flight) return this.merge(session, session.flight, turn);
		if (!asks(content, 'slow')) return this.finish(session, turn, content, emit).outcome;
		const flight: Flight = { turnId: turn.turnId, contents: [content], merged: [] };
		session.flight = flight;
		await delay(SLOW_MS);
		session.flight = null;
		const { outcome, replyId } = this.finish(session, turn, flight.contents.join(' / '), emit);
		for (const payload of this.resultsOf(flight, replyId)) emit('turn_result', payload);
		return outcome;
	}

	/** An asynchronous message. The same key and content returns the first response again. */
	sendLater(
		session: Session,
		incoming: Incoming,
	): Omit<Turn, 'incoming'> | { stopped: JsonObject } {
		const stopped = gate(this.sim, session, incoming);
		const known = session.remembered.get(incoming.idempotencyKey ?? '');
		if (stopped) return stopped.state === 'accepted' && known ? known : { stopped };
		const turn = this.begin(session, incoming, this.emitter(session));
		this.replyLater(session, incoming.content, (replyId) => [
			this.result(turn.turnId, turn.messageId, replyId),
		]);
		return turn;
	}

	reset(): void {
		for (const timer of this.timers) clearTimeout(timer);
		this.timers.clear();
		this.counter = 0;
	}

	private nextTurnId(): Id {
		return this.sim.dialect.chat.turnId(++this.counter);
	}

	private begin(session: Session, incoming: Incoming, emit: Emit): Turn {
		wake(session, this.sim.dialect, emit);
		const turnId = this.nextTurnId();
		const own = this.addMessage(session, 'user', incoming.content, emit);
		const { echoesMessageId } = this.sim.dialect.chat;
		const messageId = echoesMessageId ? (incoming.messageId ?? own) : own;
		const turn = { turnId, messageId, incoming };
		const shown = session.interactions.get(incoming.interaction?.id ?? '');
		if (shown) shown.answered = true;
		return this.remember(session, turn, { turn_id: turnId, message_id: messageId });
	}

	private remember(session: Session, turn: Turn, outcome: JsonObject): Turn {
		const { idempotencyKey } = turn.incoming;
		if (idempotencyKey !== null) session.remembered.set(idempotencyKey, { ...turn, outcome });
		return turn;
	}

	private finish(session: Session, turn: Turn, content: string, emit: Emit) {
		const { text, replyId } = this.reply(session, content, emit);
		const outcome: JsonObject = {
			state: 'default',
			reply: text,
			mode: session.mode,
			help_requested: false,
			turn_id: turn.turnId,
			...messageIdFor(turn),
		};
		this.remember(session, turn, outcome);
		return { outcome, replyId };
	}

	/** The agent's reply. A human operator doesn't reply immediately. */
	private reply(session: Session, content: string, emit: Emit) {
		if (session.mode === 'support') return { text: null, replyId: null };
		const text = `You said: ${content}`;
		return { text, replyId: this.addMessage(session, 'ai', text, emit) };
	}

	private merge(session: Session, flight: Flight, turn: Turn): JsonObject {
		flight.merged.push(turn);
		flight.contents.push(turn.incoming.content);
		const outcome: JsonObject = {
			state: 'merged',
			merged_into: flight.turnId,
			...(this.sim.dialect.chat.mergedNamesOwnTurn && { turn_id: turn.turnId }),
			...messageIdFor(turn),
		};
		this.remember(session, turn, outcome);
		return outcome;
	}

	/** A turn of another client, into which a message can be merged. */
	private startOtherTurn(session: Session): void {
		const flight: Flight = { turnId: this.nextTurnId(), contents: [], merged: [] };
		session.flight = flight;
		this.replyLater(session, flight.contents, (replyId) => {
			session.flight = null;
			return this.resultsOf(flight, replyId);
		});
	}

	/** A reply outside an ack: its text and the turn results, in the dialect's order. */
	private replyLater(
		session: Session,
		content: string | string[],
		resultsOf: (replyId: Id | null) => JsonObject[],
	): void {
		const order = this.sim.dialect.socket.replyText;
		const emit = this.emitter(session);
		const timer = setTimeout(() => {
			this.timers.delete(timer);
			const held: Array<() => void> = [];
			const hold: Emit = (type, payload) => held.push(() => emit(type, payload));
			const { replyId } = this.reply(session, [content].flat().join(' / '), hold);
			const show = () => held.forEach((showOne) => showOne());
			if (order === 'before') show();
			for (const payload of resultsOf(replyId)) emit('turn_result', payload);
			if (order === 'after') setTimeout(show, 10);
		}, ASYNC_REPLY_MS);
		this.timers.add(timer);
	}

	/** A turn result. The document doesn't say whether `message_id` is the customer's message or the agent's. */
	private result(turn_id: Id, customers: Id, agents: Id | null): JsonObject {
		const { resultNames, resultState: state } = this.sim.dialect.socket;
		const message_id = resultNames === 'agent' ? (agents ?? customers) : customers;
		return { turn_id, message_id, state, merged_into: null, error: null };
	}

	/** The results of the messages that were merged into a turn. */
	private resultsOf(flight: Flight, replyId: Id | null): JsonObject[] {
		const { mergedResult } = this.sim.dialect.socket;
		return flight.merged.flatMap(({ turnId, messageId }) => {
			const target = this.result(flight.turnId, messageId, replyId);
			const own = { ...target, turn_id: turnId, state: 'merged', merged_into: flight.turnId };
			if (mergedResult === 'target') return [target];
			return mergedResult === 'own' ? [own] : [own, target];
		});
	}
}

/** Over the socket, only a client-chosen message ID is returned. */
function messageIdFor({ incoming, messageId }: Turn): JsonObject {
	const isUnnamed = incoming.rail === 'socket' && incoming.messageId === null;
	return isUnnamed ? {} : { message_id: messageId };
}
