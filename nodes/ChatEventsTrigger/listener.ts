import type { ITriggerFunctions } from 'n8n-workflow';
import { openChatSocket, requireWebSocket } from '../shared/n8n/http/chatSocket';
import type { ExplainedError } from '../shared/api/errors';
import { clock, type AccountClient } from '../shared/n8n/http/accountClient';
import type { RareNotice } from '../shared/n8n/triggers/rareNotice';
import { rejectionNotice } from '../shared/n8n/triggers/usableFields';
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
	/** Null where every event is passed. */
	types: ReadonlySet<string> | null;
	takeOver: boolean;
};

/** How long activating waits for the first answer of each session. */
const FIRST_CHECK_MS = 10_000;

/** How long deactivating waits for n8n to take the events that have come; n8n stops by force after 30 seconds. */
const HAND_OVER_MS = 20_000;

/** One active trigger: its sessions, fixed and watched, from activation to deactivation. */
export class ChatEventsListener {
	private readonly closed = new AbortController();

	private readonly sessions: FollowedSessions;

	private readonly emitter: EventStarter;

	private readonly losses: LossReporter;

	/** Of requests that were rejected because 'Secret' gives none. */
	readonly unusableSecret: RareNotice<ExplainedError>;

	/** `asked`: no Watch request for it has succeeded yet, and a loss is the answer to that request. */
	private readonly watched = new Map<string, 'asked' | 'taken'>();

	readonly limits = new WatchLimits(() => clock.elapsed());

	/** Fixed sessions whose losses are told to whoever waits at the screen. */
	private readonly starting = new Set<string>();

	constructor(
		private readonly context: ITriggerFunctions,
		connection: AccountClient,
		private readonly settings: ListenerSettings,
	) {
		requireWebSocket();
		this.losses = new LossReporter(context, this.closed.signal);
		this.unusableSecret = rejectionNotice(context, this.closed.signal);
		this.emitter = new EventStarter(context, (rejected) => this.losses.events.add(rejected));
		const { takeOver } = settings;
		this.sessions = new FollowedSessions({
			open: (sessionId, onEnded) =>
				openChatSocket(context, connection, sessionId, {
					takeOver,
					onEvent: (event) => this.pass(sessionId, event),
					onTooLarge: (chars) => this.miss({ sessionId, chars }),
					onEnded,
				}),
			onLost: (sessionId, ending) => this.lose(sessionId, ending),
		});
	}

	get watchedSessions(): string[] {
		return [...this.watched.keys()];
	}

	/** Those of these sessions that are watched. */
	watchedAmong(sessionIds: string[]): string[] {
		return this.asKnown(sessionIds).filter((sessionId) => this.watched.has(sessionId));
	}

	/** Follows what was watched before; nobody is at the screen, so whatever fails is reported later. */
	followStored(stored: string[]): void {
		const sessionIds = this.asKnown(stored);
		for (const sessionId of sessionIds) this.watched.set(sessionId, 'taken');
		for (const sessionId of sessionIds) this.sessions.follow(sessionId);
	}

	/**
	 * Follows the fixed sessions.
	 *
	 * @param byHand somebody waits at the screen and is told at once what cannot be followed
	 * @throws NodeOperationError naming what cannot be followed
	 */
	async start(byHand: boolean): Promise<void> {
		const { sessionIds } = this.settings;
		if (!byHand) {
			for (const sessionId of sessionIds) this.sessions.follow(sessionId);
			return;
		}
		for (const sessionId of sessionIds) this.starting.add(sessionId);
		const standings = await this.sessions.followAll(sessionIds, FIRST_CHECK_MS);
		this.starting.clear();
		const losses = standings.flatMap(({ sessionId, ended }) =>
			ended === null ? [] : [{ sessionId, ending: ended }],
		);
		const onlyClosed = losses.every(({ ending }) => ending.kind === 'session_closed');
		// Some sessions of a list may well be over; a list of nothing else is a mistake.
		const goesOn = this.sessions.size > 0 || this.settings.watches;
		if (losses.length === 0 || (onlyClosed && goesOn)) return;
		await this.close();
		throw sessionsLost(this.context, losses);
	}

	/**
	 * Takes up what can be followed; what was taken before stays, and is tried again by itself.
	 *
	 * @throws WatchLimitReached if there is no room for the new ones among them
	 */
	async watch(asked: string[]): Promise<FollowStatus[]> {
		const sessionIds = this.asKnown(asked);
		const added = sessionIds.filter((sessionId) => !this.watched.has(sessionId));
		let standings: FollowStatus[] = [];
		await this.limits.forSessions(added.length, this.watched.size, async () => {
			standings = await this.takeUp(sessionIds);
			const late = standings.filter(({ connected, ended }) => !connected && ended === null);
			for (const { sessionId } of late) {
				// One that was asked for before counts once.
				if (added.includes(sessionId))
					void this.limits.noteLate(this.sessions.readinessOf(sessionId));
			}
			return standings.filter(({ ended }) => ended !== null).length;
		});
		return standings;
	}

	private async takeUp(sessionIds: string[]): Promise<FollowStatus[]> {
		for (const sessionId of sessionIds) {
			if (!this.watched.has(sessionId)) this.watched.set(sessionId, 'asked');
		}
		const found = await this.sessions.followAll(sessionIds, FIRST_CHECK_MS);
		const standings = found.map((standing) =>
			this.watched.get(standing.sessionId) === 'taken' ? { ...standing, ended: null } : standing,
		);
		for (const { sessionId } of standings) {
			if (this.watched.has(sessionId)) this.watched.set(sessionId, 'taken');
		}
		// Whoever asked is told: it is not taken up.
		await this.unwatch(standings.flatMap(({ sessionId, ended }) => (ended ? [sessionId] : [])));
		return standings;
	}

	async unwatch(asked: string[]): Promise<void> {
		const sessionIds = this.asKnown(asked);
		for (const sessionId of sessionIds) this.watched.delete(sessionId);
		const left = sessionIds.filter((sessionId) => !this.settings.sessionIds.includes(sessionId));
		await Promise.all(left.map(async (sessionId) => await this.sessions.leave(sessionId)));
	}

	/** Listens on until n8n has taken what has come, so that the gap until the next trigger listens is short. */
	async close(): Promise<void> {
		const unstarted = await this.emitter.drain(HAND_OVER_MS);
		await this.sessions.closeAll();
		this.losses.events.add(...unstarted);
		this.closed.abort();
	}

	/** Each as it is written already, in upper or lower case: it is one session, with one connection. */
	private asKnown(sessionIds: string[]): string[] {
		const present = [...this.settings.sessionIds, ...this.watched.keys()];
		const known = new Map(present.map((sessionId) => [sessionKey(sessionId), sessionId]));
		return sessionIds.map((sessionId) => known.get(sessionKey(sessionId)) ?? sessionId);
	}

	private pass(sessionId: string, event: ChatEvent): void {
		const { types } = this.settings;
		if (types === null || types.has(event.type)) this.emitter.emit({ sessionId, event });
	}

	private miss(frame: TooLargeFrame): void {
		if (this.context.getMode() === 'manual') {
			this.context.emitError(framesLost(this.context, [frame]));
		} else {
			this.losses.frames.add(frame);
		}
	}

	private lose(sessionId: string, ending: ChatEnded): void {
		const isAsked = this.watched.get(sessionId) === 'asked';
		if (isFinal(ending)) this.watched.delete(sessionId);
		const isFixed = this.settings.sessionIds.includes(sessionId);
		if (this.starting.has(sessionId) || (isAsked && !isFixed)) return;
		const loss = { sessionId, ending };
		if (this.context.getMode() === 'manual') {
			this.context.emitError(sessionsLost(this.context, [loss]));
		} else if (ending.kind === 'session_closed') {
			this.context.logger.info('A chat session is closed and no longer followed', { sessionId });
		} else {
			this.losses.sessions.add(loss);
		}
	}
}
