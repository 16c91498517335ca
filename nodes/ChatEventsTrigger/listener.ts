import type { ITriggerFunctions } from 'n8n-workflow';
import { openChatSocket } from '../shared/n8n/chatSocket';
import { clock, type Connection } from '../shared/n8n/connect';
import type { ChatEnded } from '../shared/service/chatSocket/endings';
import type { EndingKind } from '../shared/service/chatSocket/closeCodes';
import { pause } from '../shared/service/chatSocket/pause';
import type { ChatEvent } from '../shared/service/chatSocket/types';
import { EventEmitter } from './emitter';
import { FollowedSessions, type Standing } from './followedSessions';
import { lossError, Losses } from './losses';
import type { TriggerSettings } from './settings';

/** How long activating waits for the first answer of each session. */
const FIRST_LOOK_MS = 10_000;

/** Endings that following the session again would only repeat: such a session leaves the watched ones. */
const LASTING: ReadonlySet<EndingKind> = new Set([
	'session_closed',
	'mint_refused',
	'bad_address',
	'defect',
]);

/** One active trigger: its sessions, fixed and watched, from activation to deactivation. */
export class ChatEventsListener {
	private readonly stop = new AbortController();

	private readonly sessions: FollowedSessions;

	private readonly emitter: EventEmitter;

	private readonly losses: Losses;

	private readonly watched = new Set<string>();

	private startedAt = clock.now();

	private lasted: number | null = null;

	/** While it starts or answers a Watch request, losses are told there and then. */
	private readonly underway = new Set<string>();

	constructor(
		private readonly context: ITriggerFunctions,
		connection: Connection,
		private readonly settings: TriggerSettings,
	) {
		this.emitter = new EventEmitter(context, this.stop.signal);
		this.losses = new Losses(context, this.stop.signal);
		const { takeOver } = settings;
		this.sessions = new FollowedSessions({
			open: (sessionId, callbacks) =>
				openChatSocket(context, connection, sessionId, { takeOver, ...callbacks }),
			onEvent: (sessionId, event) => this.pass(sessionId, event),
			onEnded: (sessionId, ending) => this.lose(sessionId, ending),
			clock,
		});
	}

	get watchedSessions(): string[] {
		return [...this.watched];
	}

	/** How long it took until nothing was left to listen to; null while it goes on. */
	get gaveUpAfterMs(): number | null {
		return this.lasted;
	}

	/** Follows everything, but only after a while. */
	async startAfter(ms: number, watched: string[]): Promise<void> {
		for (const sessionId of watched) this.watched.add(sessionId);
		await pause(clock, ms, this.stop.signal);
		if (this.stop.signal.aborted) return;
		this.startedAt = clock.now();
		this.resume(this.watchedSessions);
		await this.start(false);
	}

	/** Follows what was watched before; nobody is at the screen, so whatever fails is reported later. */
	resume(sessionIds: string[]): void {
		for (const sessionId of sessionIds) this.watched.add(sessionId);
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
		const standings = await this.tryOut(sessionIds);
		const losses = standings.flatMap(({ sessionId, ended }) =>
			ended === null ? [] : [{ sessionId, ending: ended }],
		);
		const onlyClosed = losses.every(({ ending }) => ending.kind === 'session_closed');
		// Some sessions of a list may well be over; a list of nothing else is a mistake.
		const goesOn = this.sessions.size > 0 || this.settings.watches;
		if (losses.length === 0 || (onlyClosed && goesOn)) return;
		await this.close();
		throw lossError(this.context, losses);
	}

	async watch(sessionIds: string[]): Promise<Standing[]> {
		for (const sessionId of sessionIds) this.watched.add(sessionId);
		const standings = await this.tryOut(sessionIds);
		for (const { sessionId, ended } of standings) if (ended) this.watched.delete(sessionId);
		return standings;
	}

	async unwatch(sessionIds: string[]): Promise<void> {
		for (const sessionId of sessionIds) this.watched.delete(sessionId);
		const left = sessionIds.filter((sessionId) => !this.settings.sessionIds.includes(sessionId));
		await Promise.all(left.map(async (sessionId) => await this.sessions.leave(sessionId)));
	}

	async close(): Promise<void> {
		this.stop.abort();
		await this.sessions.closeAll();
	}

	private async tryOut(sessionIds: string[]): Promise<Standing[]> {
		for (const sessionId of sessionIds) this.underway.add(sessionId);
		const standings = await this.sessions.followAll(sessionIds, FIRST_LOOK_MS);
		for (const sessionId of sessionIds) this.underway.delete(sessionId);
		return standings;
	}

	private pass(sessionId: string, event: ChatEvent): void {
		const { types } = this.settings;
		if (types === null || types.has(event.type)) this.emitter.emit(sessionId, event);
	}

	private lose(sessionId: string, ending: ChatEnded): void {
		if (LASTING.has(ending.kind)) this.watched.delete(sessionId);
		if (this.underway.has(sessionId)) return;
		if (ending.kind === 'session_closed' && this.context.getMode() !== 'manual') {
			this.context.logger.info('A chat session is closed and no longer followed', { sessionId });
			return;
		}
		// A watched session that is of no more use leaves a trigger whose address still works.
		const healthy = this.settings.watches && LASTING.has(ending.kind);
		const goesOn = this.sessions.size > 0 || healthy;
		if (!goesOn) this.lasted = clock.now() - this.startedAt;
		this.losses.add({ sessionId, ending }, goesOn);
	}
}
