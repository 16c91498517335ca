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
import type { ChatEvent } from './frames';
import type { Log } from './eventDispatcher';
import { ChatLease, type LeaseOptions } from './lease';
import type { PolicyLimits } from './reconnectPolicy';
import { BoundedMap } from '../boundedMap';
import { SentFrames } from './sentFrames';

/** How long a holder puts up with a connection that is not to be had. */
interface RetryLimits extends PolicyLimits {
	/** How long the connection is kept after its last holder has left. */
	lingerMs: number;
}

/** A trigger follows a session for days: it waits out an outage, and an inactive agent for ten minutes. */
const TRIGGER_LIMITS: RetryLimits = {
	reconnectAttempts: MAX_RECONNECT_ATTEMPTS,
	slowPolls: MAX_SLOW_POLLS,
	lingerMs: LINGER_AFTER_TRIGGER_MS,
};

/** Somebody waits for what an action does, so it is told soon. */
const ACTION_LIMITS: RetryLimits = {
	reconnectAttempts: 4,
	slowPolls: 0,
	lingerMs: LINGER_AFTER_ACTION_MS,
};

/** Events kept for a trigger that has just left and may come back, as it does when its workflow is published again. */
const MAX_MISSED = 1_000;

/** Sessions of which is known which acks haven't come. */
const MAX_SESSIONS = 5_000;

type SocketParts = Pick<ConnectionOptions, 'openSocket' | 'clock' | 'random'>;

/**
 * The chat connections of one n8n process: one for each session, however many nodes, workflows and executions use it. A
 * connection lives while somebody holds a lease of it, and for a short time after. What its holders want of it is
 * reconciled like this:
 *
 * - Every holder gets every event once. Sends of all holders go one after another (`myTurn`).
 * - The connection is tried for as long as the most patient holder wants. A less patient one is told when its own
 *   patience is over (its lease ends); the connection goes on for the others.
 * - Somebody new makes a connection that is not held try again at once, instead of at the end of a slow poll.
 * - It carries `claim=1` while at least one holder may take over, by the rules of `ReconnectPolicy`.
 * - Tokens are asked for in the name of the most patient holder.
 *
 * The `client_id` is one for the connection, the same over reconnects, because the service replays what came meanwhile to the
 * client that it knows. Of a connection opened while an active trigger holds one in this process it is the same over restarts too. Otherwise it is another
 * one in each process: where n8n runs several (queue mode), a second one is then rejected by the service and told so. With
 * the same `client_id` the service might take the second for the first come back, and the two would throw each other out.
 */
export class SharedConnections {
	private readonly shared = new Map<string, SharedConnection>();

	private readonly sent = new BoundedMap<SentFrames>(MAX_SESSIONS);

	private readonly closing = new Map<string, Promise<void>>();

	/** Of this process, until it ends. */
	private readonly processId = randomUUID();

	constructor(private readonly parts: SocketParts) {}

	/** Joins the session's connection; the first one opens it. */
	lease(options: LeaseOptions): ChatLease {
		const key = fingerprint([options.baseUrl, options.account, sessionKey(options.sessionId)]);
		const clientId = this.clientId(key, options);
		const present = this.shared.get(key);
		// The last one to use it was an action: a trigger comes as the client that it is after a restart, too.
		if (options.holder === 'trigger' && present?.isIdle === true && present.clientId !== clientId) {
			present.close();
		}
		return (this.shared.get(key) ?? this.open(key, clientId, options)).join(options);
	}

	private open(key: string, clientId: string, options: LeaseOptions): SharedConnection {
		const sent = this.sent.get(key) ?? new SentFrames();
		this.sent.set(key, sent);
		const opened = new SharedConnection(this.parts, options, {
			clientId,
			sent,
			// The service may not take the same client for two: the one before has to be gone.
			before: async () => await this.closing.get(key),
			onGone: (closed) => {
				if (this.shared.get(key) === opened) this.shared.delete(key);
				const gone = closed.finally(() => {
					if (this.closing.get(key) === gone) this.closing.delete(key);
				});
				this.closing.set(key, gone);
			},
		});
		this.shared.set(key, opened);
		return opened;
	}

	private clientId(key: string, { holder, instanceId }: LeaseOptions): string {
		const who = holder === 'trigger' || this.followsSessions() ? 'trigger' : this.processId;
		return `n8n-${fingerprint([instanceId, who, key]).slice(0, 32)}`;
	}

	private followsSessions(): boolean {
		return [...this.shared.values()].some((one) => one.isFollowed);
	}
}

interface Surroundings {
	clientId: string;
	sent: SentFrames;
	before: () => Promise<void>;
	/** The connection is in use no longer; `closed` resolves when its socket is gone. */
	onGone: (closed: Promise<void>) => void;
}

class SharedConnection {
	private readonly connection: ChatConnection;

	private readonly leases = new Set<ChatLease>();

	/** The latest to leave stands for the connection until it is closed. */
	private last: LeaseOptions;

	/** By the node of a trigger that has just left: what came since. */
	private readonly kept = new Map<string, ChatEvent[]>();

	/** Aborted when somebody joins. */
	private joined = new AbortController();

	constructor(
		private readonly parts: SocketParts,
		{ sessionId, baseUrl, ...first }: LeaseOptions,
		private readonly around: Surroundings,
	) {
		this.last = { sessionId, baseUrl, ...first };
		const log: Log = {
			debug: (...originalMessage) => this.principal().log.debug(...originalMessage),
			info: (...originalMessage) => this.principal().log.info(...originalMessage),
			warn: (...originalMessage) => this.principal().log.warn(...originalMessage),
		};
		this.connection = new ChatConnection({
			...parts,
			sessionId,
			baseUrl,
			clientId: around.clientId,
			sent: around.sent,
			needs: () => ({
				...patienceOf(this.principal()),
				takeOver: [...this.leases].some((lease) => lease.options.takeOver),
			}),
			log,
			mintToken: async () => {
				await around.before();
				return await this.principal().mintToken();
			},
			onSetback: () => this.tellTheImpatient(),
			onEnded: (ending) => {
				around.onGone(Promise.resolve());
				for (const lease of [...this.leases]) lease.end(ending);
			},
		});
		this.connection.subscribe((event) => this.keep(event));
	}

	get clientId(): string {
		return this.around.clientId;
	}

	/** Whether nobody holds it, and it is only kept for a while. */
	get isIdle(): boolean {
		return this.leases.size === 0;
	}

	get isFollowed(): boolean {
		return [...this.leases].some(({ options }) => options.holder === 'trigger');
	}

	join(options: LeaseOptions): ChatLease {
		const lease = new ChatLease(this.connection, options, (left) => this.leave(left));
		this.leases.add(lease);
		this.joined.abort();
		this.joined = new AbortController();
		if (options.holder === 'trigger') void this.replayMissed(lease);
		this.connection.start().retryNow();
		return lease;
	}

	/** What came since the trigger left, once its lease is in its hands. */
	private async replayMissed(lease: ChatLease): Promise<void> {
		const { node } = lease.options;
		const missed = this.kept.get(node) ?? [];
		this.kept.delete(node);
		await Promise.resolve();
		for (const event of missed) lease.receive(event);
	}

	private leave(lease: ChatLease): void {
		this.leases.delete(lease);
		this.last = lease.options;
		if (this.connection.signal.aborted) return;
		if (lease.options.holder === 'trigger') void this.keepForItsReturn(lease.options);
		if (this.leases.size === 0) void this.linger();
	}

	private async keepForItsReturn({ node }: LeaseOptions): Promise<void> {
		const isBack = [...this.leases].some(
			({ options }) => options.holder === 'trigger' && options.node === node,
		);
		if (isBack) return;
		const kept: ChatEvent[] = [];
		this.kept.set(node, kept);
		await pause(this.parts.clock, LINGER_AFTER_TRIGGER_MS, this.connection.signal);
		if (this.kept.get(node) === kept) this.kept.delete(node);
	}

	/** Closes the connection unless somebody comes. */
	private async linger(): Promise<void> {
		const { clock } = this.parts;
		const { lingerMs } = this.kept.size === 0 ? patienceOf(this.last) : TRIGGER_LIMITS;
		const called = AbortSignal.any([this.connection.signal, this.joined.signal]);
		if ((await pause(clock, lingerMs, called)) && this.isIdle) this.close();
	}

	close(): void {
		this.around.onGone(this.connection.close());
	}

	private keep(event: ChatEvent): void {
		for (const kept of this.kept.values()) {
			kept.push(event);
			if (kept.length > MAX_MISSED) kept.shift();
		}
	}

	/** Only of attempts that began after they had come: an earlier one did not try what they want. */
	private tellTheImpatient(): void {
		for (const lease of [...this.leases]) {
			const ending = this.connection.giveUpReason(patienceOf(lease.options));
			if (ending !== null && lease.since < this.connection.attempts) lease.end(ending);
		}
	}

	private principal(): LeaseOptions {
		const holders = [...this.leases].map(({ options }) => options);
		return holders.find((one) => patienceOf(one) === TRIGGER_LIMITS) ?? holders.at(-1) ?? this.last;
	}
}

function patienceOf({ holder }: LeaseOptions): RetryLimits {
	return holder === 'action' ? ACTION_LIMITS : TRIGGER_LIMITS;
}
