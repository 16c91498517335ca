import type { ITriggerFunctions } from 'n8n-workflow';
import { openChatSocket, requireWebSocket, whenChatConnected } from '../shared/n8n/http/chatSocket';
import { type ExplainedError, InvalidInput } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/resolution';
import { clock, type AccountClient } from '../shared/n8n/http/accountClient';
import { RareNotice } from '../shared/n8n/triggers/notices';
import { toNodeError } from '../shared/n8n/run/nodeErrors';
import { sessionKey } from '../shared/chat/parseChatFields';
import type { ChatEnded } from '../shared/chat/endings';
import type { ChatEvent } from '../shared/chat/frames';
import { EventStarter } from './eventStarter';
import { FollowedSessions, isFinal, type FollowStatus } from './followedSessions';
import { framesLost, LossReporter, sessionsLost, type TooLargeFrame } from './lossReporter';
import { WatchLimits } from './watchLimits';

export type ListenerSettings = {
	sessionIds: string[];
	watches: boolean;
	/** Null for all events. */
	types: ReadonlySet<string> | null;
	disconnectOther: boolean;
};

/** How long activation waits until each session is connected. */
const FIRST_CHECK_MS = 10_000;

/** How long deactivation waits until n8n has received all events. n8n stops by force after 30 seconds. */
const DRAIN_MS = 20_000;

/** One active trigger with its fixed and watched sessions, from activation to deactivation. */
export class ChatEventsListener {
	private readonly closed = new AbortController();

	private readonly sessions: FollowedSessions;

	private readonly starter: EventStarter;

	private readonly losses: LossReporter;

	/** Reports requests that were rejected because 'Secret' can't be used. */
	readonly unusableSecret: RareNotice<ExplainedError>;

	/** `requested`: no Watch request for it has succeeded yet, so a failure is reported in its response. */
	private readonly watched = new Map<string, 'requested' | 'confirmed'>();

	readonly limits = new WatchLimits(() => clock.elapsed());

	/** Fixed sessions whose failures are shown to the user who activates the trigger. */
	private readonly starting = new Set<string>();

	constructor(
		private readonly context: ITriggerFunctions,
		connection: AccountClient,
		private readonly settings: ListenerSettings,
	) {
		requireWebSocket();
		this.losses = new LossReporter(context, this.closed.signal);
		this.unusableSecret = secretNotice(context, this.closed.signal);
		this.starter = new EventStarter(context, (rejected) => this.losses.events.add(rejected));
		const { disconnectOther } = settings;
		this.sessions = new FollowedSessions({
			open: (sessionId, onEnded) =>
				openChatSocket(context, connection, sessionId, {
					disconnectOther,
					onEvent: (event) => this.onEvent(sessionId, event),
					onTooLarge: (chars) => this.onTooLarge({ sessionId, chars }),
					onEnded,
				}),
			whenConnected: (sessionId, onConnected) =>
				whenChatConnected(context, connection, sessionId, onConnected),
			onLost: (sessionId, ending) => this.onLost(sessionId, ending),
		});
	}

	get watchedSessions(): string[] {
		return [...this.watched.keys()];
	}

	/** The watched ones among these sessions. */
	watchedAmong(sessionIds: string[]): string[] {
		return this.withKnownSpelling(sessionIds).filter((sessionId) => this.watched.has(sessionId));
	}

	/** Follows stored sessions. Failures are reported later, because no user waits for them. */
	followStored(stored: string[]): void {
		const sessionIds = this.withKnownSpelling(stored);
		for (const sessionId of sessionIds) this.watched.set(sessionId, 'confirmed');
		for (const sessionId of sessionIds) this.sessions.follow(sessionId);
	}

	/**
	 * Follows the fixed sessions.
	 *
	 * @param isManual whether a user waits, so that failures are thrown
	 * @throws NodeOperationError with the sessions that failed
	 */
	async start(isManual: boolean): Promise<void> {
		const { sessionIds } = this.settings;
		if (!isManual) {
			for (const sessionId of sessionIds) this.sessions.follow(sessionId);
			return;
		}
		for (const sessionId of sessionIds) this.starting.add(sessionId);
		const statuses = await this.sessions.followAll(sessionIds, FIRST_CHECK_MS);
		this.starting.clear();
		const losses = statuses.flatMap(({ sessionId, ended }) =>
			ended === null ? [] : [{ sessionId, ending: ended }],
		);
		const onlyClosed = losses.every(({ ending }) => ending.kind === 'session_closed');
		// Some closed sessions are fine, but a list of only closed ones is a mistake.
		const hasOthers = this.sessions.size > 0 || this.settings.watches;
		if (losses.length === 0 || (onlyClosed && hasOthers)) return;
		await this.close();
		throw sessionsLost(this.context, losses);
	}

	/**
	 * Watches the sessions that can be connected. Sessions that are watched already stay, and are retried automatically.
	 *
	 * @throws WatchLimitReached if there are too many new sessions
	 */
	async watch(requested: string[]): Promise<FollowStatus[]> {
		const sessionIds = this.withKnownSpelling(requested);
		const added = sessionIds.filter((sessionId) => !this.watched.has(sessionId));
		let statuses: FollowStatus[] = [];
		await this.limits.forSessions(added.length, this.watched.size, async () => {
			statuses = await this.follow(sessionIds);
			const late = statuses.filter(({ connected, ended }) => !connected && ended === null);
			for (const { sessionId } of late) {
				// A repeated request for the same session counts once.
				if (added.includes(sessionId))
					void this.limits.noteLate(this.sessions.readinessOf(sessionId));
			}
			return statuses.filter(({ ended }) => ended !== null).length;
		});
		return statuses;
	}

	private async follow(sessionIds: string[]): Promise<FollowStatus[]> {
		for (const sessionId of sessionIds) {
			if (!this.watched.has(sessionId)) this.watched.set(sessionId, 'requested');
		}
		const current = await this.sessions.followAll(sessionIds, FIRST_CHECK_MS);
		const statuses = current.map((status) =>
			this.watched.get(status.sessionId) === 'confirmed' ? { ...status, ended: null } : status,
		);
		for (const { sessionId } of statuses) {
			if (this.watched.has(sessionId)) this.watched.set(sessionId, 'confirmed');
		}
		// The response reports sessions that failed, so they aren't watched.
		await this.unwatch(statuses.flatMap(({ sessionId, ended }) => (ended ? [sessionId] : [])));
		return statuses;
	}

	async unwatch(requested: string[]): Promise<void> {
		const sessionIds = this.withKnownSpelling(requested);
		for (const sessionId of sessionIds) this.watched.delete(sessionId);
		const unfollowed = sessionIds.filter(
			(sessionId) => !this.settings.sessionIds.includes(sessionId),
		);
		await Promise.all(unfollowed.map(async (sessionId) => await this.sessions.unfollow(sessionId)));
	}

	/** Listens until n8n has received all events, so that the gap before the next trigger listens is short. */
	async close(): Promise<void> {
		const unstarted = await this.starter.drain(DRAIN_MS);
		await this.sessions.closeAll();
		this.losses.events.add(...unstarted);
		this.closed.abort();
	}

	/** Uses the known spelling of each ID, because upper and lower case mean the same session. */
	private withKnownSpelling(sessionIds: string[]): string[] {
		const existing = [...this.settings.sessionIds, ...this.watched.keys()];
		const known = new Map(existing.map((sessionId) => [sessionKey(sessionId), sessionId]));
		return sessionIds.map((sessionId) => known.get(sessionKey(sessionId)) ?? sessionId);
	}

	private onEvent(sessionId: string, event: ChatEvent): void {
		const { types } = this.settings;
		if (types === null || types.has(event.type)) this.starter.emit({ sessionId, event });
	}

	private onTooLarge(frame: TooLargeFrame): void {
		if (this.context.getMode() === 'manual') {
			this.context.emitError(framesLost(this.context, [frame]));
		} else {
			this.losses.frames.add(frame);
		}
	}

	private onLost(sessionId: string, ending: ChatEnded): void {
		const isRequested = this.watched.get(sessionId) === 'requested';
		if (isFinal(ending)) this.watched.delete(sessionId);
		const isFixed = this.settings.sessionIds.includes(sessionId);
		if (this.starting.has(sessionId) || (isRequested && !isFixed)) return;
		const loss = { sessionId, ending };
		if (this.context.getMode() === 'manual') {
			this.context.emitError(sessionsLost(this.context, [loss]));
		} else if (ending.kind === 'session_closed') {
			this.context.logger.info("Stopped listening to a chat session, because it's closed", {
				sessionId,
			});
		} else {
			this.losses.sessions.add(loss);
		}
	}
}

/** Notifies the owner of requests that were rejected because 'Secret' can't be used. */
function secretNotice(context: ITriggerFunctions, signal: AbortSignal): RareNotice<ExplainedError> {
	return new RareNotice(signal, (times, { message, resolution }) => {
		const requests = times === 1 ? 'A request was' : `${times} requests were`;
		const error = new InvalidInput(`${requests} rejected: ${message}`, onScreenOnly(resolution));
		context.saveFailedExecution(toNodeError(context.getNode(), error));
	});
}
