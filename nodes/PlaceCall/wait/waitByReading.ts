import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { cancellableSleep } from '../../shared/n8n/cancel';
import { clock } from '../../shared/n8n/connect';
import { readCallRecord } from '../../shared/calls/readBack';
import { readUntilFinished } from './readUntilFinished';
import type { ApiClient } from '../../shared/api/client';
import { callIdOf, jsonOf, waitedItem } from './waitedItem';
import { endOfWait, readFinishedStatuses } from './waitSettings';

/** Keeps the execution running until each placed call shows a finished status, or the limit has passed. */
export async function waitByReading(
	context: IExecuteFunctions,
	client: ApiClient,
	placed: INodeExecutionData[],
	limit: number,
): Promise<INodeExecutionData[]> {
	const callIds = placed.map(callIdOf).filter((callId) => callId !== undefined);
	const calls = await readUntilFinished(
		callIds,
		readFinishedStatuses(context),
		async (callId) => await readCallRecord(client, callId),
		{
			clock: { now: () => clock.now(), sleep: cancellableSleep(context) },
			until: endOfWait(placed.map(jsonOf), limit, clock.now()),
		},
	);
	return placed.map((item, index) => {
		const call = calls.get(callIdOf(item) ?? '');
		return call === undefined ? item : waitedItem(item, index, call);
	});
}
