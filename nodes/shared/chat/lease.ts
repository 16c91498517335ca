import { DONE } from '../clock';
import type { ChatConnection } from './connection';
import type { ChatEnded } from './endings';
import type { AckResult, NotReady, Readiness } from './ackWaiter';
import type { ChatEvent } from './frames';
import type { Log, OnEvent, OnTooLarge, StopReason } from './eventDispatcher';
import type { OutgoingFrame } from './sentFrames';
import type { MintResult } from './token';
import type { TurnLink } from './turn';

/** The session and the node of a lease. */
export interface LeaseIdentity {
	sessionId: string;
	baseUrl: string;
	/** Identifies the account: a fingerprint of the API token, never the token itself. */
	account: string;
	/** Identifies the node, so that a trigger that is published again gets the events it missed. */
	node: string;
}

export interface LeaseOptions extends LeaseIdentity {
	/** Instance ID of n8n. Part of the `client_id`. */
	instanceId: string;
	/**
	 * - `trigger`: an active trigger. Retries for minutes, and keeps the `client_id` when n8n restarts.
	 * - `test`: a trigger that is tested in the editor. Retries for minutes.
	 * - `action`: retries for seconds only.
	 */
	usedBy: 'trigger' | 'test' | 'action';
	/** The user confirmed that another client may lose the session. */
	disconnectOther: boolean;
	/** See `mintToken` in `token.ts`. */
	mintToken: () => Promise<MintResult>;
	/** Hides the API token of the account in a text of the service. */
	hideApiToken: (text: string) => string;
	log: Log;
	/** Called once for each event from now on, in the order of arrival. */
	onEvent?: (event: ChatEvent) => void;
	onTooLarge?: OnTooLarge;
	/** Called at most once, if no connection is possible. Never called after `close()`. */
	onEnded?: (ending: ChatEnded) => void;
}

/** Limits that every failed attempt exceeds. */
const NO_RETRIES = { reconnectAttempts: 0, slowPolls: -1 };

/**
 * One node's use of the shared connection of a session. The node must always close it. Closing doesn't end the connection
 * for other nodes. No method rejects.
 */
export class ChatLease implements TurnLink {
	private readonly closed = new AbortController();

	private readonly subscriptions = new Set<() => void>();

	private endedWith: ChatEnded | null = null;

	private closedFor: StopReason | null = null;

	/** Attempts to connect that began before this lease. */
	readonly attemptsBefore: number;

	/** Created by `SharedConnections.lease`. */
	constructor(
		private readonly connection: ChatConnection,
		readonly options: LeaseOptions,
		private readonly onClosed: (lease: ChatLease) => void,
	) {
		this.attemptsBefore = connection.attempts;
		if (options.onEvent) this.subscribe(options.onEvent, options.onTooLarge);
	}

	/** Aborted if no more events will arrive: the lease was closed, or no connection is possible (`ending`). */
	get signal(): AbortSignal {
		return this.closed.signal;
	}

	/** Why no connection is possible. Null while one may be, and after `close()`. */
	get ending(): ChatEnded | null {
		return this.endedWith;
	}

	/** See `EventLink`. */
	get stopReason(): StopReason | null {
		return this.closedFor;
	}

	/** Why the latest attempt failed, while the connection retries. Null if it didn't fail. */
	get lastFailure(): ChatEnded | null {
		return this.connection.giveUpReason(NO_RETRIES);
	}

	/** Whether the session is connected now. */
	get isConnected(): boolean {
		return this.connection.isConnected;
	}

	/** Resolves when the session is connected, or when this lease has ended. */
	async ready(): Promise<Readiness> {
		const readiness = await this.connection.ready(this.signal);
		return this.signal.aborted ? this.unavailable() : readiness;
	}

	/**
	 * Calls the listener once for each event from now on, until the lease is closed.
	 *
	 * @returns a function that unsubscribes
	 */
	subscribe(listener: OnEvent, onTooLarge?: OnTooLarge): () => void {
		const unsubscribe = this.connection.subscribe(listener, onTooLarge);
		const stop = () => {
			unsubscribe();
			this.subscriptions.delete(stop);
		};
		this.subscriptions.add(stop);
		return stop;
	}

	/** See `EventLink`. */
	keepOpen(): () => void {
		return this.connection.keepOpen();
	}

	/** Waits until no other lease is sending, and returns `release`, which must be called. */
	async acquireSend(): Promise<() => void> {
		return await this.connection.acquireSend(this.signal);
	}

	/** See `TurnLink`. Call it after `acquireSend`, so that the conversation keeps its order. */
	async sendWithAck(frame: OutgoingFrame, timeoutMs: number): Promise<AckResult> {
		const { connection, signal } = this;
		const result = await connection.sendWithAck(frame, timeoutMs, signal);
		const hasEnded = result.kind === 'not_sent' && this.signal.aborted;
		return hasEnded ? { ...result, readiness: this.unavailable() } : result;
	}

	/** Ends the lease. The connection closes shortly after, unless another lease uses it. */
	close(reason: StopReason = 'stopped'): void {
		if (this.signal.aborted) return;
		this.closedFor = reason;
		this.release();
	}

	/** Called by the shared connection. */
	end(ending: ChatEnded): void {
		if (this.signal.aborted) return;
		this.endedWith = ending;
		this.release();
		try {
			this.options.onEnded?.(ending);
		} catch (cause) {
			this.options.log.warn("The end of a chat session connection couldn't be reported", {
				cause: String(cause),
			});
		}
	}

	/** Delivers an event that arrived before this lease. */
	receive(event: ChatEvent): void {
		if (!this.signal.aborted) this.options.onEvent?.(event);
	}

	private unavailable(): NotReady {
		return this.endedWith === null
			? { kind: 'closed_by_us' }
			: { kind: 'ended', ending: this.endedWith };
	}

	private release(): void {
		for (const stop of [...this.subscriptions]) stop();
		this.closed.abort(DONE);
		this.onClosed(this);
	}
}
