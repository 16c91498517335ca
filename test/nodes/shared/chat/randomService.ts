import fc from 'fast-check';
import { type JsonObject, parseJson, isJsonObject } from '../../../../nodes/shared/json';
import { idText } from '../../../../nodes/shared/chat/frames';
import type { WsToken } from '../../../../nodes/shared/chat/token';
import { ackFrame, eventFrame, type FakeClock, FakeSocket, freshToken } from './fakes';

/** The fate of one attempt to send a message. `lost` and `silent` attempts are accepted, `dropped` ones aren't. */
const fate = fc.constantFrom(
	...(['normal', 'normal', 'normal', 'lost', 'silent', 'dropped'] as const),
	...(['busy', 'invalid', 'error'] as const),
);

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
});
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const seconds = (max: number) => fc.integer({ min: 0, max });

/** What the document doesn't define, or leaves to chance, in one session. */
export const session = fc.record({
	/** Which acks echo the client's `message_id`. `own`: acks of known turns have the service's ID instead. */
	echo: fc.constantFrom('always', 'always', 'inline', 'own', 'never'),
	/** Seconds from the opening of the next socket until lost acks arrive. Null: never. */
	lateAcks: fc.constantFrom(null, 0, 2, 9, 30),
	/** Whether each event arrives twice. */
	isRepeating: fc.boolean(),
	replays: fc.boolean(),
	endsWithToken: fc.boolean(),
	repliesInReplay: fc.boolean(),
	/** When the socket ends, in seconds, and with which code. */
	ends: fc.array(fc.tuple(seconds(600), fc.constantFrom(1006, 1011, 1000, 4401)), { maxLength: 3 }),
	/** What happens to the older of two sockets of the same client. `rejected`: the newer one is closed instead. */
	second: fc.constantFrom('both', 'replaced', 'rejected'),
	/** Seconds until each socket opens, in turn. Null: it ends instead. */
	openings: fc.array(fc.constantFrom(0.05, 0.05, 3, 14, 20, null), { maxLength: 6 }),
	/** When token requests begin to fail, and for how long, in seconds. */
	mintFails: fc.tuple(fc.integer({ min: 2, max: 400 }), seconds(200)),
	/** Turns of other clients: when they begin, and how long they take, in seconds. */
	others: fc.array(fc.tuple(seconds(400), seconds(60)), { maxLength: 4 }),
	steps: fc.array(step, { minLength: 2, maxLength: 5 }),
});
export type Session = typeof session extends fc.Arbitrary<infer T> ? T : never;

/** One message as the service sees it. */
export class Sent {
	/** Attempts that weren't rejected. */
	attempts = 0;
	/** Turns that contain the message. */
	readonly turns: Turn[] = [];
	private received = 0;

	constructor(
		readonly step: Step,
		readonly text: string,
	) {}

	nextFate() {
		return this.step.fates[this.received++] ?? 'normal';
	}
}

type Turn = { id: string; reply: string; hasEnded: boolean };
/** `messageId`: the service's own ID of the message, a counter. */
type Accepted = { turn: Turn; text: string; messageId: number };
type Ack = { payload: JsonObject; id: string | null };

const SECOND = 1_000;

/** A service that does anything the document allows. */
export class RandomService {
	/** Finds the message by the text of a frame. */
	sentWith: (text: unknown) => Sent = () => {
		throw new Error('an unknown message');
	};

	private readonly sockets: FakeSocket[] = [];
	private requestedSockets = 0;
	private readonly acceptedByKey = new Map<string, Accepted>();
	private readonly events: string[] = [];
	private lost: Ack[] = [];
	private flight: Turn | null = null;
	private count = 0;
	private readonly begunAt: number;

	/** The events that an open socket got. */
	readonly delivered = new Set<string>();

	constructor(
		private readonly plan: Session,
		private readonly clock: FakeClock,
	) {
		this.begunAt = clock.elapsed();
		for (const [at, code] of plan.ends) {
			this.later(at, () => this.open.forEach((socket) => socket.ends(code)));
		}
		for (const [at, duration] of plan.others) this.later(at, () => this.begin(duration));
	}

	readonly mint = async (): Promise<WsToken> => {
		const [from, duration] = this.plan.mintFails;
		const since = (this.clock.elapsed() - this.begunAt) / SECOND - from;
		if (since >= 0 && since < duration) throw new Error('unreachable');
		return await freshToken(1, this.clock);
	};

	readonly openSocket = (url: string): FakeSocket => {
		const socket = new FakeSocket(url);
		socket.onSend = (text) => this.receive(socket, text);
		const delay = this.plan.openings[this.requestedSockets++];
		this.later(delay ?? 0.05, () => {
			if (socket.readyState !== 0) return;
			if (delay === null) socket.ends(1006);
			else this.opened(socket);
		});
		return socket;
	};

	private get open(): FakeSocket[] {
		return this.sockets.filter(({ readyState }) => readyState === 1);
	}

	private later(delay: number, run: () => void): void {
		void this.clock.sleep(delay * SECOND).then(run);
	}

	private opened(socket: FakeSocket): void {
		const { second, replays, endsWithToken, lateAcks } = this.plan;
		const [older] = this.open;
		socket.opens();
		if (older !== undefined && second === 'rejected') {
			this.later(0.05, () => socket.ends(1008));
			return;
		}
		if (second === 'replaced') older?.ends(4001);
		this.sockets.push(socket);
		if (replays) for (const id of this.events.slice(-8)) this.pass(id, socket);
		if (endsWithToken) {
			this.later(300, () => {
				if (socket.readyState === 1) socket.ends(4401);
			});
		}
		if (lateAcks === null) return;
		this.later(lateAcks, () => {
			if (socket.readyState === 1) for (const ack of this.lost.splice(0)) this.ack(socket, ack);
		});
	}

	private receive(socket: FakeSocket, text: string): void {
		const frame = parseJson(text);
		if (!isJsonObject(frame)) throw new Error('not a frame');
		const { content, message_id: id } = frame;
		const key = idText(frame.idempotency_key);
		const sent = this.sentWith(content);
		const given = sent.nextFate();
		const acknowledge = (payload: JsonObject, delay = 0) => {
			this.later(delay, () => this.ack(socket, { payload, id: idText(id) }));
		};
		const earlier = this.acceptedByKey.get(key ?? '');
		if (given === 'dropped') {
			this.later(0.1, () => socket.ends(1006));
		} else if (given === 'busy') {
			acknowledge({ state: 'busy', error: 'server_busy' });
		} else if (given === 'invalid') {
			acknowledge({ state: 'invalid', error: 'agent_inactive' });
		} else if (earlier !== undefined && earlier.text !== sent.text) {
			acknowledge({ state: 'invalid', error: 'idempotency_key_reused' });
		} else {
			const { flight, plan } = this;
			const { turnSeconds } = sent.step;
			const turn = earlier?.turn ?? flight ?? this.begin(turnSeconds);
			const accepted = earlier ?? { turn, text: sent.text, messageId: ++this.count };
			if (key !== null) this.acceptedByKey.set(key, accepted);
			sent.attempts += 1;
			sent.turns.push(turn);
			if (given === 'lost') this.later(0.1, () => socket.ends(1006));
			const { messageId: ownId } = accepted;
			const ack = { turn_id: turn.id, ...(plan.echo === 'own' && { message_id: ownId }) };
			if (earlier !== undefined) {
				const reply = turn.hasEnded && plan.repliesInReplay ? turn.reply : null;
				acknowledge({ ...ack, state: 'accepted', reply });
			} else if (given !== 'silent' && flight !== null) {
				acknowledge({ ...ack, state: 'merged', merged_into: turn.id });
			} else if (given !== 'silent') {
				const state = given === 'error' ? 'error' : 'default';
				acknowledge({ ...ack, state, reply: turn.reply }, turnSeconds);
			}
		}
	}

	private ack(socket: FakeSocket, { payload, id }: Ack): void {
		if (socket.readyState !== 1) {
			this.lost.push({ payload, id });
			return;
		}
		const { echo } = this.plan;
		const isEchoed = echo === 'always' || (echo === 'inline' && payload.state === 'default');
		socket.receives(ackFrame({ ...payload, ...(isEchoed && id !== null && { message_id: id }) }));
	}

	private begin(duration: number): Turn {
		const id = `turn-${++this.count}`;
		const turn: Turn = { id, reply: `reply of ${id}`, hasEnded: false };
		this.flight ??= turn;
		this.emit();
		this.later(duration, () => {
			turn.hasEnded = true;
			if (this.flight === turn) this.flight = null;
			this.emit();
		});
		return turn;
	}

	private emit(): void {
		const id = `e-${++this.count}`;
		this.events.push(id);
		for (const socket of this.open) {
			this.pass(id, socket);
			if (this.plan.isRepeating) this.pass(id, socket);
		}
	}

	private pass(id: string, socket: FakeSocket): void {
		this.delivered.add(id);
		socket.receives(eventFrame('turn_result', id));
	}
}
