import type { IExecuteFunctions, ITriggerFunctions } from 'n8n-workflow';
import { requestWsToken } from '../../core/service/endpoints';
import { NotSent } from '../../core/service/errors';
import { onScreenOnly } from '../../core/service/resolution';
import { ChatConnections } from '../../core/chat/connections';
import type { ConnectionUser, UserOptions } from '../../core/chat/connectionUser';
import { readWsToken } from '../../core/chat/token';
import { clock } from '../clock';
import { type AccountClient } from './accountClient';
import { cancelSignal, requireRunning } from '../execution/cancel';

/** The chat connections of this n8n process. */
const connections = new ChatConnections({
	openSocket: (url) => new WebSocket(url),
	clock,
	random: Math.random,
});

/** See `ChatConnections`. */
export const addPublishedTrigger = connections.addPublishedTrigger.bind(connections);

/** Joins this process's connection to a chat session, and opens it if necessary. The caller must close it. */
export function openChatSocket(
	context: IExecuteFunctions | ITriggerFunctions,
	accountClient: AccountClient,
	sessionId: string,
	options: Omit<UserOptions, 'usedBy' | 'mintToken'>,
): ConnectionUser {
	requireWebSocket();
	const { client, baseUrl, account, hideApiToken } = accountClient;
	const instanceId = context.getInstanceId();
	const session = { sessionId, baseUrl, account, instanceId, hideApiToken, log: context.logger };
	return connections.join(session, {
		...options,
		usedBy: 'emit' in context ? 'trigger' : 'action',
		mintToken: async () => readWsToken(await requestWsToken(client, sessionId)),
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
	accountClient: AccountClient,
	sessionId: string,
	options: Pick<UserOptions, 'disconnectOther' | 'patienceMs'>,
	job: (user: ConnectionUser) => Promise<T>,
): Promise<T> {
	requireRunning(context);
	const user = openChatSocket(context, accountClient, sessionId, options);
	const end = cancelSignal(context);
	const stop = () => user.close();
	end.addEventListener('abort', stop, { once: true });
	try {
		return await job(user);
	} finally {
		end.removeEventListener('abort', stop);
		user.close();
	}
}
