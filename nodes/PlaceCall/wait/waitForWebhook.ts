import { NodeOperationError, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import { StoredDeadline } from '../../shared/clock';
import { cancelSignal } from '../../shared/n8n/run/cancel';
import { clock } from '../../shared/n8n/http/accountClient';
import { runsAsTool } from '../../shared/n8n/tools/toolRun';
import { notesOfWaiting } from '../../shared/n8n/idempotency/writeAheadLog';
import { GRACE_MS, keepPinging, pingResumeUrl } from './resumeUrl';
import { waitingItem, callIdOf, endOfWait } from './waitedItems';

/** What n8n answers at the address of an execution that runs; 500 where a person started it in the editor. */
const NOT_WAITING = [409, 500];

/** The input as it was, for n8n's "Retry On Fail", which may run the node again on the same items. */
const originals = new WeakMap<INodeExecutionData, INodeExecutionData>();

/**
 * Puts the execution to sleep in n8n's database. Its input items are what n8n keeps with it, so they
 * become the placed calls; should n8n's own limit end the sleep, they are the output.
 */
export async function waitForWebhook(
	context: IExecuteFunctions,
	placed: INodeExecutionData[],
	address: string,
	limit: number,
): Promise<INodeExecutionData[]> {
	// A stopped execution would otherwise go on when its wait ends.
	const isStopped = cancelSignal(context).aborted;
	if (isStopped || placed.every((item) => callIdOf(item) === undefined)) return placed;
	const until = endOfWait(placed, limit, clock.now());
	const deadline = new StoredDeadline(clock, until);
	const task = context.getExecuteData();
	// With *Execute Once* n8n keeps the items that were not executed as well: they are no calls.
	if (context.getNode().executeOnce === true) task.data.main?.[0]?.splice(1);
	// n8n switches the node of a sleep off when it ends, and with it further runs in line that share it.
	task.node = { ...task.node };
	context.getInputData().forEach((item, index) => {
		const call = placed[index];
		if (call === undefined) return;
		originals.set(item, { ...item });
		item.json = callIdOf(call) === undefined ? call.json : waitingItem(call, until);
		delete item.binary;
	});
	const clearNotes = await notesOfWaiting(context);
	await context.putExecutionToWait(new Date(until + GRACE_MS));
	void keepPinging(context, address, deadline, clearNotes);
	return placed;
}

export function restoreInput(context: IExecuteFunctions): void {
	for (const item of context.getInputData()) Object.assign(item, originals.get(item));
}

/**
 * A call that is over before the execution sleeps is only found by knocking at this address, so
 * nobody is called where that is impossible.
 */
export async function requireResumable(context: IExecuteFunctions, address: string): Promise<void> {
	if (runsAsTool(context)) {
		throw new NodeOperationError(
			context.getNode(),
			'A tool of an AI agent cannot sleep, so no call was placed',
			{
				description: 'Set Wait for Completion to By Reading the Call, or to Off.',
			},
		);
	}
	if (NOT_WAITING.includes(await pingResumeUrl(context, address, 'GET'))) return;
	throw new NodeOperationError(
		context.getNode(),
		'n8n does not reach its own webhook address, so no call was placed',
		{
			description: `The address begins with ${new URL(address).origin}. Ask whoever runs your n8n to make it reachable from n8n itself and from the service (setting WEBHOOK_URL), or set Wait for Completion to By Reading the Call.`,
		},
	);
}
