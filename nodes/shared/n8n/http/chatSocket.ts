import type { IExecuteFunctions, ITriggerFunctions } from 'n8n-workflow';
import { requestWsToken } from '../../api/endpoints';
import { NotSent } from '../../api/errors';
import { onScreenOnly } from '../../api/resolution';
import type { StopReason } from '../../chat/eventDispatcher';
import { type ChatLease, type LeaseOptions, SharedConnections } from '../../chat/sharedConnections';
import { readWsToken } from '../../chat/token';
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
	'disconnectOther' | 'patienceMs' | 'onEvent' | 'onLost' | 'onEnded'
>;

/** Leases this process's shared connection to a chat session, and opens it if necessary. `close()` ends the lease. */
export function openChatSocket(
	context: IExecuteFunctions | ITriggerFunctions,
	connection: AccountClient,
	sessionId: string,
	options: ChatSocketOptions,
): ChatLease {
	requireWebSocket();
	const { client, baseUrl, account, hideApiToken } = connection;
	return connections.lease({
		...options,
		sessionId,
		baseUrl,
		account,
		instanceId: context.getInstanceId(),
		usedBy: usedByOf(context),
		mintToken: async () => readWsToken(await requestWsToken(client, sessionId)),
		hideApiToken,
		log: context.logger,
	});
}

/** @throws NotSent if Node.js has no WebSocket, which it has from version 22 */
export function requireWebSocket(): void {
	if (typeof WebSocket !== 'undefined') return;
	throw new NotSent(
		'Live chat needs Node.js 22 or later, so nothing was sent',
		onScreenOnly(
			"Ask your n8n administrator to update Node.js. Until then, in Chat Send, set 'Send Via' to 'Request With Immediate Reply'.",
		),
		{ isTransient: false, origin: 'n8n' },
	);
}

function usedByOf(context: IExecuteFunctions | ITriggerFunctions): LeaseOptions['usedBy'] {
	if (!('emit' in context)) return 'action';
	return context.getMode() === 'manual' ? 'test' : 'trigger';
}

/** The chat connections of a node run. They're closed on Stop. */
export class ChatSocketPool {
	private readonly inUse = new Set<ChatLease>();

	constructor(private readonly context: IExecuteFunctions) {
		context.onExecutionCancellation(() => this.closeAll('stopped'));
		const onTimeLimit = () => this.closeAll('time_limit');
		deadlineOf(context)?.signal.addEventListener('abort', onTimeLimit, { once: true });
	}

	async use<T>(
		connection: AccountClient,
		sessionId: string,
		options: Pick<ChatSocketOptions, 'disconnectOther' | 'patienceMs'>,
		job: (lease: ChatLease) => Promise<T>,
	): Promise<T> {
		requireRunning(this.context);
		const lease = openChatSocket(this.context, connection, sessionId, options);
		this.inUse.add(lease);
		try {
			return await job(lease);
		} finally {
			this.inUse.delete(lease);
			lease.close();
		}
	}

	closeAll(reason: StopReason = 'stopped'): void {
		for (const lease of this.inUse) lease.close(reason);
	}
}
