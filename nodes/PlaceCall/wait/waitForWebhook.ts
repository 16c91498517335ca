import { NodeOperationError, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import { StoredDeadline } from '../../shared/clock';
import { cancelSignal } from '../../shared/n8n/run/cancel';
import { clock } from '../../shared/n8n/http/accountClient';
import { runsAsTool } from '../../shared/n8n/tools/toolRun';
import { notesOfWaiting } from '../../shared/n8n/once/openNotes';
import { GRACE_MS, pingResumeUrl, pingUntilResumed } from './resumeUrl';
import { callIdOf, endOfWait, waitingItem } from './waitedItems';

/** n8n's responses at the resume URL of a running execution. 500 if it was started in the editor. */
const RUNNING = [409, 500];

/**
 * Lets the execution wait in n8n's database. n8n stores the input items with it, so they're replaced with the placed
 * calls. If n8n's own limit ends the wait, they're the output.
 */
export async function waitForWebhook(
	context: IExecuteFunctions,
	placed: INodeExecutionData[],
	resumeUrl: string,
	limitMs: number,
): Promise<INodeExecutionData[]> {
	// Otherwise, a stopped execution would continue when its wait ends.
	const isStopped = cancelSignal(context).aborted;
	if (isStopped || placed.every((item) => callIdOf(item) === undefined)) return placed;
	const until = endOfWait(placed, limitMs, clock.now());
	const deadline = new StoredDeadline(clock, until);
	const clearNotes = await notesOfWaiting(context);
	await context.putExecutionToWait(new Date(until + GRACE_MS));
	const task = context.getExecuteData();
	// n8n disables the waiting node when it resumes. A copy keeps later runs of the node enabled.
	task.node = { ...task.node };
	// With *Execute Once*, n8n also stores the items that weren't executed, which aren't calls.
	if (context.getNode().executeOnce === true) task.data.main?.[0]?.splice(1);
	// Last, because *Retry On Fail* would run the node again on the same items.
	context.getInputData().forEach((item, index) => {
		const call = placed[index];
		if (call === undefined) return;
		item.json = callIdOf(call) === undefined ? call.json : waitingItem(call, until);
		delete item.binary;
	});
	void pingUntilResumed(context, resumeUrl, deadline, clearNotes);
	return placed;
}

/** Places no call if n8n can't reach its own resume URL, because only a ping finds calls that end before the wait starts. */
export async function requireResumable(
	context: IExecuteFunctions,
	resumeUrl: string,
): Promise<void> {
	if (runsAsTool(context)) {
		throw new NodeOperationError(
			context.getNode(),
			"A tool can't wait for the completion webhook, so no call was placed",
			{
				description: "Set 'Wait for Completion' to 'By Reading the Call'.",
			},
		);
	}
	if (RUNNING.includes(await pingResumeUrl(context, resumeUrl, 'GET'))) return;
	throw new NodeOperationError(
		context.getNode(),
		"n8n can't reach its own webhook URL, so no call was placed",
		{
			description: `The URL starts with ${new URL(resumeUrl).origin}. Ask your n8n administrator to make it reachable from n8n itself and from the service (WEBHOOK_URL), or set 'Wait for Completion' to 'By Reading the Call'.`,
		},
	);
}
