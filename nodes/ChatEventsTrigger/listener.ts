import pLimit from 'p-limit';
import type { ITriggerFunctions } from 'n8n-workflow';
import type { ChatEnded } from '../shared/chat/reconnectPolicy';
import type { ChatEvent } from '../shared/chat/frames';
import { sessionKey } from '../shared/chat/parseChatFields';
import type { ChatLease } from '../shared/chat/sharedConnections';
import { deferred, type Deferred, DONE, settledOrTimeout } from '../shared/clock';
import { clock, type AccountClient } from '../shared/n8n/http/accountClient';
import { openChatSocket, requireWebSocket } from '../shared/n8n/http/chatSocket';
import { EventStarter } from './eventStarter';
import { lossReporter, sessionsLost } from './lossReporter';

export type ListenerSettings = {
	/** Whether sessions are added and removed by requests. */
	watches: boolean;
	/** Null for all events. */
	types: ReadonlySet<string> | null;
	disconnectOther: boolean;
};

/** `ended`: why the session can't be followed. */
export type FollowStatus = { sessionId: string; ended: ChatEnded | null; connected: boolean };

type FollowedSession = {
	sessionId: string;
	/** Null while the session waits to connect. */
	lease: ChatLease | null;
	/** Resolves when the session starts to connect, or isn't followed anymore. */
	started: Deferred<void>;
	/** Why the session isn't connected, after several attempts. */
	loss: ChatEnded | null;
	/** Aborted with the first loss. */
	lost: AbortController;
	/** Whether a user waits for the result, so that a loss needs no failed execution. */
	isAwaited: boolean;
};

/** How long a user waits until each session is connected. */
const FIRST_CHECK_MS = 10_000;

/** How long deactivation waits until n8n has received all events. n8n stops by force after 30 seconds. */
const DRAIN_MS = 20_000;

/** Sessions that connect at the same time, because each one requests a token and opens a socket. */
const MAX_CONNECTING = 20;

/** A slow connection makes room for the next one after this time. */
const NEXT_AFTER_MS = 5_000;

/** One active trigger with its sessions, from activation to deactivation. */
export class ChatEventsListener {
	private readonly closed = new AbortController();

	private readonly starter: EventStarter;

	private readonly losses: ReturnType<typeof lossReporter>;

	/** By `sessionKey`, because upper and lower case mean the same session. */
	private readonly sessions = new Map<string, FollowedSession>();

	private readonly limit = pLimit(MAX_CONNECTING);

	constructor(
		private readonly context: ITriggerFunctions,
		private readonly account: AccountClient,
		private readonly settings: ListenerSettings,
	) {
		requireWebSocket();
		this.losses = lossReporter(context, this.closed.signal);
		this.starter = new EventStarter(context, (rejected) => this.losses.events.add(rejected));
	}

	get sessionIds(): string[] {
		return [...this.sessions.values()].map(({ sessionId }) => sessionId);
	}

	/** The followed ones among these sessions, as they were first written. */
	followedAmong(sessionIds: string[]): string[] {
		return sessionIds.flatMap((id) => this.sessions.get(sessionKey(id))?.sessionId ?? []);
	}

	/** Follows the sessions. Failures are reported later, because no user waits for them. */
	follow(sessionIds: string[]): void {
		for (const sessionId of sessionIds) this.followOne(sessionId);
	}

	/**
	 * Follows the sessions for a user who waits.
	 *
	 * @throws NodeOperationError with the sessions that failed
	 */
	async start(sessionIds: string[]): Promise<void> {
		const statuses = await this.followAndCheck(sessionIds);
		const losses = statuses.flatMap(({ sessionId, ended }) =>
			ended === null ? [] : [{ sessionId, ending: ended, isRetried: false }],
		);
		const onlyClosed = losses.every(({ ending }) => ending.kind === 'session_closed');
		// Some closed sessions are fine, but a list of only closed ones is a mistake.
		if (losses.length === 0 || (onlyClosed && this.sessions.size > 0)) return;
		await this.close();
		throw sessionsLost(this.context, losses);
	}

	/** Follows the sessions that can be connected. Sessions that were followed before stay, and are retried automatically. */
	async watch(sessionIds: string[]): Promise<FollowStatus[]> {
		const statuses = await this.followAndCheck(sessionIds);
		// The response reports them.
		this.unwatch(statuses.flatMap(({ sessionId, ended }) => (ended === null ? [] : [sessionId])));
		return statuses;
	}

	unwatch(sessionIds: string[]): void {
		for (const sessionId of sessionIds) {
			const session = this.sessions.get(sessionKey(sessionId));
			this.sessions.delete(sessionKey(sessionId));
			session?.started.resolve();
			session?.lease?.close();
		}
	}

	/** Listens until n8n has received all events, so that the gap before the next trigger listens is short. */
	async close(): Promise<void> {
		const unstarted = await this.starter.drain(DRAIN_MS);
		this.unwatch(this.sessionIds);
		this.losses.events.add(...unstarted);
		this.closed.abort();
	}

	/** The status of each session after `FIRST_CHECK_MS` at the latest. */
	private async followAndCheck(sessionIds: string[]): Promise<FollowStatus[]> {
		const check = async (sessionId: string): Promise<FollowStatus> => {
			const isNew = !this.sessions.has(sessionKey(sessionId));
			const session = this.followOne(sessionId, isNew);
			const connecting = session.started.promise.then(async () => await untilReady(session.lease));
			await settledOrTimeout(clock, FIRST_CHECK_MS, connecting, session.lost.signal);
			const connected = session.lease?.connection.isConnected === true;
			session.isAwaited = false;
			return { sessionId, connected, ended: isNew && !connected ? session.loss : null };
		};
		return await Promise.all(sessionIds.map(check));
	}

	/** Connects the session as soon as the limit allows it, unless it's followed already. */
	private followOne(sessionId: string, isAwaited = false): FollowedSession {
		const key = sessionKey(sessionId);
		const existing = this.sessions.get(key);
		existing?.lease?.connection.retryNow();
		if (existing !== undefined) return existing;
		const session: FollowedSession = {
			sessionId,
			lease: null,
			started: deferred(),
			loss: null,
			lost: new AbortController(),
			isAwaited,
		};
		this.sessions.set(key, session);
		void this.limit(async () => {
			if (this.sessions.get(key) !== session) return;
			session.lease = openChatSocket(this.context, this.account, sessionId, {
				disconnectOther: this.settings.disconnectOther,
				onEvent: (event) => this.onEvent(sessionId, event),
				onLost: (ending) => this.onLost(session, ending, true),
				onEnded: (ending) => {
					this.sessions.delete(key);
					this.onLost(session, ending, false);
				},
			});
			session.started.resolve();
			await settledOrTimeout(clock, NEXT_AFTER_MS, untilReady(session.lease));
		});
		return session;
	}

	private onEvent(sessionId: string, event: ChatEvent): void {
		const { types } = this.settings;
		if (types === null || types.has(event.type)) this.starter.emit({ sessionId, event });
	}

	private onLost(session: FollowedSession, ending: ChatEnded, isRetried: boolean): void {
		const { sessionId } = session;
		session.loss = ending;
		session.lost.abort(DONE);
		if (session.isAwaited) return;
		if (this.context.getMode() === 'manual') {
			const loss = { sessionId, ending, isRetried: false };
			this.context.emitError(sessionsLost(this.context, [loss]));
		} else if (ending.kind === 'session_closed') {
			this.context.logger.info("Stopped listening to a chat session, because it's closed", {
				sessionId,
			});
		} else {
			this.losses.sessions.add({ sessionId, ending, isRetried });
		}
	}
}

async function untilReady(lease: ChatLease | null): Promise<void> {
	await lease?.connection.ready(lease.signal);
}
