import type { IExecuteFunctions, ITriggerFunctions } from 'n8n-workflow';
import { requestWsToken } from '../../api/endpoints';
import { NotSent } from '../../api/errors';
import { onScreenOnly } from '../../api/resolution';
import { sessionKey } from '../../chat/parseChatFields';
import type { ChatLease, LeaseIdentity, LeaseOptions } from '../../chat/lease';
import type { StopReason } from '../../chat/eventDispatcher';
import { SharedConnections } from '../../chat/sharedConnections';
import { SLOW_POLL_MS } from '../../chat/timings';
import { mintToken } from '../../chat/token';
import { fingerprint } from '../../hash';
import { clock, type AccountClient } from './accountClient';
import { requireRunning } from '../run/cancel';
import { deadlineOf } from '../tools/toolDeadline';

/** The chat connections of this n8n process. */
const connections = new SharedConnections({
	openSocket: (url) => new WebSocket(url),
	clock,
	random: Math.random,
});

export type ChatSocketOptions = Pick<
	LeaseOptions,
	'disconnectOther' | 'onEvent' | 'onTooLarge' | 'onEnded'
>;

/** Leases this process's shared connection to a chat session, and opens it if necessary. `close()` ends the lease. */
export function openChatSocket(
	context: IExecuteFunctions | ITriggerFunctions,
	connection: AccountClient,
	sessionId: string,
	options: ChatSocketOptions,
): ChatLease {
	requireWebSocket();
	const { client } = connection;
	return connections.lease({
		...options,
		...identityOf(context, connection, sessionId),
		instanceId: context.getInstanceId(),
		usedBy: usedByOf(context),
		mintToken: async () => await mintToken(async () => await requestWsToken(client, sessionId)),
		hideApiToken: (text) => client.hideApiToken(text),
		log: context.logger,
	});
}

/** See `SharedConnections.whenConnected`. */
export function whenChatConnected(
	context: ITriggerFunctions,
	connection: AccountClient,
	sessionId: string,
	onConnected: () => void,
): () => void {
	return connections.whenConnected(identityOf(context, connection, sessionId), onConnected);
}

function identityOf(
	context: IExecuteFunctions | ITriggerFunctions,
	{ baseUrl, account }: AccountClient,
	sessionId: string,
): LeaseIdentity {
	const node = fingerprint([context.getWorkflow().id ?? '', context.getNode().id]);
	return { sessionId, baseUrl, account, node };
}

/** @throws NotSent if Node.js has no WebSocket, which it has from version 22 */
export function requireWebSocket(): void {
	if (typeof WebSocket !== 'undefined') return;
	throw new NotSent(
		'Live chat needs Node.js 22 or later, so nothing was sent',
		onScreenOnly(
			"Ask your n8n administrator to update Node.js. Until then, in Chat Send, set 'Send Via' to 'Request With Immediate Reply'.",
		),
		undefined,
		false,
		'n8n',
	);
}

function usedByOf(context: IExecuteFunctions | ITriggerFunctions): LeaseOptions['usedBy'] {
	if (!('emit' in context)) return 'action';
	return context.getMode() === 'manual' ? 'test' : 'trigger';
}

/** Idle connections to keep for later items of the same session. */
const MAX_IDLE = 10;

/** The chat connections of a node run. They're kept for later items, and closed at the end or on Stop. */
export class ChatSocketPool {
	private readonly inUse = new Set<ChatLease>();

	/** The lease of a session's latest item, most recently used last. */
	private readonly idle = new Map<string, ChatLease>();

	/** When each failed lease ended, by `clock.elapsed()`. */
	private readonly endedAt = new WeakMap<ChatLease, number>();

	constructor(private readonly context: IExecuteFunctions) {
		context.onExecutionCancellation(() => this.closeAll('stopped'));
		const onTimeLimit = () => this.closeAll('time_limit');
		deadlineOf(context)?.signal.addEventListener('abort', onTimeLimit, { once: true });
	}

	async use<T>(
		connection: AccountClient,
		sessionId: string,
		disconnectOther: boolean,
		job: (lease: ChatLease) => Promise<T>,
	): Promise<T> {
		requireRunning(this.context);
		const lease =
			this.endedLease(sessionId, disconnectOther) ??
			this.lease(connection, sessionId, disconnectOther);
		this.inUse.add(lease);
		try {
			return await job(lease);
		} finally {
			this.inUse.delete(lease);
			this.keep(sessionId, lease);
		}
	}

	closeAll(reason: StopReason = 'stopped'): void {
		for (const lease of [...this.inUse, ...this.idle.values()]) lease.close(reason);
		this.idle.clear();
	}

	/**
	 * The lease of a session that has just failed, so that not every item of the run waits for the same failure. After a while,
	 * another reason may apply, so the session is connected again.
	 */
	private endedLease(sessionId: string, disconnectOther: boolean): ChatLease | null {
		const latest = this.idle.get(sessionKey(sessionId));
		if (latest === undefined || (disconnectOther && !latest.options.disconnectOther)) return null;
		const endedAt = this.endedAt.get(latest) ?? -Infinity;
		return clock.elapsed() - endedAt < SLOW_POLL_MS ? latest : null;
	}

	private lease(connection: AccountClient, sessionId: string, disconnectOther: boolean): ChatLease {
		const onEnded = () => this.endedAt.set(lease, clock.elapsed());
		const lease = openChatSocket(this.context, connection, sessionId, { disconnectOther, onEnded });
		return lease;
	}

	private keep(sessionId: string, lease: ChatLease): void {
		const key = sessionKey(sessionId);
		const before = this.idle.get(key);
		this.idle.delete(key);
		this.idle.set(key, lease);
		if (before !== lease) before?.close();
		for (const [id, surplus] of [...this.idle].slice(0, -MAX_IDLE)) {
			this.idle.delete(id);
			surplus.close();
		}
	}
}
