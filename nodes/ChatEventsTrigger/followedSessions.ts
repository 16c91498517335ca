import type { EndingKind } from '../shared/chat/reconnectPolicy';
import type { ChatEnded } from '../shared/chat/endings';
import type { Readiness } from '../shared/chat/ackWaiter';
import {
	type Backoff,
	backoffMs,
	deferred,
	type Deferred,
	pause,
	settledOrTimeout,
} from '../shared/clock';
import { clock } from '../shared/n8n/http/accountClient';

/** What following needs of a connection. */
type Followable = {
	/** Resolves when the session's connection is held, or will never be. */
	ready: () => Promise<Readiness>;
	close: () => Promise<void> | void;
};

/** Called at most once: there is no connection to be had. */
type OnEnded = (ending: ChatEnded) => void;

export type FollowingParts = {
	open: (sessionId: string, onEnded: OnEnded) => Followable;
	/** Told once until the session has been held for long again. A final ending: it is followed no longer. */
	onLost: (sessionId: string, ending: ChatEnded) => void;
};

export type FollowStatus = { sessionId: string; ended: ChatEnded | null; connected: boolean };

/** A token is asked for and a socket opened for each, so only this many connect at the same time, … */
const MAX_CONNECTING = 20;

/** … where one that takes long makes room for the next after this time. */
const NEXT_AFTER_MS = 5_000;

/** The sessions that the trigger follows. */
export class FollowedSessions {
	private readonly sessions = new Map<string, FollowedSession>();

	private connecting = 0;

	/** Sessions that connect when there is room, oldest first. */
	private readonly waiting = new Set<FollowedSession>();

	constructor(private readonly parts: FollowingParts) {}

	get size(): number {
		return this.sessions.size;
	}

	/** Connects to the session as soon as there is room, unless it is connected already. */
	follow(sessionId: string): FollowedSession {
		const present = this.sessions.get(sessionId);
		present?.wake();
		if (present !== undefined) return present;
		const { open, onLost } = this.parts;
		const session = new FollowedSession({
			open: (onEnded) => open(sessionId, onEnded),
			onDue: () => this.connectInTurn(session),
			onLost: (ending) => {
				if (isFinal(ending)) this.sessions.delete(sessionId);
				onLost(sessionId, ending);
			},
		});
		this.sessions.set(sessionId, session);
		session.begin();
		return session;
	}

	/** Resolves when the session is connected, or will never be; `undefined` if it isn't followed. */
	readinessOf(sessionId: string): Promise<Readiness> | undefined {
		return this.sessions.get(sessionId)?.ready();
	}

	async leave(sessionId: string): Promise<void> {
		const session = this.sessions.get(sessionId);
		if (session === undefined) return;
		this.sessions.delete(sessionId);
		this.waiting.delete(session);
		await session.leave();
	}

	/** Follows these sessions and says after a while at most how each of them stands. */
	async followAll(sessionIds: string[], ms: number): Promise<FollowStatus[]> {
		const followed = sessionIds.map((sessionId) => ({
			sessionId,
			session: this.follow(sessionId),
		}));
		const late = new AbortController();
		const tooLate = deferred<null>();
		void pause(clock, ms, late.signal).then(() => tooLate.resolve(null));
		const standings = followed.map(async ({ sessionId, session }): Promise<FollowStatus> => {
			const readiness = await Promise.race([session.ready(), tooLate.promise]);
			return {
				sessionId,
				connected: readiness?.kind === 'open',
				ended: readiness?.kind === 'ended' ? readiness.ending : null,
			};
		});
		const result = await Promise.all(standings);
		late.abort();
		return result;
	}

	async closeAll(): Promise<void> {
		await Promise.all([...this.sessions.keys()].map(async (id) => await this.leave(id)));
	}

	private connectInTurn(session: FollowedSession): void {
		if (this.connecting >= MAX_CONNECTING) {
			this.waiting.add(session);
			return;
		}
		this.connecting++;
		void settledOrTimeout(clock, NEXT_AFTER_MS, session.connect()).then(() => {
			this.connecting--;
			const [next] = this.waiting;
			if (next === undefined) return;
			this.waiting.delete(next);
			this.connectInTurn(next);
		});
	}
}

/** Endings that following the session again would only repeat. */
const FINAL: ReadonlySet<EndingKind> = new Set([
	'session_closed',
	'mint_rejected',
	'bad_address',
	'defect',
]);

/**
 * A session that was given up (the service away, another client holding it) is followed again, so that it heals by
 * itself, but less and less often, so that an outage is not answered with a storm of requests.
 */
const RESTART_BACKOFF: Backoff = { firstMs: 60_000, maxMs: 900_000 };

/** Far longer than the attempts before giving up take: the loss of what was held for so long is news. */
const HELD_LONG_AFTER_MS = 3_600_000;

/** The service accepts no API token, of no session: that may pass, and must not cost every session. */
const UNAUTHORIZED = 401;

export function isFinal({ kind, status }: ChatEnded): boolean {
	return FINAL.has(kind) && status !== UNAUTHORIZED;
}

type SessionParts = {
	open: (onEnded: OnEnded) => Followable;
	/** Called each time it is to connect; `connect` is then called when there is room. */
	onDue: () => void;
	onLost: (ending: ChatEnded) => void;
};

/** One session until it is left: waiting to connect, connected, or resting before it is tried again. */
class FollowedSession {
	private readonly left = new AbortController();

	/** Null while it waits to connect. */
	private connection: Followable | null = null;

	/** Resolves when it is its turn to connect, or it is left. */
	private turn: Deferred<void> = deferred();

	/** Shared by all who ask, however many: the connection may take long. */
	private readiness: Promise<Readiness> | null = null;

	private heldSince: number | null = null;

	/** In a row. */
	private giveUps = 0;

	private rest: AbortController | null = null;

	constructor(private readonly parts: SessionParts) {}

	begin(): void {
		this.parts.onDue();
	}

	async ready(): Promise<Readiness> {
		this.readiness ??= this.nextReadiness().finally(() => (this.readiness = null));
		return await this.readiness;
	}

	/** Tries it again at once if it rests. */
	wake(): void {
		if (this.rest === null) return;
		this.rest.abort();
		this.rest = null;
		this.connection = null;
		this.turn = deferred();
		this.parts.onDue();
	}

	/** Resolves when the connection is held, or will never be. */
	async connect(): Promise<void> {
		this.heldSince = null;
		this.connection = this.parts.open((ending) => void this.giveUp(ending));
		this.turn.resolve();
		const { kind } = await this.ready();
		if (kind === 'open') this.heldSince = clock.elapsed();
	}

	async leave(): Promise<void> {
		this.left.abort();
		this.turn.resolve();
		await this.connection?.close();
	}

	private async nextReadiness(): Promise<Readiness> {
		if (this.connection === null) await this.turn.promise;
		return (await this.connection?.ready()) ?? { kind: 'closed_by_us' };
	}

	private async giveUp(ending: ChatEnded): Promise<void> {
		const heldFor = this.heldSince === null ? 0 : clock.elapsed() - this.heldSince;
		if (heldFor >= HELD_LONG_AFTER_MS) this.giveUps = 0;
		this.giveUps += 1;
		if (this.giveUps === 1 || isFinal(ending)) this.parts.onLost(ending);
		if (isFinal(ending)) return;
		const rest = new AbortController();
		this.rest = rest;
		const either = AbortSignal.any([rest.signal, this.left.signal]);
		if (await pause(clock, backoffMs(RESTART_BACKOFF, this.giveUps), either)) this.wake();
	}
}
