import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { alreadyDone } from '../shared/n8n/alreadyDone';
import { readConcurrency } from '../shared/n8n/options';
import { connectOnce } from '../shared/n8n/connect';
import { sendEachItem } from '../shared/n8n/itemLoop';
import { NodeParameters } from '../shared/n8n/nodeParameters';
import { prepareCall } from './placeOne';
import { prepareWait } from './wait/wait';

/** Calls each item's person once, and waits for the calls to be over where that is wanted. */
export async function placeCalls(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const connected = connectOnce(context);
	const wait = await prepareWait(context, connected);
	const parameters = new NodeParameters(context);
	const prepare = (index: number) => prepareCall(context, parameters, index, wait.address);
	const calls = await sendEachItem(context, prepare, {
		open: connected,
		concurrency: readConcurrency(parameters, 1),
		describeDone: alreadyDone({
			one: 'call was already placed',
			several: 'calls were already placed',
		}),
	});
	return await wait.finish(calls);
}
