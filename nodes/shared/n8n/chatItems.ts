import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { alreadyDone, type Deed } from './alreadyDone';
import { ChatSocketPool } from './chatSocketPool';
import { readConcurrency } from './options';
import type { Connection } from './connect';
import { KeyedQueue } from './keyedQueue';
import { sendEachItem } from './itemLoop';
import type { Sending, Turn } from './once';
import type { OperationRun } from './operations';
import type { NodeParameters } from './nodeParameters';

export type ChatItem = { parameters: NodeParameters; index: number };

export type ChatDesk = {
	context: IExecuteFunctions;
	connection: Connection;
	sockets: ChatSocketPool;
};

/** Reads and checks one item without doing anything, and gives back what is to be sent. */
export type Prepare = (item: ChatItem) => Sending<ChatDesk>;

export type ChatLoopOptions = {
	/** How it is told that earlier items were done when a later one stops the run. */
	deed: Deed;
	/** Items under way at once where the person sets nothing. */
	concurrency?: number;
};

/** Sends each item once; what concerns the same session is done in the order of the items. */
export async function forEachChatItem(
	{ context, parameters, connection }: OperationRun,
	prepare: Prepare,
	{ deed, concurrency = 1 }: ChatLoopOptions,
): Promise<INodeExecutionData[]> {
	const sockets = new ChatSocketPool(context);
	const order = new KeyedQueue(context.continueOnFail());
	const turnOf = (index: number): Turn => {
		const session = parameters.text('sessionId', index);
		return async (job) => (session === '' ? await job() : await order.run(session, job));
	};
	try {
		return await sendEachItem(context, (index) => prepare({ parameters, index }), {
			open: async () => ({ context, connection: await connection(), sockets }),
			turnOf,
			concurrency: readConcurrency(parameters, concurrency),
			describeDone: alreadyDone(deed),
		});
	} finally {
		sockets.closeAll();
	}
}
