import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { hintsFor } from './feed/hints';
import { pushedItems, rejectedItems, summaryItem } from './outputs';
import { usualPresentation } from './readSettings';
import { runFeed } from './runFeed';
import { couldNotBegin, feedStopped, stoppedItem } from './stopped';

/** Feeds the input into the campaign: what was pushed, and every row for which nobody is called. */
export async function pushRows(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const { outcome, presentation } = await runFeed(context).catch((error: unknown) => {
		const begun = couldNotBegin(context, error);
		if (context.continueOnFail()) return { outcome: begun, presentation: usualPresentation };
		throw feedStopped(context, error, begun);
	});
	if (outcome.stopped !== undefined && !context.continueOnFail()) {
		throw feedStopped(context, outcome.stopped, outcome);
	}

	const { inSummary, withDuplicates } = presentation;
	const pushed = inSummary ? [summaryItem(outcome)] : pushedItems(outcome);
	context.addExecutionHints(...hintsFor(outcome).map((message) => ({ message })));
	return [
		[...stoppedItem(context, outcome), ...pushed],
		rejectedItems(context, outcome, withDuplicates),
	];
}
