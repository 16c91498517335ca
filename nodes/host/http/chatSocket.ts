import { randomUUID } from 'crypto';
import type { IExecuteFunctions, ITriggerFunctions } from 'n8n-workflow';
import { mintWsToken } from '../../core/service/endpoints';
import { NotSent } from '../../core/service/errors';
import { ChatConnection } from '../../core/chat/connection';
import type { ConnectionUser, UserOptions } from '../../core/chat/connectionUser';
import { sessionKey } from '../../core/chat/parseChatFields';
import { readWsToken, type WsToken } from '../../core/chat/token';
import { fingerprint } from '../../core/values/hash';
import type { CallerRun } from '../caller/caller';
import { clock } from '../clock';
import { type AccountClient } from './accountClient';
import { cancelSignal, requireRunning } from '../execution/cancel';

/** The open connections of this n8n process: one per session. */
const chatConnections = new Map<string, ChatConnection>();

const processId = randomUUID();

/**
 * Joins the connection of the session, or opens it. The caller must close it. It lasts while it has a user: a trigger
 * that follows the session, or an action until it has its ack.
 *
 * A connection keeps its `client_id` when it reconnects, as the document asks. That of a trigger stays the same when n8n
 * restarts, so that the service knows which events the trigger missed. A process in which no trigger uses the session, such
 * as a worker in queue mode, has its own, so that the service rejects it. With the same ID, it might treat a worker as a
 * reconnect of the trigger, and the two would displace each other.
 */
export function joinChat(
	context: IExecuteFunctions | ITriggerFunctions,
	{ baseUrl, account, hideApiToken }: AccountClient,
	sessionId: string,
	options: UserOptions,
): ConnectionUser {
	requireWebSocket();
	const { logger } = context;
	const key = fingerprint([baseUrl, account, sessionKey(sessionId)]);
	const owner = options.usedBy === 'trigger' ? 'triggers' : processId;
	const clientId = `n8n-${fingerprint([context.getInstanceId(), owner, key]).slice(0, 32)}`;
	let connection = chatConnections.get(key);
	if (connection === undefined || connection.isStopped()) {
		const opened = new ChatConnection({
			...{ sessionId, baseUrl, hideApiToken, clock },
			log: (level, message, details) => logger[level](message, { sessionId, ...details }),
			admitted: connection?.closed,
		});
		chatConnections.set(key, opened);
		void opened.closed.then(() => {
			if (chatConnections.get(key) === opened) chatConnections.delete(key);
		});
		connection = opened;
	}
	return connection.join(options, clientId);
}

export async function requestWsToken(
	{ client }: AccountClient,
	sessionId: string,
): Promise<WsToken> {
	return readWsToken(await mintWsToken(client, sessionId));
}

/** @throws NotSent if Node.js has no WebSocket, which it has from version 22 */
export function requireWebSocket(): void {
	if (typeof WebSocket !== 'undefined') return;
	throw new NotSent(
		'Live chat needs Node.js 22 or later, so nothing was sent',
		"In n8n, ask your n8n administrator to update Node.js, or set 'Sending Method' of Chat Send to 'Request With Immediate Reply'.",
		{ isTransient: false, origin: 'n8n' },
	);
}

/** Uses the connection of a session for one item. It's closed afterwards, on Stop, and at the time limit of a tool. */
export async function withChatSocket<T>(
	{ account, ...run }: CallerRun & { account: AccountClient },
	sessionId: string,
	disconnectOther: boolean,
	job: (user: ConnectionUser) => Promise<T>,
): Promise<T> {
	requireRunning(run);
	const mintToken = async () => await requestWsToken(account, sessionId);
	const options = { usedBy: 'action', disconnectOther, mintToken } as const;
	const user = joinChat(run.context, account, sessionId, options);
	const end = cancelSignal(run);
	const stop = () => user.close();
	end.addEventListener('abort', stop, { once: true });
	try {
		return await job(user);
	} finally {
		end.removeEventListener('abort', stop);
		user.close();
	}
}
