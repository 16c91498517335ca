import { DONE } from '../clock';
import type { ChatConnection } from './connection';
import type { ChatEnded } from './endings';
import type { AckResult, Readiness } from './ackWaiter';
import type { ChatEvent } from './frames';
import type { Log, OnTooLarge } from './eventDispatcher';
import type { OutgoingFrame } from './sentFrames';
import type { MintResult } from './token';
import type { TurnLink } from './turn';

export interface LeaseOptions {
	sessionId: string;
	baseUrl: string;
	/** Tells accounts apart: a fingerprint of the API token, never the token. */
	account: string;
	/** Of n8n; part of the `client_id`. */
	instanceId: string;
	/**
	 * - `trigger`: an active trigger. Patient; keeps the `client_id` over restarts.
	 * - `trial`: a trigger tried out in the editor. Patient.
	 * - `action`: patient for seconds only.
	 */
	holder: 'trigger' | 'trial' | 'action';
	/** Tells the node that holds it from all others, so that a trigger that comes back is known. */
	node: string;
	/** The user's confirmation that another client may lose the session. */
	takeOver: boolean;
	/** See `mintToken` in `token.ts`. */
	mintToken: () => Promise<MintResult>;
	log: Log;
	/** Called once for each event from now on, in order of arrival. */
	onEvent?: (event: ChatEvent) => void;
	onTooLarge?: OnTooLarge;
	/** Called at most once, when there is no connection to be had; never after `close()`. */
	onEnded?: (ending: ChatEnded) => void;
}

/** Of one for whom every attempt that fails is one too many. */
const NO_PATIENCE = { reconnectAttempts: 0, slowPolls: -1 };

/**
 * One holder's part in the shared connection of a session. To be closed by its holder when it is done, whatever happened;
 * closing does not end the connection for others. Nothing here rejects.
 */
export class ChatLease implements TurnLink {
	private readonly over = new AbortController();

	private readonly subscriptions = new Set<() => void>();

	private endedWith: ChatEnded | null = null;

	/** How many attempts had begun before it. */
	readonly since: number;

	/** Made by `SharedConnections.lease`. */
	constructor(
		private readonly connection: ChatConnection,
		readonly options: LeaseOptions,
		private readonly onLeft: (lease: ChatLease) => void,
	) {
		this.since = connection.attempts;
		if (options.onEvent) this.subscribe(options.onEvent, options.onTooLarge);
	}

	/** Aborted when nothing more will come: it was closed, or there is no connection to be had (`ending`). */
	get signal(): AbortSignal {
		return this.over.signal;
	}

	/** Why there is no connection to be had; null while there may be, and after `close()`. */
	get ending(): ChatEnded | null {
		return this.endedWith;
	}

	/** Why the latest attempt to connect did not last, while another one follows; null if none has failed. */
	get lastFailure(): ChatEnded | null {
		return this.connection.giveUpReason(NO_PATIENCE);
	}

	/** Whether the session's connection is held right now. */
	get isHeld(): boolean {
		return this.connection.isHeld;
	}

	/** Resolves when the session's connection is held, or will not be for this holder. */
	async ready(): Promise<Readiness> {
		const readiness = await this.connection.ready(this.signal);
		return this.signal.aborted ? this.unavailable() : readiness;
	}

	/** Every event from now on, once. Returns a function that ends the subscription; closing the lease ends it too. */
	subscribe(listener: (event: ChatEvent) => void, onTooLarge?: OnTooLarge): () => void {
		const unsubscribe = this.connection.subscribe(listener, onTooLarge);
		const stop = () => {
			unsubscribe();
			this.subscriptions.delete(stop);
		};
		this.subscriptions.add(stop);
		return stop;
	}

	/** Waits until it is this holder's turn to send; the function it returns ends the turn and has to be called. */
	async acquireSend(): Promise<() => void> {
		return await this.connection.acquireSend(this.signal);
	}

	/** Sends one frame and waits for its ack. Within `myTurn`, so that the conversation keeps its order. */
	async sendWithAck(frame: OutgoingFrame, timeoutMs: number): Promise<AckResult> {
		const exchange = await this.connection.sendWithAck(frame, timeoutMs, this.signal);
		const hasEnded = exchange.kind === 'not_sent' && this.signal.aborted;
		return hasEnded ? { ...exchange, readiness: this.unavailable() } : exchange;
	}

	/** Gives the lease up. The connection is closed a moment later unless somebody else holds it. */
	close(): void {
		this.leave();
	}

	/** Called by the shared connection. */
	end(ending: ChatEnded): void {
		if (this.signal.aborted) return;
		this.endedWith = ending;
		this.leave();
		try {
			this.options.onEnded?.(ending);
		} catch (cause) {
			this.options.log.warn('The end of a chat session connection could not be handed on', {
				cause: String(cause),
			});
		}
	}

	/** An event from before this lease. */
	receive(event: ChatEvent): void {
		if (!this.signal.aborted) this.options.onEvent?.(event);
	}

	private unavailable(): Exclude<Readiness, { kind: 'open' }> {
		return this.endedWith === null
			? { kind: 'closed_by_us' }
			: { kind: 'ended', ending: this.endedWith };
	}

	private leave(): void {
		if (this.signal.aborted) return;
		for (const stop of [...this.subscriptions]) stop();
		this.over.abort(DONE);
		this.onLeft(this);
	}
}
