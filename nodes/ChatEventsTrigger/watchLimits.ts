import { ExplainedError } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/resolution';
import type { Readiness } from '../shared/chat/ackWaiter';
import { RecentCount } from '../shared/recentCount';

export const MAX_SESSIONS_PER_REQUEST = 100;

/** Each one has a socket and an entry in n8n's database. */
export const MAX_WATCHED_SESSIONS = 1_000;

/** Requests in progress. Each one lasts until its sessions are connected, and uses memory in n8n until then. */
const MAX_REQUESTS = 50;

/** Sessions of all requests that aren't connected yet. */
const MAX_NEW_SESSIONS = 100;

/** Each made-up session ID costs a request to the service. */
const MAX_REJECTED_PER_MINUTE = 100;

const BUSY_RETRY_S = 2;

/** The request changed nothing. */
export class WatchLimitReached extends ExplainedError {
	override readonly name = 'WatchLimitReached';
	readonly outcome = 'rejected';

	constructor(
		message: string,
		resolution: string,
		/** HTTP status of the response. */
		readonly status: number,
		/** Seconds. Undefined if waiting doesn't help. */
		readonly retryAfter?: number,
	) {
		super(message, onScreenOnly(resolution));
	}
}

/** Limits what requests to the watch URL can cost, because without a secret anyone who knows the URL can post to it. */
export class WatchLimits {
	private requests = 0;

	private newSessions = 0;

	/** Sessions that the service rejected. */
	private readonly rejected = new RecentCount(60_000);

	constructor(private readonly now: () => number) {}

	/** @throws WatchLimitReached if too many requests are in progress */
	async forRequest<T>(handle: () => Promise<T>): Promise<T> {
		if (this.requests >= MAX_REQUESTS) throw busy();
		this.requests++;
		try {
			return await handle();
		} finally {
			this.requests--;
		}
	}

	/**
	 * Connects sessions that aren't watched yet.
	 *
	 * @param connect returns how many of them the service rejected
	 * @throws WatchLimitReached if there are too many
	 */
	async forSessions(
		sessions: number,
		watched: number,
		connect: () => Promise<number>,
	): Promise<void> {
		this.requireRoom(sessions, watched);
		this.newSessions += sessions;
		try {
			const rejected = await connect();
			for (let count = 0; count < rejected; count++) this.noteRejected();
		} finally {
			this.newSessions -= sessions;
		}
	}

	/** Counts a session that was still connecting when its request got the response. */
	async noteLate(readiness: Promise<Readiness> | undefined): Promise<void> {
		if ((await readiness)?.kind === 'ended') this.noteRejected();
	}

	private noteRejected(): void {
		this.rejected.add(this.now());
	}

	private requireRoom(sessions: number, watched: number): void {
		if (sessions === 0) return;
		if (watched + sessions > MAX_WATCHED_SESSIONS) {
			throw new WatchLimitReached(
				`The Chat Events Trigger can watch at most ${MAX_WATCHED_SESSIONS.toLocaleString('en-US')} sessions (it watches ${watched.toLocaleString('en-US')})`,
				'Unwatch sessions that are no longer needed, or use another Chat Events Trigger for more sessions.',
				409,
			);
		}
		const now = this.now();
		if (this.rejected.at(now) >= MAX_REJECTED_PER_MINUTE) {
			throw new WatchLimitReached(
				`The service rejected ${MAX_REJECTED_PER_MINUTE} sessions within a minute, so the Chat Events Trigger accepts no new ones`,
				"Try again in a minute. If others send these sessions, set 'Secret' in the Chat Events Trigger.",
				429,
				Math.ceil(this.rejected.untilFewer(now) / 1_000),
			);
		}
		if (this.newSessions + sessions > MAX_NEW_SESSIONS) throw busy();
	}
}

function busy(): WatchLimitReached {
	return new WatchLimitReached(
		`The Chat Events Trigger is busy, because it connects at most ${MAX_NEW_SESSIONS} new sessions from at most ${MAX_REQUESTS} requests at the same time`,
		'Send the request again in a few seconds.',
		503,
		BUSY_RETRY_S,
	);
}
