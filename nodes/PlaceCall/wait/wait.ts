import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Connection } from '../../shared/n8n/connect';
import { requireWayBack, resumeAddress } from './resumeAddress';
import { restoreInput, sleepUntilOver } from './sleepUntilOver';
import { waitByReading } from './waitByReading';
import { readWaitLimit, readWaitMode } from './waitSettings';

/** *Wait for Completion* of one run. */
export type Wait = {
	/** Where the service is to report each call. */
	address?: string;
	/** Turns the placed calls into the output, now or when the execution is awake again. */
	finish(placed: INodeExecutionData[]): Promise<INodeExecutionData[]>;
};

/** What could stand in the way of waiting is found before anyone is called. */
export async function prepareWait(
	context: IExecuteFunctions,
	connected: () => Promise<Connection>,
): Promise<Wait> {
	const mode = readWaitMode(context);
	if (mode === 'off') return { finish: async (placed) => placed };
	const limit = readWaitLimit(context);
	if (mode === 'reading') {
		return {
			finish: async (placed) => {
				const { client } = await connected();
				return await waitByReading(context, client, placed, limit);
			},
		};
	}
	restoreInput(context);
	const address = resumeAddress(context);
	await requireWayBack(context, address);
	return {
		address,
		finish: async (placed) => await sleepUntilOver(context, placed, address, limit),
	};
}
