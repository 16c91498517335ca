import pLimit from 'p-limit';
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

/** The part of a connection that following a session needs. */
type Followable = {
	/** Resolves when the session is connected, or never will be. */
	ready: () => Promise<Readiness>;
	close: () => Promise<void> | void;
};

/** Called at most once, if no connection is possible. */
type OnEnded = (ending: ChatEnded) => void;

export type FollowDeps = {
	open: (sessionId: string, onEnded: OnEnded) => Followable;
	/** Calls `onConnected` when another node has connected the session. @returns a function that ends the wait */
	whenConnected: (sessionId: string, onConnected: () => void) => () => void;
	/** Called for the first failure after a long connection, and for a final ending, which ends the following. */
	onLost: (sessionId: string, ending: ChatEnded) => void;
};

export type FollowStatus = { sessionId: string; ended: ChatEnded | null; connected: boolean };

/** Sessions that connect at the same time, because each one requests a token and opens a socket. */
const MAX_CONNECTING = 20;

/** A slow connection makes room for the next one after this time. */
const NEXT_AFTER_MS = 5_000;

/** The sessions that a trigger listens to. */
export class FollowedSessions {
	private readonly sessions = new Map<string, FollowedSession>();

	private readonly limit = pLimit(MAX_CONNECTING);

	constructor(private readonly parts: FollowDeps) {}

	get size(): number {
		return this.sessions.size;
	}

	/** Connects the session as soon as the limit allows it, unless it's connected already. */
	follow(sessionId: string): FollowedSession {
		const existing = this.sessions.get(sessionId);
		existing?.retryNow();
		if (existing !== undefined) return existing;
		const { open, whenConnected, onLost } = this.parts;
		const session = new FollowedSession({
			open: (onEnded) => open(sessionId, onEnded),
			whenConnected: (onConnected) => whenConnected(sessionId, onConnected),
			onDue: () => {
				void this.limit(async () => {
					const isFollowed = this.sessions.get(sessionId) === session;
					if (isFollowed) await settledOrTimeout(clock, NEXT_AFTER_MS, session.connect());
				});
			},
			onLost: (ending) => {
				if (isFinal(ending)) this.sessions.delete(sessionId);
				onLost(sessionId, ending);
			},
		});
		this.sessions.set(sessionId, session);
		session.begin();
		return session;
	}

	/** Resolves when the session is connected, or never will be. `undefined` if it isn't followed. */
	readinessOf(sessionId: string): Promise<Readiness> | undefined {
		return this.sessions.get(sessionId)?.ready();
	}

	async unfollow(sessionId: string): Promise<void> {
		const session = this.sessions.get(sessionId);
		if (session === undefined) return;
		this.sessions.delete(sessionId);
		await session.close();
	}

	/** Follows these sessions, and returns the status of each one after `ms` at the latest. */
	async followAll(sessionIds: string[], ms: number): Promise<FollowStatus[]> {
		const followed = sessionIds.map((sessionId) => ({
			sessionId,
			session: this.follow(sessionId),
		}));
		const late = new AbortController();
		const tooLate = deferred<null>();
		void pause(clock, ms, late.signal).then(() => tooLate.resolve(null));
		const statuses = followed.map(async ({ sessionId, session }): Promise<FollowStatus> => {
			const readiness = await Promise.race([session.ready(), tooLate.promise]);
			return {
				sessionId,
				connected: readiness?.kind === 'open',
				ended: readiness?.kind === 'ended' ? readiness.ending : null,
			};
		});
		const result = await Promise.all(statuses);
		late.abort();
		return result;
	}

	async closeAll(): Promise<void> {
		await Promise.all([...this.sessions.keys()].map(async (id) => await this.unfollow(id)));
	}
}

/** Endings that a retry can't change. */
const FINAL: ReadonlySet<EndingKind> = new Set([
	'session_closed',
	'mint_rejected',
	'bad_url',
	'client_bug',
]);

/**
 * The trigger retries a session whose connection gave up, for example because the service is down or the session is in use
 * by another client. Minutes, because the connection has made its own quick attempts before, and this never gives up.
 */
const SESSION_BACKOFF: Backoff = { firstMs: 60_000, maxMs: 900_000 };

/** After a connection of this length, the next failure is reported again. Much longer than the attempts before giving up. */
const STABLE_AFTER_MS = 3_600_000;

/** Not final, because an API token that is rejected for all sessions may be accepted again later. */
const UNAUTHORIZED = 401;

export function isFinal({ kind, status }: ChatEnded): boolean {
	return FINAL.has(kind) && status !== UNAUTHORIZED;
}

type SessionParts = {
	open: (onEnded: OnEnded) => Followable;
	whenConnected: (onConnected: () => void) => () => void;
	/** Called when the session should connect. `connect` is called when the limit allows it. */
	onDue: () => void;
	onLost: (ending: ChatEnded) => void;
};

/** One followed session: waiting to connect, connected, or waiting for a retry. */
class FollowedSession {
	private readonly closed = new AbortController();

	/** Null while the session waits to connect. */
	private connection: Followable | null = null;

	/** Resolves when the session starts to connect, or is closed. */
	private connectStarted: Deferred<void> = deferred();

	/** Shared by all callers, because connecting may take long. */
	private readiness: Promise<Readiness> | null = null;

	private connectedSince: number | null = null;

	private consecutiveFailures = 0;

	private retryWait: AbortController | null = null;

	constructor(private readonly parts: SessionParts) {}

	begin(): void {
		this.parts.onDue();
	}

	async ready(): Promise<Readiness> {
		this.readiness ??= this.nextReadiness().finally(() => (this.readiness = null));
		return await this.readiness;
	}

	/** Ends the wait for a retry. */
	retryNow(): void {
		if (this.retryWait === null) return;
		this.retryWait.abort();
		this.retryWait = null;
		this.connection = null;
		this.connectStarted = deferred();
		this.parts.onDue();
	}

	/** Resolves when the session is connected, or never will be. */
	async connect(): Promise<void> {
		this.connectedSince = null;
		this.connection = this.parts.open((ending) => void this.giveUp(ending));
		this.connectStarted.resolve();
		const { kind } = await this.ready();
		if (kind === 'open') this.connectedSince = clock.elapsed();
	}

	async close(): Promise<void> {
		this.closed.abort();
		this.connectStarted.resolve();
		await this.connection?.close();
	}

	private async nextReadiness(): Promise<Readiness> {
		if (this.connection === null) await this.connectStarted.promise;
		return (await this.connection?.ready()) ?? { kind: 'closed_by_us' };
	}

	private async giveUp(ending: ChatEnded): Promise<void> {
		const connectedMs = this.connectedSince === null ? 0 : clock.elapsed() - this.connectedSince;
		if (connectedMs >= STABLE_AFTER_MS) this.consecutiveFailures = 0;
		this.consecutiveFailures += 1;
		if (this.consecutiveFailures === 1 || isFinal(ending)) this.parts.onLost(ending);
		if (isFinal(ending)) return;
		const retryWait = new AbortController();
		this.retryWait = retryWait;
		const ended = AbortSignal.any([retryWait.signal, this.closed.signal]);
		const waitMs = backoffMs(SESSION_BACKOFF, this.consecutiveFailures);
		const stopWaiting = this.parts.whenConnected(() => this.retryNow());
		const isDue = await pause(clock, waitMs, ended);
		stopWaiting();
		if (isDue) this.retryNow();
	}
}
