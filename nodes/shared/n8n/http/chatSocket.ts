import type { IExecuteFunctions, ITriggerFunctions } from 'n8n-workflow';
import { requestWsToken } from '../../api/endpoints';
import { NotSent } from '../../api/errors';
import { onScreenOnly } from '../../api/resolution';
import { type ChatLease, type LeaseOptions, SharedConnections } from '../../chat/sharedConnections';
import { readWsToken } from '../../chat/token';
import { clock, type AccountClient } from './accountClient';
import { cancelSignal, requireRunning } from '../run/cancel';

/** The chat connections of this n8n process. */
const connections = new SharedConnections({
	openSocket: (url) => new WebSocket(url),
	clock,
	random: Math.random,
});

/** See `SharedConnections`. */
export const addPublishedTrigger = connections.addPublishedTrigger.bind(connections);

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
		usedBy: 'emit' in context ? 'trigger' : 'action',
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

/** Uses the connection of a session for one item. It's closed afterwards, on Stop, and at the time limit of a tool. */
export async function withChatSocket<T>(
	context: IExecuteFunctions,
	connection: AccountClient,
	sessionId: string,
	options: Pick<ChatSocketOptions, 'disconnectOther' | 'patienceMs'>,
	job: (lease: ChatLease) => Promise<T>,
): Promise<T> {
	requireRunning(context);
	const lease = openChatSocket(context, connection, sessionId, options);
	const end = cancelSignal(context);
	const stop = () => lease.close();
	end.addEventListener('abort', stop, { once: true });
	try {
		return await job(lease);
	} finally {
		end.removeEventListener('abort', stop);
		lease.close();
	}
}
