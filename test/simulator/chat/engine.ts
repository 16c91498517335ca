import { randomUUID } from 'node:crypto';
import { deliver } from '../calls/deliver';
import { delay } from '../clock';
import type { AcceptedMessage } from '../dialects/chatTypes';
import type { JsonObject } from '../json';
import type { Agent, Delivery } from '../state/types';
import type { SimulatorState } from '../world';
import { fingerprintOf, gate } from './gate';
import { newSession, wake } from './lifecycle';
import { asks, INTERIM_TEXT, SLOW_MS } from './scriptedReplies';
import { addMessage, respond } from './reply';
import { namedMessage, turnResults } from './turnResults';
import type { Emit, Flight, Incoming, Session } from './types';

interface Turn {
	turnId: string;
	messageId: string | number;
	incoming: Incoming;
}

/** The agent of the chat: an echo with the scripted replies of scriptedReplies.ts. */
export class ChatEngine {
	readonly deliveries: Delivery[] = [];
	private counter = 0;
	private readonly timers = new Set<NodeJS.Timeout>();

	constructor(private readonly world: SimulatorState) {}

	nextNumber(): number {
		return ++this.counter;
	}

	open(agent: Agent, person: string | null): Session {
		const session = newSession(agent, this.world.dialect, this.world.clock.now(), randomUUID());
		session.person = person;
		this.world.state.sessions.set(session.sessionId, session);
		return session;
	}

	emitter(session: Session): Emit {
		return (type, payload) => this.world.hub.emit(session, type, payload);
	}

	/** A synchronous message. */
	async send(session: Session, incoming: Incoming, emit: Emit): Promise<JsonObject> {
		const stopped = gate(this.world, session, incoming);
		if (stopped) return stopped;
		if (asks(incoming.content, 'fail')) return { state: 'error', error: 'internal_error' };
		const turn = this.begin(session, incoming, emit);
		if (!session.flight && asks(incoming.content, 'merge')) this.startOtherTurn(session);
		if (session.flight) return this.merge(session, session.flight, turn);
		const interim = asks(incoming.content, 'interim');
		if (!interim && !asks(incoming.content, 'slow')) {
			return this.finish(session, turn, incoming.content, emit).outcome;
		}
		if (interim) addMessage(this.world, session, 'ai', INTERIM_TEXT, this.emitter(session));
		const flight: Flight = { turnId: turn.turnId, contents: [incoming.content], merged: [] };
		session.flight = flight;
		await delay(SLOW_MS);
		session.flight = null;
		const { outcome, replyId } = this.finish(session, turn, flight.contents.join(' / '), emit);
		for (const payload of turnResults(this.world.dialect, flight, replyId)) {
			emit('turn_result', payload);
		}
		return outcome;
	}

	/** An asynchronous message. The same key and content returns the first response again. */
	sendLater(
		session: Session,
		incoming: Incoming,
		deliveryUrl: string | null,
	): AcceptedMessage | { stopped: JsonObject } {
		const stopped = gate(this.world, session, incoming);
		if (stopped) {
			const known = session.remembered.get(incoming.idempotencyKey ?? '');
			if (stopped.state !== 'accepted' || !known) return { stopped };
			return { turnId: known.turnId, messageId: known.messageId, replay: true };
		}
		const turn = this.begin(session, incoming, this.emitter(session));
		const url = deliveryUrl ?? session.deliveryUrl;
		this.later(async () => await this.finishLater(session, turn, url));
		return { turnId: turn.turnId, messageId: turn.messageId, replay: false };
	}

	reset(): void {
		for (const timer of this.timers) clearTimeout(timer);
		this.timers.clear();
		this.deliveries.length = 0;
		this.counter = 0;
	}

	private begin(session: Session, incoming: Incoming, emit: Emit): Turn {
		const { dialect } = this.world;
		wake(session, dialect.chat.reactivatedReason, emit);
		const turnId = dialect.chat.turnId(this.nextNumber());
		const own = addMessage(this.world, session, 'user', incoming.content, emit);
		const messageId = dialect.chat.echoesMessageId ? (incoming.messageId ?? own) : own;
		const turn = { turnId, messageId, incoming };
		if (incoming.interaction) this.answered(session, incoming.interaction.id);
		this.remember(session, turn, { turn_id: turnId, message_id: messageId });
		return turn;
	}

	private answered(session: Session, interactionId: string): void {
		const shown = session.interactions.get(interactionId);
		if (shown) shown.answered = true;
	}

	private remember(
		session: Session,
		{ incoming, turnId, messageId }: Turn,
		outcome: JsonObject,
	): void {
		if (incoming.idempotencyKey === null) return;
		session.remembered.set(incoming.idempotencyKey, {
			rail: incoming.rail,
			fingerprint: fingerprintOf(incoming),
			outcome,
			turnId,
			messageId,
		});
	}

	private finish(session: Session, turn: Turn, content: string, emit: Emit) {
		const reply = respond(this.world, session, content, emit);
		const outcome: JsonObject = {
			state: 'default',
			reply: reply.text,
			mode: session.mode,
			help_requested: reply.helpRequested,
			turn_id: turn.turnId,
			...this.messageIdFor(turn),
		};
		this.remember(session, turn, outcome);
		return { outcome, replyId: reply.messageId };
	}

	/** Over the socket, only a client-chosen message ID is returned. */
	private messageIdFor({ incoming, messageId }: Turn): JsonObject {
		return incoming.rail === 'socket' && incoming.messageId === null
			? {}
			: { message_id: messageId };
	}

	private merge(session: Session, flight: Flight, turn: Turn): JsonObject {
		flight.merged.push({ turnId: turn.turnId, messageId: turn.messageId });
		flight.contents.push(turn.incoming.content);
		const outcome: JsonObject = {
			state: 'merged',
			merged_into: flight.turnId,
			...(this.world.dialect.chat.mergedNamesOwnTurn ? { turn_id: turn.turnId } : {}),
			...this.messageIdFor(turn),
		};
		this.remember(session, turn, outcome);
		return outcome;
	}

	/** A turn of another client, into which a message can be merged. */
	private startOtherTurn(session: Session): void {
		const flight: Flight = {
			turnId: this.world.dialect.chat.turnId(this.nextNumber()),
			contents: [],
			merged: [],
		};
		session.flight = flight;
		this.later(async () => {
			session.flight = null;
			await this.tellReply(session, flight.contents.join(' / '), (replyId) =>
				turnResults(this.world.dialect, flight, replyId),
			);
		});
	}

	private async finishLater(session: Session, turn: Turn, url: string | null): Promise<void> {
		const { turnId, messageId, incoming } = turn;
		const failed = asks(incoming.content, 'fail');
		const resultOf = (replyId: string | number | null): JsonObject => ({
			turn_id: turnId,
			message_id: namedMessage(this.world.dialect, messageId, replyId),
			state: failed ? 'error' : 'default',
			merged_into: null,
			error: failed ? 'internal_error' : null,
		});
		const reply = failed
			? null
			: await this.tellReply(session, incoming.content, (replyId) => [resultOf(replyId)]);
		if (failed) this.world.hub.emit(session, 'turn_result', resultOf(null));
		if (url === null) return;
		const body = this.world.dialect.chat.deliveryBody({
			sessionId: session.sessionId,
			turnId,
			messageId,
			reply,
			state: failed ? 'error' : 'default',
		});
		await deliver(url, body, this.world.dialect, this.deliveries);
	}

	/** The reply outside an ack: its text and the turn results, in the dialect's order. */
	private async tellReply(
		session: Session,
		content: string,
		resultsOf: (replyId: string | number | null) => JsonObject[],
	): Promise<string | null> {
		const order = this.world.dialect.socket.replyText;
		const emit = this.emitter(session);
		const held: JsonObject[] = [];
		const reply = respond(this.world, session, content, (type, payload) => {
			if (type === 'message_received') held.push(payload);
			else emit(type, payload);
		});
		if (order === 'before') for (const payload of held) emit('message_received', payload);
		for (const payload of resultsOf(reply.messageId)) emit('turn_result', payload);
		if (order === 'after') {
			await delay(10);
			for (const payload of held) emit('message_received', payload);
		}
		return reply.text;
	}

	private later(run: () => Promise<void>): void {
		const timer = setTimeout(() => {
			this.timers.delete(timer);
			void run();
		}, this.world.settings.asyncReplyMs ?? 50);
		this.timers.add(timer);
	}
}
