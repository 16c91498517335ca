import { clock } from '../shared/n8n/connect';
import type { ChatEnded } from '../shared/chat/endings';
import { deferred, pause } from '../shared/clock';
import type { ChatEvent } from '../shared/chat/types';
import { FollowedSession, isLasting, type Callbacks, type Followable } from './followedSession';

export type FollowerParts = {
	open: (sessionId: string, callbacks: Callbacks) => Followable;
	onEvent: (sessionId: string, event: ChatEvent) => void;
	onTooLarge: (sessionId: string, chars: number) => void;
	/** Told once until the session has been held for long again. A lasting ending: it is followed no longer. */
	onLost: (sessionId: string, ending: ChatEnded) => void;
};

export type Standing = { sessionId: string; ended: ChatEnded | null; connected: boolean };

/** The sessions that the trigger follows. */
export class FollowedSessions {
	private readonly sessions = new Map<string, FollowedSession>();

	constructor(private readonly parts: FollowerParts) {}

	get size(): number {
		return this.sessions.size;
	}

	/** Connects to the session at once, unless it is connected already. */
	follow(sessionId: string): FollowedSession {
		const present = this.sessions.get(sessionId);
		present?.wake();
		if (present !== undefined) return present;
		const session = new FollowedSession({
			open: (callbacks) => this.parts.open(sessionId, callbacks),
			onEvent: (event) => this.parts.onEvent(sessionId, event),
			onTooLarge: (chars) => this.parts.onTooLarge(sessionId, chars),
			onLost: (ending) => {
				if (isLasting(ending)) this.sessions.delete(sessionId);
				this.parts.onLost(sessionId, ending);
			},
		});
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
