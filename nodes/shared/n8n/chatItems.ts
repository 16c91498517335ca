import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { alreadyDone, type Deed } from './alreadyDone';
import { ChatSocketPool } from './chatSocketPool';
import { readConcurrency } from './concurrency';
import type { Connection } from './connect';
import { InOrder } from './inOrder';
import { forEachItem } from './itemLoop';
import type { OperationRun } from './operations';
import type { Parameters } from './parameters';

export type ChatItem = { parameters: Parameters; index: number };

export type ChatDesk = {
	context: IExecuteFunctions;
	connection: Connection;
	sockets: ChatSocketPool;
};

/** Reads and checks one item without doing anything, and gives back what is to be done. */
export type Prepare = (item: ChatItem) => (desk: ChatDesk) => Promise<INodeExecutionData[]>;

export type ChatLoopOptions = {
	/** How it is told that earlier items were done when a later one stops the run. */
	deed: Deed;
	/** Items under way at once where the person sets nothing. */
	concurrency?: number;
};

/** Acts once on each item; what concerns the same session is done in the order of the items. */
export async function forEachChatItem(
	{ context, parameters, connection }: OperationRun,
	prepare: Prepare,
	{ deed, concurrency = 1 }: ChatLoopOptions,
): Promise<INodeExecutionData[]> {
	const sockets = new ChatSocketPool(context);
	const order = new InOrder(context.continueOnFail());
	const act = async (index: number) => {
		const todo = prepare({ parameters, index });
		const desk = { context, connection: await connection(), sockets };
		const session = parameters.text('sessionId', index);
		return session === ''
			? await todo(desk)
			: await order.run(session, async () => await todo(desk));
	};
	try {
		return await forEachItem(context, act, {
			concurrency: readConcurrency(parameters, concurrency),
			once: true,
			check: (index) => void prepare({ parameters, index }),
			describeDone: alreadyDone(deed),
		});
	} finally {
		sockets.closeAll();
	}
}
