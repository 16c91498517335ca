import { DONE } from '../values/clock';
import type { ChatConnection, SendOutcome } from './connection';
import type { ChatEvent, ClientFrame } from './frames';
import type { ChatEnded, NextAttempt } from './reconnectPolicy';
import type { WsToken } from './token';

/** An execution waits for the result of an action, so an action gives up after four or five attempts. */
const ACTION_PATIENCE_MS = 10_000;

/** A trigger reports a lost session after about a minute. */
const TRIGGER_PATIENCE_MS = 45_000;

export interface UserOptions {
	/** A trigger never gives up. An action gives up after a few attempts. */
	usedBy: 'trigger' | 'action';
	/** The user confirmed that another client may lose the session. */
	disconnectOther: boolean;
	mintToken: () => Promise<WsToken>;
	/** How long an action tries to connect. */
	patienceMs?: number;
	/** For a trigger, once an outage: the session has been lost for a while, and the connection tries again. */
	onLost?: (ending: ChatEnded) => void;
	/** Called at most once, if no connection is possible. Never called after `close()`. */
	onEnded?: (ending: ChatEnded) => void;
}

/**
 * Whether the service sent an event again. `possible`: it arrived on a new socket, where the service may replay recent
 * events. `certain`: it arrived before this user joined.
 */
type Replay = 'no' | 'possible' | 'certain';

type OnEvent = (event: ChatEvent, replay: Replay) => void;

/** One node's use of the connection of a session. The node must always close it. It stays open for other nodes. */
export class ConnectionUser {
	/** Events for the next listener: first those since the action before, which `listen` takes, then those since `collect`. */
	readonly missed: Array<Parameters<OnEvent>>;
	/** The number of events before it joined. */
	readonly joinedAt: number;

	private readonly closed = new AbortController();
	private listener: OnEvent | null = null;
	private isCollecting = false;
	/** When it first saw a failed attempt after a healthy connection, by `clock.elapsed()`. */
	private failingSince: number | null = null;
	private isReported = false;

	/** Created by the connection. */
	constructor(
		private readonly connection: ChatConnection,
		readonly options: UserOptions,
		{ missed, joinedAt }: Pick<ConnectionUser, 'missed' | 'joinedAt'>,
	) {
		this.missed = missed;
		this.joinedAt = joinedAt;
	}

	/** Aborted when the use ends: with a `ChatEnded` if no connection is possible. */
	get signal(): AbortSignal {
		return this.closed.signal;
	}

	get isConnected(): boolean {
		return this.connection.isConnected;
	}

	/** Resolves with false if the use ends before. */
	async connected(): Promise<boolean> {
		return await this.connection.ready(this.signal);
	}

	/** If the session isn't connected, tries again now. */
	retryNow(): void {
		this.connection.retryNow();
	}

	async send(frame: ClientFrame, ackTimeoutMs?: number): Promise<SendOutcome> {
		return await this.connection.send(frame, this.signal, ackTimeoutMs);
	}

	/** Calls the listener once for each event until `collect`, also for the missed ones. */
	listen(listener: OnEvent): void {
		this.listener = listener;
		for (const arrived of this.missed.splice(0)) this.receive(...arrived);
	}

	/** From now on, events are for the next action. A burst can bring some before a user leaves whose wait has ended. */
	collect(): void {
		if (this.isCollecting) return;
		this.isCollecting = true;
		this.listener = null;
		this.missed.splice(0);
	}

	close(): void {
		this.leave(DONE);
	}

	// Called by the connection.

	get hasLeft(): boolean {
		return this.signal.aborted;
	}

	get mayDisconnectOther(): boolean {
		return this.options.disconnectOther && !this.hasLeft;
	}

	receive(...arrived: Parameters<OnEvent>): void {
		if (this.isCollecting) this.missed.push(arrived);
		else this.listener?.(...arrived);
	}

	/** After a failed attempt to connect: an action may give up, and a trigger may report the loss. */
	failed(ending: ChatEnded, { isLasting, isFirst }: NextAttempt, now: number): void {
		if (isFirst || this.failingSince === null) {
			this.failingSince = now;
			this.isReported = false;
		}
		const waitedMs = now - this.failingSince;
		const { usedBy, patienceMs = ACTION_PATIENCE_MS, onLost } = this.options;
		if (usedBy === 'action') {
			if (isLasting || waitedMs >= patienceMs) this.end(ending);
		} else if (waitedMs >= TRIGGER_PATIENCE_MS && !this.isReported) {
			this.isReported = true;
			onLost?.(ending);
		}
	}

	end(ending: ChatEnded): void {
		if (this.leave(ending)) this.options.onEnded?.(ending);
	}

	private leave(reason: typeof DONE | ChatEnded): boolean {
		if (this.hasLeft) return false;
		this.closed.abort(reason);
		this.collect();
		this.connection.leave(this);
		return true;
	}
}
