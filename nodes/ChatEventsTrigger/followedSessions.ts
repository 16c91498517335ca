import type { EndingKind } from '../shared/chat/reconnectPolicy';
import type { ChatEnded } from '../shared/chat/endings';
import type { Readiness } from '../shared/chat/exchange';
import { type Backoff, backoffMs, deferred, pause } from '../shared/clock';
import { clock } from '../shared/n8n/connect';

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

export type Standing = { sessionId: string; ended: ChatEnded | null; connected: boolean };

/** The sessions that the trigger follows. */
export class FollowedSessions {
	private readonly sessions = new Map<string, FollowedSession>();

	constructor(private readonly parts: FollowingParts) {}

	get size(): number {
		return this.sessions.size;
	}

	/** Connects to the session at once, unless it is connected already. */
	follow(sessionId: string): FollowedSession {
		const present = this.sessions.get(sessionId);
		present?.wake();
		if (present !== undefined) return present;
		const { open, onLost } = this.parts;
		const session = new FollowedSession(
			(onEnded) => open(sessionId, onEnded),
			(ending) => {
				if (isFinal(ending)) this.sessions.delete(sessionId);
				onLost(sessionId, ending);
			},
		);
		this.sessions.set(sessionId, session);
		return session;
	}

	async leave(sessionId: string): Promise<void> {
		const session = this.sessions.get(sessionId);
		this.sessions.delete(sessionId);
		await session?.leave();
	}

	/** Follows these sessions and says after a while at most how each of them stands. */
	async followAll(sessionIds: string[], ms: number): Promise<Standing[]> {
		const followed = sessionIds.map((sessionId) => ({
			sessionId,
			session: this.follow(sessionId),
		}));
		const late = new AbortController();
		const tooLate = deferred<null>();
		void pause(clock, ms, late.signal).then(() => tooLate.resolve(null));
		const standings = followed.map(async ({ sessionId, session }): Promise<Standing> => {
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
}

/** Endings that following the session again would only repeat. */
const FINAL: ReadonlySet<EndingKind> = new Set([
	'session_closed',
	'mint_refused',
	'bad_address',
	'defect',
]);

/**
 * A session that was given up (the service away, another client holding it) is followed again, so that it heals by
 * itself, but less and less often, so that an outage is not answered with a storm of requests.
 */
const RESTART_BACKOFF: Backoff = { firstMs: 60_000, longestMs: 900_000 };

/** Far longer than the attempts before giving up take: the loss of what was held for so long is news. */
const HELD_LONG_AFTER_MS = 3_600_000;

/** The service accepts no API token, of no session: that may pass, and must not cost every session. */
const UNAUTHORIZED = 401;

export function isFinal({ kind, status }: ChatEnded): boolean {
	return FINAL.has(kind) && status !== UNAUTHORIZED;
}

/** One session until it is left: connected, or resting before it is tried again. */
class FollowedSession {
	private readonly left = new AbortController();

	private connection: Followable;

	private heldSince: number | null = null;

	/** In a row. */
	private giveUps = 0;

	private rest: AbortController | null = null;

	constructor(
		private readonly open: (onEnded: OnEnded) => Followable,
		private readonly onLost: (ending: ChatEnded) => void,
	) {
		this.connection = this.connect();
	}

	async ready(): Promise<Readiness> {
		return await this.connection.ready();
	}

	/** Tries it again at once if it rests. */
	wake(): void {
		if (this.rest === null) return;
		this.rest.abort();
		this.rest = null;
		this.connection = this.connect();
	}

	async leave(): Promise<void> {
		this.left.abort();
		await this.connection.close();
	}

	private connect(): Followable {
		const connection = this.open((ending) => void this.giveUp(ending));
		this.heldSince = null;
		void connection.ready().then(({ kind }) => {
			if (kind === 'open') this.heldSince = clock.now();
		});
		return connection;
	}

	private async giveUp(ending: ChatEnded): Promise<void> {
		const heldFor = this.heldSince === null ? 0 : clock.now() - this.heldSince;
		if (heldFor >= HELD_LONG_AFTER_MS) this.giveUps = 0;
		this.giveUps += 1;
		if (this.giveUps === 1 || isFinal(ending)) this.onLost(ending);
		if (isFinal(ending)) return;
		const rest = new AbortController();
		this.rest = rest;
		const either = AbortSignal.any([rest.signal, this.left.signal]);
		if (await pause(clock, backoffMs(RESTART_BACKOFF, this.giveUps), either)) this.wake();
	}
}
