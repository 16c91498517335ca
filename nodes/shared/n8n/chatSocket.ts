import type { IExecuteFunctions, ITriggerFunctions } from 'n8n-workflow';
import { fingerprint } from '../service/chat/chatInput';
import { ChatConnection, type ConnectionOptions } from '../service/chatSocket/connection';
import { mintToken } from '../service/chatSocket/mint';
import { requestWsToken } from '../service/endpoints';
import { clock, type Connection } from './connect';

export type ChatSocketOptions = Pick<
	ConnectionOptions,
	'takeOver' | 'onEvent' | 'onEnded' | 'limits'
>;

/** Opens the lasting connection to one chat session; `close()` ends it. */
export function openChatSocket(
	context: IExecuteFunctions | ITriggerFunctions,
	{ service, baseUrl }: Connection,
	sessionId: string,
	options: ChatSocketOptions,
): ChatConnection {
	return new ChatConnection({
		...options,
		sessionId,
		baseUrl,
		clientId: clientId(context),
		mintToken: async () => await mintToken(async () => await requestWsToken(service, sessionId)),
		openSocket: (url) => new WebSocket(url),
		clock,
		random: Math.random,
		log: context.logger,
	}).start();
}

/**
 * The same across reconnects and restarts, another for each node, and naming nothing of the instance.
 * A trial in the editor is a client of its own, so that it cannot push an active workflow out.
 */
function clientId(context: IExecuteFunctions | ITriggerFunctions): string {
	const { id: workflowId = '' } = context.getWorkflow();
	const use = context.getMode() === 'manual' ? 'trial' : 'production';
	const name = fingerprint(context.getInstanceId(), workflowId, context.getNode().id, use);
	return `n8n-${name.slice(0, 32)}`;
}
