import { randomUUID } from 'crypto';
import { fingerprint } from '../hash';
import { sessionKey } from './parseChatFields';
import { ChatConnection, type ConnectionOptions } from './connection';
import { pause } from '../clock';
import {
	LINGER_AFTER_ACTION_MS,
	LINGER_AFTER_TRIGGER_MS,
	MAX_RECONNECT_ATTEMPTS,
	MAX_SLOW_POLLS,
} from './timings';
import type { Log } from './eventDispatcher';
import { ChatLease, type LeaseIdentity, type LeaseOptions } from './lease';
import { MissedEvents } from './missedEvents';
import type { PolicyLimits } from './reconnectPolicy';
import { BoundedMap } from '../boundedMap';
import { SentFrames } from './sentFrames';

/** How long a lease retries if the session can't be connected. */
interface RetryLimits extends PolicyLimits {
	/** How long the connection stays open after its last lease. */
	lingerMs: number;
}

/** A trigger follows a session for days, so it waits for an outage to end, and 10 minutes for an inactive agent. */
const TRIGGER_LIMITS: RetryLimits = {
	reconnectAttempts: MAX_RECONNECT_ATTEMPTS,
	slowPolls: MAX_SLOW_POLLS,
	lingerMs: LINGER_AFTER_TRIGGER_MS,
};

/** An execution waits for the result of an action, so an action gives up soon. */
const ACTION_LIMITS: RetryLimits = {
	reconnectAttempts: 4,
	slowPolls: 0,
	lingerMs: LINGER_AFTER_ACTION_MS,
};

/** Sessions whose outstanding acks are remembered. */
const MAX_SESSIONS = 5_000;

type SocketParts = Pick<ConnectionOptions, 'openSocket' | 'clock' | 'random'>;

/**
 * The chat connections of one n8n process: one per session, shared by all nodes, workflows, and executions. A connection
 * lasts while it has a lease, and shortly after. How it serves several leases:
 *
 * - Every lease gets every event once. Sends run one after another (`acquireSend`).
 * - The connection retries as long as the lease with the highest limits does. Other leases end when their own limits are
 *   reached.
 * - A new lease makes a failed connection retry immediately instead of after a slow poll.
 * - The connection sends `claim=1` while at least one lease may take over, by the rules of `ReconnectPolicy`.
 * - Tokens are requested for the lease with the highest limits.
 * - A trigger whose lease has ended joins again as soon as another node has connected the session (`whenConnected`).
 *
 * A connection keeps its `client_id` when it reconnects, as the document asks. While an active trigger uses a connection in
 * this process or waits for one, new connections get a `client_id` that also stays the same when n8n restarts. Otherwise it
 * differs per process, so that the service rejects a second process (queue mode). With the same `client_id`, the service
 * might treat the second process as a reconnect of the first, and the two would displace each other.
 */
export class SharedConnections {
	private readonly shared = new Map<string, SharedConnection>();

	private readonly sent = new BoundedMap<SentFrames>(MAX_SESSIONS);

	private readonly closing = new Map<string, Promise<void>>();

	private readonly waiting = new Set<WaitingTrigger>();

	private readonly processId = randomUUID();

	constructor(private readonly parts: SocketParts) {}

	/** Joins the connection of the session, or opens it. */
	lease(options: LeaseOptions): ChatLease {
		const key = keyOf(options);
		const clientId = this.clientId(key, options);
		const existing = this.shared.get(key);
		// Opened by an action: a trigger needs the `client_id` that it also has after a restart.
		if (
			options.usedBy === 'trigger' &&
			existing?.isReplaceable === true &&
			existing.clientId !== clientId
		) {
			existing.close();
		}
		return (this.shared.get(key) ?? this.open(key, clientId, options)).join(options);
	}

	/**
	 * For a trigger whose lease has ended: calls `onConnected` when another node has connected the session. The next lease of
	 * the trigger gets the events since that connection began.
	 *
	 * @returns a function that ends the wait
	 */
	whenConnected(trigger: LeaseIdentity, onConnected: () => void): () => void {
		const waiting = { key: keyOf(trigger), node: trigger.node, onConnected };
		this.waiting.add(waiting);
		return () => this.waiting.delete(waiting);
	}

	private open(key: string, clientId: string, options: LeaseOptions): SharedConnection {
		const session = sessionKey(options.sessionId);
		const sent = this.sent.get(key) ?? new SentFrames();
		this.sent.set(key, sent);
		// With another credential, or before an edit of this one. The service would treat it as another client.
		const replaced = [...this.shared.values()].filter(
			(one) => one.isIdle && one.session === session,
		);
		const opened = new SharedConnection(this.parts, options, {
			clientId,
			sent,
			// The service may reject two sockets of one client, so the previous one must close first.
			previousClosed: async () => await this.closing.get(session),
			onClosing: (closed) => {
				if (this.shared.get(key) === opened) this.shared.delete(key);
				const earlier = this.closing.get(session);
				const gone = closed
					.then(async () => await earlier)
					.finally(() => {
						if (this.closing.get(session) === gone) this.closing.delete(session);
					});
				this.closing.set(session, gone);
			},
		});
		for (const one of replaced) opened.replace(one);
		for (const one of this.waiting) if (one.key === key) void this.invite(one, opened);
		this.shared.set(key, opened);
		return opened;
	}

	private async invite(trigger: WaitingTrigger, connection: SharedConnection): Promise<void> {
		const isConnected = await connection.keepMissedUntilConnected(trigger.node);
		if (isConnected && this.waiting.has(trigger)) trigger.onConnected();
	}

	private clientId(key: string, { usedBy, instanceId }: LeaseOptions): string {
		const owner = usedBy === 'trigger' || this.hasTrigger() ? 'trigger' : this.processId;
		return `n8n-${fingerprint([instanceId, owner, key]).slice(0, 32)}`;
	}

	private hasTrigger(): boolean {
		return this.waiting.size > 0 || [...this.shared.values()].some((one) => one.hasTrigger);
	}
}

/** The same for all leases that share a connection. */
function keyOf({ baseUrl, account, sessionId }: LeaseIdentity): string {
	return fingerprint([baseUrl, account, sessionKey(sessionId)]);
}

interface WaitingTrigger {
	/** See `keyOf`. */
	key: string;
	node: string;
	onConnected: () => void;
}

interface SharedConnectionOptions {
	clientId: string;
	sent: SentFrames;
	previousClosed: () => Promise<void>;
	/** The connection is no longer used. `closed` resolves when its socket has ended. */
	onClosing: (closed: Promise<void>) => void;
}

class SharedConnection {
	private readonly connection: ChatConnection;

	private readonly leases = new Set<ChatLease>();

	private readonly missed: MissedEvents;

	/** Aborted by the next lease. */
	private joined = new AbortController();

	constructor(
		private readonly parts: SocketParts,
		/** Applies if nobody has a lease. */
		private lastLease: LeaseOptions,
		private readonly options: SharedConnectionOptions,
	) {
		const { sessionId, baseUrl } = lastLease;
		const log: Log = {
			debug: (...entry) => this.leadingLease().log.debug(...entry),
			info: (...entry) => this.leadingLease().log.info(...entry),
			warn: (...entry) => this.leadingLease().log.warn(...entry),
		};
		this.connection = new ChatConnection({
			...parts,
			sessionId,
			baseUrl,
			clientId: options.clientId,
			sent: options.sent,
			needs: () => ({
				...retryLimits(this.leadingLease()),
				disconnectOther: [...this.leases].some((lease) => lease.options.disconnectOther),
			}),
			log,
			mintToken: async () => {
				await options.previousClosed();
				return await this.leadingLease().mintToken();
			},
			hideApiToken: (text) => this.leadingLease().hideApiToken(text),
			onAttemptFailed: () => this.endExhaustedLeases(),
			onEnded: (ending) => {
				options.onClosing(Promise.resolve());
				for (const lease of [...this.leases]) lease.end(ending);
			},
		});
		this.missed = new MissedEvents(parts.clock, this.connection.signal);
		this.connection.subscribe((event) => this.missed.add(event));
	}

	get clientId(): string {
		return this.options.clientId;
	}

	get session(): string {
		return sessionKey(this.lastLease.sessionId);
	}

	/** Whether the connection has no lease and closes soon. */
	get isIdle(): boolean {
		return this.leases.size === 0;
	}

	/** Whether the connection can close now without losing events that it keeps for a trigger. */
	get isReplaceable(): boolean {
		return this.isIdle && this.missed.isEmpty;
	}

	get hasTrigger(): boolean {
		return [...this.leases].some(({ options }) => options.usedBy === 'trigger');
	}

	join(options: LeaseOptions): ChatLease {
		const lease = new ChatLease(this.connection, options, (left) => this.leave(left));
		this.leases.add(lease);
		this.joined.abort();
		this.joined = new AbortController();
		if (options.usedBy === 'trigger') void this.replayMissed(lease);
		this.connection.start().retryNow();
		return lease;
	}

	/** Delivers the missed events after `join` has returned the lease. */
	private async replayMissed(lease: ChatLease): Promise<void> {
		const missed = this.missed.take(lease.options.node);
		await Promise.resolve();
		for (const event of missed) lease.receive(event);
	}

	private leave(lease: ChatLease): void {
		this.leases.delete(lease);
		this.lastLease = lease.options;
		if (this.connection.signal.aborted) return;
		const { usedBy, node } = lease.options;
		if (usedBy === 'trigger' && !this.isUsedByTrigger(node)) void this.missed.keepFor(node);
		if (this.leases.size === 0) void this.linger();
	}

	/** Closes an idle connection of the session, and takes the events that it keeps for triggers. */
	replace(other: SharedConnection): void {
		this.missed.takeOver(other.missed);
		other.close();
	}

	/** Keeps the events for a trigger that joins once the session is connected. @returns whether it is */
	async keepMissedUntilConnected(node: string): Promise<boolean> {
		const ready = this.connection.ready();
		void this.missed.keepFor(node, [], ready);
		return (await ready).kind === 'open';
	}

	private isUsedByTrigger(node: string): boolean {
		return [...this.leases].some(
			({ options }) => options.usedBy === 'trigger' && options.node === node,
		);
	}

	/** Closes the connection unless there is a new lease. */
	private async linger(): Promise<void> {
		const { clock } = this.parts;
		const { lingerMs } = this.missed.isEmpty ? retryLimits(this.lastLease) : TRIGGER_LIMITS;
		const endedOrJoined = AbortSignal.any([this.connection.signal, this.joined.signal]);
		if ((await pause(clock, lingerMs, endedOrJoined)) && this.isIdle) this.close();
	}

	close(): void {
		this.options.onClosing(this.connection.close());
	}

	/** Ignores attempts that began before the lease, because they didn't use its settings. */
	private endExhaustedLeases(): void {
		for (const lease of [...this.leases]) {
			const ending = this.connection.giveUpReason(retryLimits(lease.options));
			if (ending !== null && lease.attemptsBefore < this.connection.attempts) lease.end(ending);
		}
	}

	private leadingLease(): LeaseOptions {
		const leases = [...this.leases].map(({ options }) => options);
		return (
			leases.find((one) => retryLimits(one) === TRIGGER_LIMITS) ?? leases.at(-1) ?? this.lastLease
		);
	}
}

function retryLimits({ usedBy }: LeaseOptions): RetryLimits {
	return usedBy === 'action' ? ACTION_LIMITS : TRIGGER_LIMITS;
}
