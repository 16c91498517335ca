import type { ChatConnection } from '../shared/service/chatSocket/connection';
import type { ChatEnded } from '../shared/service/chatSocket/endings';
import { deferred, pause } from '../shared/service/chatSocket/pause';
import type { ChatEvent } from '../shared/service/chatSocket/types';
import type { Clock } from '../shared/service/core/http';

export type Callbacks = {
	onEvent: (event: ChatEvent) => void;
	onEnded: (ending: ChatEnded) => void;
};

export type FollowerParts = {
	open: (sessionId: string, callbacks: Callbacks) => ChatConnection;
	onEvent: (sessionId: string, event: ChatEvent) => void;
	/** The session's connection has ended for good; it is followed no longer. */
	onEnded: (sessionId: string, ending: ChatEnded) => void;
	clock: Clock;
};

export type Standing = { sessionId: string; ended: ChatEnded | null; connected: boolean };

/** The sessions that the trigger holds a socket to. */
export class FollowedSessions {
	private readonly sockets = new Map<string, ChatConnection>();

	constructor(private readonly parts: FollowerParts) {}

	get size(): number {
		return this.sockets.size;
	}

	/** Opens the session's socket at once, unless it is open already. */
	follow(sessionId: string): ChatConnection {
		const present = this.sockets.get(sessionId);
		if (present !== undefined) return present;
		const socket = this.parts.open(sessionId, {
			onEvent: (event) => this.parts.onEvent(sessionId, event),
			onEnded: (ending) => {
				if (this.sockets.get(sessionId) === socket) this.sockets.delete(sessionId);
				this.parts.onEnded(sessionId, ending);
			},
		});
		this.sockets.set(sessionId, socket);
		return socket;
	}

	async leave(sessionId: string): Promise<void> {
		const socket = this.sockets.get(sessionId);
		this.sockets.delete(sessionId);
		await socket?.close();
	}

	/** Follows these sessions and says after a while at most how each of them stands. */
	async followAll(sessionIds: string[], ms: number): Promise<Standing[]> {
		const sockets = sessionIds.map((sessionId) => ({ sessionId, socket: this.follow(sessionId) }));
		const late = new AbortController();
		const tooLate = deferred<null>();
		void pause(this.parts.clock, ms, late.signal).then(() => tooLate.resolve(null));
		const standings = sockets.map(async ({ sessionId, socket }): Promise<Standing> => {
			const readiness = await Promise.race([socket.ready(), tooLate.promise]);
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
		await Promise.all([...this.sockets.keys()].map(async (id) => await this.leave(id)));
	}
}
