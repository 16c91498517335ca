import pLimit from 'p-limit';
import type { ITriggerFunctions } from 'n8n-workflow';
import type { Ending } from '../core/chat/reconnectPolicy';
import { sessionKey } from '../core/chat/parseChatFields';
import type { ConnectionUser } from '../core/chat/connectionUser';
import type { ChatEvent } from '../core/chat/frames';
import { settledOrTimeout } from '../core/values/clock';
import { type AccountClient, createAccountClient } from '../host/http/accountClient';
import { clock } from '../host/clock';
import { joinChat, requireWebSocket } from '../host/http/chatSocket';
import { EventStarter } from './eventStarter';
import { lossReporter, sessionsLost, whatFollows } from './lossReporter';

export type ListenerSettings = {
	/** Null for all events. */
	types: ReadonlySet<string> | null;
	disconnectOther: boolean;
	/** Whether requests add and remove sessions. */
	watches: boolean;
};

/** `user`: null while the session waits to connect. */
type FollowedSession = { sessionId: string; user: ConnectionUser | null };

/** How long deactivation waits until n8n has received all events. n8n stops by force after 30 seconds. */
const DRAIN_MS = 20_000;

/** Sessions that connect at the same time, because each one requests a token and opens a socket. */
export const MAX_CONNECTING = 20;

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
		this.starter = new EventStarter(context, (lost) => this.losses.events([lost]));
	}

	get sessionIds(): string[] {
		return [...this.sessions.values()].map(({ sessionId }) => sessionId);
	}

	/** Connects the sessions as soon as the limit allows it. One that is followed already tries again now. */
	follow(sessionIds: string[]): void {
		for (const sessionId of sessionIds) {
			const key = sessionKey(sessionId);
			const existing = this.sessions.get(key);
			existing?.user?.retryNow();
			if (existing !== undefined) continue;
			const session: FollowedSession = { sessionId, user: null };
			this.sessions.set(key, session);
			void this.limit(async () => {
				if (this.sessions.get(key) === session) await this.connect(session, this.account);
			});
		}
	}

	unwatch(sessionIds: string[]): void {
		for (const sessionId of sessionIds) {
			const session = this.sessions.get(sessionKey(sessionId));
			this.sessions.delete(sessionKey(sessionId));
			session?.user?.close();
		}
	}

	/** Listens until n8n has received all events, so that the gap before the next trigger listens is short. */
	async close(): Promise<void> {
		const unstarted = await this.starter.drain(DRAIN_MS);
		this.unwatch(this.sessionIds);
		this.losses.events(unstarted);
		this.closed.abort();
	}

	private async connect(session: FollowedSession, account: AccountClient): Promise<void> {
		const { sessionId } = session;
		const { types, disconnectOther } = this.settings;
		const onLost = (ending: Ending, isRetried: boolean) => {
			if (!isRetried) this.sessions.delete(sessionKey(sessionId));
			this.onLost(sessionId, ending, isRetried);
		};
		// n8n doesn't restart a trigger when its credential is edited. One that can't be read or used changes nothing.
		const followCredential = async () => {
			const current = await createAccountClient(this.context).catch(() => account);
			const isSame = current.account === account.account && current.baseUrl === account.baseUrl;
			if (isSame || user.signal.aborted) return;
			user.close();
			void this.connect(session, current);
		};
		const onEvent = (event: ChatEvent) => {
			if (types === null || types.has(event.type)) this.starter.emit({ sessionId, event });
		};
		const options = { disconnectOther, onLost, onEvent };
		const user = joinChat(this.context, account, sessionId, options, followCredential);
		session.user = user;
		await settledOrTimeout(clock, NEXT_AFTER_MS, user.connected());
	}

	private onLost(sessionId: string, ending: Ending, isRetried: boolean): void {
		if (this.context.getMode() === 'manual') {
			this.context.emitError(sessionsLost(this.context, [{ sessionId, error: ending }]));
		} else if (ending.kind === 'session_closed') {
			const message = "Stopped listening to a chat session, because it's closed";
			this.context.logger.info(message, { sessionId });
		} else {
			const next = whatFollows(isRetried, this.settings.watches);
			this.losses.sessions([{ sessionId, error: ending, next }]);
		}
	}
}
