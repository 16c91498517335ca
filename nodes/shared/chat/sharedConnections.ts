import { randomUUID } from 'crypto';
import { type Clock, DONE, pause } from '../clock';
import { fingerprint } from '../hash';
import { KeyedMutex } from '../keyedMutex';
import { ChatConnection, type ConnectionOptions } from './connection';
import type { OnEvent } from './eventDispatcher';
import { sessionKey } from './parseChatFields';
import type { ChatEnded, Retry } from './reconnectPolicy';

type ArrivedEvent = Parameters<OnEvent>;

type FromLease = 'sessionId' | 'baseUrl' | 'mintToken' | 'hideApiToken' | 'log';

export interface LeaseOptions extends Pick<ConnectionOptions, FromLease> {
	/** Identifies the account: a fingerprint of the API token, never the token itself. */
	account: string;
	/** Instance ID of n8n. Part of the `client_id`. */
	instanceId: string;
	/** A trigger never gives up. An action gives up after a few attempts. */
	usedBy: 'trigger' | 'action';
	/** The user confirmed that another client may lose the session. */
	disconnectOther: boolean;
	/** How long an action tries to connect. By default, `ACTION_PATIENCE_MS`. */
	patienceMs?: number;
	/** Called once for each event from now on, in the order of arrival. */
	onEvent?: OnEvent;
	/** For a trigger, once an outage: the session has been lost for a while, and the connection tries again. */
	onLost?: (ending: ChatEnded) => void;
	/** Called at most once, if no connection is possible. Never called after `close()`. */
	onEnded?: (ending: ChatEnded) => void;
}

/**
 * How long a shared connection stays open after its last action, so that the next item or execution can reuse it. Shorter
 * than the first reconnect, so that an action in another process gets through on its first retry.
 */
const LINGER_MS = 500;

/** An execution waits for the result of an action, so an action gives up after four or five attempts. */
const ACTION_PATIENCE_MS = 10_000;

/** A trigger reports a lost session after about a minute. */
const TRIGGER_PATIENCE_MS = 45_000;

type SocketParts = Pick<ConnectionOptions, 'openSocket' | 'clock' | 'random'>;

/**
 * The chat connections of one n8n process: one per session, shared by all nodes, workflows, and executions. A connection
 * lasts while it has a user, and half a second longer after an action. Every user gets every event once. Sends run one after
 * another (`acquireSend`). `claim=1` is sent if at least one user may take over.
 *
 * A connection keeps its `client_id` when it reconnects, as the document asks. In the process of the published triggers, all
 * connections have an ID that stays the same when n8n restarts, also those that an action opens, so that the service knows
 * which events a trigger missed. Other processes (workers in queue mode) have their own, so that the service rejects them.
 * With the same ID, it might treat a worker as a reconnect of the trigger, and the two would displace each other.
 */
export class SharedConnections {
	private readonly shared = new Map<string, SharedConnection>();

	/** The service may reject two sockets of one client, so the previous one must close first. */
	private readonly sockets = new KeyedMutex();

	private readonly processId = randomUUID();

	/** The published triggers of this process, also those without a session. */
	private readonly publishedTriggers = new Set<object>();

	constructor(private readonly parts: SocketParts) {}

	/** @returns a function to call when the trigger has closed */
	addPublishedTrigger(trigger: object): () => void {
		this.publishedTriggers.add(trigger);
		return () => this.publishedTriggers.delete(trigger);
	}

	/** Joins the connection of the session, or opens it. */
	lease(options: LeaseOptions): ChatLease {
		const { baseUrl, account, sessionId } = options;
		const key = fingerprint([baseUrl, account, sessionKey(sessionId)]);
		const owner = this.publishedTriggers.size > 0 ? 'triggers' : this.processId;
		const clientId = `n8n-${fingerprint([options.instanceId, owner, key]).slice(0, 32)}`;
		const shared = this.shared.get(key) ?? this.open(key, options, clientId);
		return shared.join(options, clientId);
	}

	private open(key: string, options: LeaseOptions, clientId: string): SharedConnection {
		const admitted = this.sockets.acquire(key);
		const opened = new SharedConnection(this.parts, options, {
			clientId,
			admitted,
			onClosing: (closed) => {
				this.shared.delete(key);
				void Promise.all([admitted, closed]).then(([release]) => release());
			},
		});
		this.shared.set(key, opened);
		return opened;
	}
}

interface SharedConnectionOptions {
	clientId: string;
	/** Resolves when the previous connection has closed. */
	admitted: Promise<unknown>;
	/** The connection is no longer used. `closed` resolves when its socket has ended. */
	onClosing: (closed: Promise<void>) => void;
}

/** The connection of a session with its users. */
class SharedConnection {
	private readonly connection: ChatConnection;

	private readonly leases = new Set<ChatLease>();

	/** Events that arrived since an action left, for the next one. */
	private missed: ArrivedEvent[] = [];
	private stopCollecting = () => {};

	constructor(
		private readonly parts: SocketParts,
		/** Applies after the last user has left. */
		private lastLease: LeaseOptions,
		private readonly options: SharedConnectionOptions,
	) {
		// The same for every user, because the key of a connection has the account.
		const { sessionId, baseUrl, hideApiToken, log } = lastLease;
		this.connection = new ChatConnection({
			...parts,
			sessionId,
			baseUrl,
			hideApiToken,
			log,
			clientId: options.clientId,
			mayDisconnectOther: () => [...this.leases].some((lease) => lease.options.disconnectOther),
			mintToken: async () => {
				await options.admitted;
				return await this.leading().mintToken();
			},
			onFailed: (ending, retry) => {
				for (const lease of [...this.leases]) lease.failed(ending, retry);
			},
			onEnded: (ending) => {
				options.onClosing(Promise.resolve());
				for (const lease of [...this.leases]) lease.end(ending);
			},
		}).start();
	}

	join(options: LeaseOptions, clientId: string): ChatLease {
		const { connection, parts } = this;
		const missed = options.usedBy === 'action' ? this.takeMissed() : [];
		const leave = () => this.leave(lease);
		const lease: ChatLease = new ChatLease(connection, parts.clock, options, missed, leave);
		this.leases.add(lease);
		connection.retryNow();
		// An action may have opened the connection before the trigger was published.
		if (options.usedBy === 'trigger') connection.changeClientId(clientId);
		return lease;
	}

	private closeIfUnused(): void {
		if (this.leases.size > 0 || this.connection.signal.aborted) return;
		this.options.onClosing(this.connection.close());
	}

	private leave(lease: ChatLease): void {
		this.leases.delete(lease);
		this.lastLease = lease.options;
		// The next connection of a trigger gets the events in between by the replay.
		if (lease.options.usedBy === 'action') void this.linger();
		else this.closeIfUnused();
	}

	private async linger(): Promise<void> {
		this.takeMissed();
		const { missed } = this;
		this.stopCollecting = this.connection.subscribe((...arrived) => missed.push(arrived));
		await pause(this.parts.clock, LINGER_MS, this.connection.signal);
		// Otherwise another action has come since, and the pause after it counts.
		if (this.missed !== missed) return;
		this.takeMissed();
		this.closeIfUnused();
	}

	private takeMissed(): ArrivedEvent[] {
		const { missed } = this;
		this.stopCollecting();
		this.missed = [];
		return missed;
	}

	/** The user whose credential the connection uses: a trigger outlives an execution. */
	private leading(): LeaseOptions {
		const leases = [...this.leases].map(({ options }) => options);
		return leases.find(({ usedBy }) => usedBy === 'trigger') ?? leases.at(-1) ?? this.lastLease;
	}
}

/**
 * One node's use of the shared connection of a session, which gets the signal of the lease. The node must always close it.
 * Closing doesn't end the connection for other nodes.
 */
export class ChatLease {
	private readonly closed = new AbortController();

	private readonly unsubscribe: () => void;

	/** When this lease first saw a failed attempt after a healthy connection, by `clock.elapsed()`. */
	private failingSince: number | null = null;

	private isReported = false;

	/** Created by `SharedConnections.lease`. */
	constructor(
		readonly connection: ChatConnection,
		private readonly clock: Clock,
		readonly options: LeaseOptions,
		/** Events that arrived since the action before, such as the node before in the same execution. */
		readonly missed: readonly ArrivedEvent[],
		private readonly onClosed: () => void,
	) {
		this.unsubscribe = connection.subscribe(options.onEvent ?? (() => {}));
	}

	/** Aborted when the lease ends: with a `ChatEnded` if no connection is possible. */
	get signal(): AbortSignal {
		return this.closed.signal;
	}

	/** Ends the lease. The connection closes if nobody else uses it. */
	close(): void {
		this.release(DONE);
	}

	/** Called by the shared connection after a failed attempt: ends the lease of an action, or reports the loss. */
	failed(ending: ChatEnded, { isLasting, isFirst }: Retry): void {
		const now = this.clock.elapsed();
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

	/** Called by the shared connection. */
	end(ending: ChatEnded): void {
		if (this.release(ending)) this.options.onEnded?.(ending);
	}

	private release(reason: typeof DONE | ChatEnded): boolean {
		if (this.signal.aborted) return false;
		this.unsubscribe();
		this.closed.abort(reason);
		this.onClosed();
		return true;
	}
}
