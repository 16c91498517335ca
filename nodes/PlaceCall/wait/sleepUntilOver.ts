import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { clock } from '../../shared/n8n/connect';
import { GRACE_MS, keepPinging } from './pingResumeUrl';
import { callIdOf, jsonOf } from './waitedItem';
import { endOfWait } from './waitSettings';

/** Name of the field that tells, while the execution sleeps, until when. */
export const WAITS_UNTIL = 'waits_until';

/** Stands where n8n itself ends the sleep: by its own limit, or by *Retry* of an execution stopped meanwhile. */
const NOT_READ =
	'This call was not looked at when the wait ended: n8n was restarted during the wait, n8n did not reach its own webhook address, or the execution was stopped and retried. Read the call with Get Call.';

/** The input as it was, for n8n's "Retry On Fail", which may run the node again on the same items. */
const originals = new WeakMap<INodeExecutionData, INodeExecutionData>();

export function restoreInput(context: IExecuteFunctions): void {
	for (const item of context.getInputData()) Object.assign(item, originals.get(item));
}

/**
 * Puts the execution to sleep in n8n's database. Its input items are what n8n keeps with it, so they
 * become the placed calls; should n8n's own limit end the sleep, they are the output.
 */
export async function sleepUntilOver(
	context: IExecuteFunctions,
	placed: INodeExecutionData[],
	address: string,
	limit: number,
): Promise<INodeExecutionData[]> {
	// Fewer than the input came out when the person stopped the execution.
	const isStopped = placed.length < context.getInputData().length;
	if (isStopped || placed.every((item) => callIdOf(item) === undefined)) return placed;
	const until = endOfWait(placed.map(jsonOf), limit, clock.now());
	// With *Execute Once* n8n keeps the items that were not executed as well: they are no calls.
	if (context.getNode().executeOnce === true) context.getExecuteData().data.main?.[0]?.splice(1);
	context.getInputData().forEach((item, index) => {
		const call = placed[index];
		if (call === undefined) return;
		originals.set(item, { ...item });
		const waits = {
			timed_out: true,
			not_read: NOT_READ,
			[WAITS_UNTIL]: new Date(until).toISOString(),
		};
		item.json = callIdOf(call) === undefined ? call.json : { ...call.json, ...waits };
		delete item.binary;
	});
	await context.putExecutionToWait(new Date(until + GRACE_MS));
	void keepPinging(context, address, until, false);
	return placed;
}
