import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { forEachChatItem, type Prepare } from '../shared/n8n/chatItems';
import { connectOnce } from '../shared/n8n/connect';
import { NodeParameters } from '../shared/n8n/nodeParameters';
import { answerInteraction } from './answerInteraction';
import { SESSIONS_AT_ONCE } from './optionsFields';
import { sendByAsync } from './sendByAsync';
import { sendByInbound } from './sendByInbound';
import { sendByLegacy } from './sendByLegacy';
import { sendBySocket } from './sendBySocket';

const WAYS: { [way: string]: Prepare } = {
	socket: sendBySocket,
	inbound: sendByInbound,
	async: sendByAsync,
	legacy: sendByLegacy,
};

/** Sends each item once; messages of the same session go in the order of the items. */
export async function sendItems(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const parameters = new NodeParameters(context);
	const isAnswer = parameters.value('operation', 0) === 'answerInteraction';
	const way = isAnswer ? answerInteraction : (WAYS[parameters.text('sendBy', 0)] ?? sendBySocket);
	const run = { context, parameters, connection: connectOnce(context) };
	return await forEachChatItem(run, way, {
		concurrency: way === sendBySocket || isAnswer ? SESSIONS_AT_ONCE : 1,
		deed: { one: 'message was already sent', several: 'messages were already sent' },
	});
}
