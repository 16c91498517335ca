import fc from 'fast-check';
import { type JsonObject, parseJson, isJsonObject } from '../../../../nodes/shared/json';
import { parseFrame } from '../../../../nodes/shared/chat/frames';
import type { MintResult } from '../../../../nodes/shared/chat/token';
import { ackFrame, eventFrame, type FakeClock, FakeSocket, freshToken } from './fakes';

/** The fate of one attempt to send a message. `lost` and `silent` attempts are accepted, `dropped` ones aren't. */
const fate = fc.constantFrom(
	'normal',
	'normal',
	'normal',
	'lost',
	'silent',
	'dropped',
	'busy',
	'invalid',
	'error',
);
export type Fate = typeof fate extends fc.Arbitrary<infer T> ? T : never;

/** One message. Several have the same text, because people say "yes" more than once. */
const step = fc.record({
	text: fc.constantFrom('yes', 'no'),
	/** Two steps with the same key are the same message. */
	key: fc.constantFrom(null, null, 'own', 'k'),
	/** A client-chosen `message_id`. The service may use the same ID. */
	messageId: fc.constantFrom('', '', 'm', '2', '5'),
	/** For consecutive attempts. Later attempts are normal. */
	fates: fc.array(fate, { maxLength: 3 }),
	/** Seconds until the agent replies. */
	turnSeconds: fc.constantFrom(0, 1, 8, 40, 150),
	/** Seconds after the previous message. */
	pauseSeconds: fc.constantFrom(0, 0, 3, 100),
	/** Seconds after which the execution is stopped. */
	stopAfter: fc.constantFrom(null, null, null, null, 0, 1, 5),
	/** Whether the agent sends another message before the reply. */
	isInterim: fc.boolean(),
});
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** What the document doesn't define, or leaves to chance, in one session. */
export const session = fc.record({
	/** Which acks echo the client's `message_id`. `own`: acks of known turns have the service's ID instead. */
	echo: fc.constantFrom('always', 'always', 'inline', 'own', 'never'),
	/** Seconds from the opening of the next socket until lost acks arrive. Null: never. */
	lateAcks: fc.constantFrom(null, 0, 2, 9, 30),
	/** Which message a result names: the customer's, by the service's or the client's ID, or the agent's. */
	resultNames: fc.constantFrom('customer', 'client', 'agent'),
	hasNumbers: fc.boolean(),
	isRepeating: fc.boolean(),
	replays: fc.boolean(),
	endsWithToken: fc.boolean(),
	repliesInReplay: fc.boolean(),
	/** When the socket ends, in seconds, and with which code. */
	ends: fc.array(
		fc.tuple(fc.integer({ min: 1, max: 600 }), fc.constantFrom(1006, 1011, 1000, 4401)),
		{
			maxLength: 3,
		},
	),
	/** What happens to the older of two sockets of the same client. `rejected`: the newer one is closed instead. */
	second: fc.constantFrom('both', 'replaced', 'rejected'),
	/** Seconds until each socket opens, in turn. Null: it ends instead. */
	openings: fc.array(fc.constantFrom(0.05, 0.05, 3, 14, 20, null), { maxLength: 6 }),
	/** When token requests begin to fail, and for how long, in seconds. */
	mintFails: fc.tuple(fc.integer({ min: 2, max: 400 }), fc.integer({ min: 0, max: 200 })),
	/** Turns of other clients: when they begin, and how long they take, in seconds. */
	others: fc.array(fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 60 })), {
		maxLength: 4,
	}),
	steps: fc.array(step, { minLength: 2, maxLength: 5 }),
});
export type Session = typeof session extends fc.Arbitrary<infer T> ? T : never;

/** One message as the service sees it. */
export class Sent {
	/** Attempts that weren't rejected. */
	attempts = 0;
	/** Turns that contain the message. */
	readonly turns: Turn[] = [];

	constructor(
		readonly step: Step,
		readonly text: string,
	) {}

	nextFate(): Fate {
		return this.step.fates[this.received++] ?? 'normal';
	}

	private received = 0;
}

interface Turn extends Named {
	reply: string;
	hasEnded: boolean;
	merged: Named[];
}

/** A turn and the IDs of its customer message. */
interface Named {
	id: string;
	messageId: string | number;
	clientId: string | null;
}

type Ack = { payload: JsonObject; id: string | null };

const SECOND = 1_000;

/** A service that does anything the document allows. */
export class RandomService {
	/** Finds the message by the text of a frame or request. */
	sentWith: (text: unknown) => Sent = () => {
		throw new Error('an unknown message');
	};

	private readonly sockets: FakeSocket[] = [];
	private readonly turnsByKey = new Map<string, { turn: Turn; text: string }>();
	private readonly events: string[] = [];
	private lost: Ack[] = [];
	private flight: Turn | null = null;
	private count = 0;

	constructor(
		private readonly plan: Session,
		private readonly clock: FakeClock,
	) {
		const [from, seconds] = plan.mintFails;
		this.mintFails = { from: clock.elapsed() + from * SECOND, ms: seconds * SECOND };
		for (const [at, code] of plan.ends) {
			this.later(at, () => this.open.forEach((socket) => socket.ends(code)));
		}
		for (const [at, seconds] of plan.others) this.later(at, () => this.otherTurn(seconds));
	}

	private readonly mintFails: { from: number; ms: number };

	get mint(): () => Promise<MintResult> {
		return async () => {
			const since = this.clock.elapsed() - this.mintFails.from;
			if (since >= 0 && since < this.mintFails.ms) return { kind: 'unreachable', error: null };
			return await freshToken(1, this.clock);
		};
	}

	readonly openSocket = (url: string): FakeSocket => {
		const socket = new FakeSocket(url);
		socket.onSend = (text) => this.receive(socket, text);
		const seconds = this.plan.openings[this.requested++];
		this.later(seconds ?? 0.05, () => {
			if (socket.readyState !== 0) return;
			if (seconds === null) socket.ends(1006);
			else this.opened(socket);
		});
		return socket;
	};

	private requested = 0;

	/** The events that an open socket got. */
	private readonly delivered = new Set<string>();

	get eventIds(): string[] {
		return [...this.delivered].map((event) => {
			const received = parseFrame(event);
			return received.kind === 'event' ? String(received.event.eventId) : '';
		});
	}

	private get open(): FakeSocket[] {
		return this.sockets.filter(({ readyState }) => readyState === 1);
	}

	private later(seconds: number, run: () => void): void {
		void this.clock.sleep(seconds * SECOND).then(run);
	}

	private opened(socket: FakeSocket): void {
		const [older] = this.open;
		if (older !== undefined && this.plan.second === 'rejected') {
			socket.opens();
			this.later(0.05, () => socket.ends(1008));
			return;
		}
		if (this.plan.second === 'replaced') older?.ends(4001);
		this.sockets.push(socket);
		socket.opens();
		if (this.plan.replays) for (const event of this.events.slice(-8)) this.pass(event, socket);
		if (this.plan.endsWithToken) {
			this.later(300, () => {
				if (socket.readyState === 1) socket.ends(4401);
			});
		}
		if (this.plan.lateAcks === null) return;
		this.later(this.plan.lateAcks, () => {
			if (socket.readyState !== 1) return;
			const { lost } = this;
			this.lost = [];
			for (const ack of lost) this.ack(socket, ack);
		});
	}

	private receive(socket: FakeSocket, text: string): void {
		const frame = parseJson(text);
		if (!isJsonObject(frame)) throw new Error('not a frame');
		const current = this.sentWith(frame.content);
		const { message_id: id, idempotency_key: key } = frame;
		const clientId = typeof id === 'string' ? id : null;
		const given = current.nextFate();
		const acknowledge = (payload: JsonObject, seconds = 0) => {
			const ack = { payload, id: clientId };
			this.later(seconds, () => this.ack(socket, ack));
		};
		if (given === 'dropped') {
			this.later(0.1, () => socket.ends(1006));
			return;
		}
		if (given === 'busy') {
			acknowledge({ state: 'busy', error: 'server_busy' });
			return;
		}
		if (given === 'invalid') {
			acknowledge({ state: 'invalid', error: 'agent_inactive' });
			return;
		}
		const name = typeof key === 'string' ? key : null;
		const { text: content } = current;
		const known = this.knownTurn(name, content);
		if (known === 'conflict') {
			acknowledge({ state: 'invalid', error: 'idempotency_key_reused' });
			return;
		}
		current.attempts += 1;
		if (given === 'lost') this.later(0.1, () => socket.ends(1006));
		if (known !== null) {
			current.turns.push(known);
			const reply = known.hasEnded && this.plan.repliesInReplay ? known.reply : null;
			acknowledge({ state: 'accepted', turn_id: known.id, reply, ...this.ownId(known) });
			return;
		}
		const { flight } = this;
		if (flight !== null) {
			const messageId = this.say('user', current.text);
			const merged = { id: this.nextId('turn'), messageId, clientId };
			flight.merged.push(merged);
			current.turns.push(flight);
			this.note(name, { turn: flight, text: content });
			if (given === 'silent') return;
			acknowledge({
				state: 'merged',
				turn_id: merged.id,
				merged_into: flight.id,
				...this.ownId(merged),
			});
			return;
		}
		const turn = this.begin(current, clientId);
		this.note(name, { turn, text: content });
		if (given === 'silent') return;
		const state = given === 'error' ? 'error' : 'default';
		const payload: JsonObject = { state, turn_id: turn.id, reply: turn.reply, ...this.ownId(turn) };
		acknowledge(payload, current.step.turnSeconds);
	}

	private knownTurn(key: string | null, text: string): Turn | 'conflict' | null {
		const known = this.turnsByKey.get(key ?? '');
		if (known === undefined) return null;
		return known.text === text ? known.turn : 'conflict';
	}

	private note(key: string | null, first: { turn: Turn; text: string }): void {
		if (key !== null) this.turnsByKey.set(key, first);
	}

	/** The service's own `message_id`, a counter. */
	private ownId({ messageId }: { messageId: string | number }): JsonObject {
		return this.plan.echo === 'own' ? { message_id: messageId } : {};
	}

	private ack(socket: FakeSocket, ack: Ack): void {
		if (socket.readyState !== 1) {
			this.lost.push(ack);
			return;
		}
		const { echo } = this.plan;
		const isEchoed = echo === 'always' || (echo === 'inline' && ack.payload.state === 'default');
		socket.receives(
			ackFrame({
				...ack.payload,
				...(isEchoed && ack.id !== null && { message_id: ack.id }),
			}),
		);
	}

	/** Starts a turn, whose end is reported in an ack. */
	private begin(sent: Sent, clientId: string | null): Turn {
		const { isInterim, turnSeconds } = sent.step;
		const turn = this.newTurn(this.say('user', sent.text), clientId);
		sent.turns.push(turn);
		if (isInterim) this.say('ai', 'One moment, please');
		this.flight ??= turn;
		this.later(turnSeconds, () => this.finish(turn, 'inline'));
		return turn;
	}

	private otherTurn(seconds: number): void {
		const turn = this.newTurn(this.say('user', 'yes'), String(seconds));
		this.flight ??= turn;
		this.later(seconds, () => this.finish(turn, 'result'));
	}

	private newTurn(messageId: string | number, clientId: string | null): Turn {
		const id = this.nextId('turn');
		return { id, reply: `reply of ${id}`, hasEnded: false, messageId, clientId, merged: [] };
	}

	private finish(turn: Turn, end: 'inline' | 'result'): void {
		turn.hasEnded = true;
		if (this.flight === turn) this.flight = null;
		const replyId = this.say('ai', turn.reply);
		const { resultNames } = this.plan;
		const named = ({ messageId, clientId }: Named) => {
			if (resultNames === 'agent') return replyId;
			return resultNames === 'client' ? (clientId ?? messageId) : messageId;
		};
		for (const merged of turn.merged) {
			const result = { turn_id: merged.id, merged_into: turn.id, state: 'merged', error: null };
			this.emit('turn_result', { ...result, message_id: named(merged) });
		}
		if (end === 'inline' && turn.merged.length === 0) return;
		const result = { turn_id: turn.id, merged_into: null, state: 'default', error: null };
		this.emit('turn_result', { ...result, message_id: named(turn) });
	}

	private say(role: 'user' | 'ai', content: string): string | number {
		this.count += 1;
		const id = this.plan.hasNumbers ? this.count : `m-${this.count}`;
		this.emit('message_received', { id, type: 'message', role, content, created_at: '' });
		return id;
	}

	private emit(type: string, payload: JsonObject): void {
		this.count += 1;
		const event = eventFrame(type, `e-${this.count}`, payload);
		this.events.push(event);
		for (const socket of this.open) {
			this.pass(event, socket);
			if (this.plan.isRepeating) this.pass(event, socket);
		}
	}

	private pass(event: string, socket: FakeSocket): void {
		this.delivered.add(event);
		socket.receives(event);
	}

	private nextId(prefix: string): string {
		this.count += 1;
		return `${prefix}-${this.count}`;
	}
}
