import type { IExecuteFunctions, ITriggerFunctions } from 'n8n-workflow';
import { fingerprint } from '../hash';
import { mintToken } from '../chat/token';
import type { ChatLease, LeaseOptions } from '../chat/lease';
import { SharedConnections } from '../chat/sharedConnections';
import { requestWsToken } from '../api/endpoints';
import { clock, type Connection } from './connect';

/** The chat connections of this n8n process. */
const connections = new SharedConnections({
	openSocket: (url) => new WebSocket(url),
	clock,
	random: Math.random,
});

export type ChatSocketOptions = Pick<
	LeaseOptions,
	'takeOver' | 'onEvent' | 'onTooLarge' | 'onEnded'
>;

/** Joins the connection to one chat session that this process shares, opening it if need be; `close()` gives it up. */
export function openChatSocket(
	context: IExecuteFunctions | ITriggerFunctions,
	{ client, baseUrl, account }: Connection,
	sessionId: string,
	options: ChatSocketOptions,
): ChatLease {
	return connections.lease({
		...options,
		sessionId,
		baseUrl,
		account,
		instanceId: context.getInstanceId(),
		holder: holderOf(context),
		node: fingerprint([context.getWorkflow().id ?? '', context.getNode().id]),
		mintToken: async () => await mintToken(async () => await requestWsToken(client, sessionId)),
		log: context.logger,
	});
}

function holderOf(context: IExecuteFunctions | ITriggerFunctions): LeaseOptions['holder'] {
	if (!('emit' in context)) return 'action';
	return context.getMode() === 'manual' ? 'trial' : 'trigger';
}
