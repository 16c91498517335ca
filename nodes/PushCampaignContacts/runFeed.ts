import { sleep, type IExecuteFunctions } from 'n8n-workflow';
import { connect } from '../shared/n8n/connect';
import { runsAsTool } from '../shared/n8n/toolRun';
import { NodeParameters } from '../shared/n8n/nodeParameters';
import { collectColumns, resolveColumns } from './feed/columns';
import type { FeedOutcome } from './feed/feed';
import { prepareFeed } from './feed/prepare';
import { pushFeed } from './feed/push';
import { InvalidInput } from '../shared/api/errors';
import { inTurn, openProgress } from './feedMemory';
import { feedRows } from './feedRows';
import { readPresentation, readSettings, type Presentation } from './readSettings';

export type Fed = {
	outcome: FeedOutcome;
	presentation: Presentation;
	/** Whether this try sent a request; otherwise all that was pushed comes from an earlier one. */
	hasSent: boolean;
};

const yieldToEventLoop = async () => await sleep(0);

/**
 * Checks everything before the first request leaves, then pushes.
 *
 * @throws when nothing was sent; what happens to a request is told by the outcome
 */
export async function runFeed(context: IExecuteFunctions): Promise<Fed> {
	const items = feedRows(context);
	const parameters = new NodeParameters(context);
	const presentation = readPresentation(parameters);
	const found = await collectColumns(items, yieldToEventLoop);
	if (found.size === 0) return { outcome: emptyFeed(context), presentation, hasSent: false };

	const { columns: choice, ...settings } = await readSettings(context, parameters);
	const columns = resolveColumns(found, choice);
	const { client } = await connect(context);
	const prepared = await prepareFeed(items, columns, settings, yieldToEventLoop);

	const progress = openProgress(context);
	const push = {
		...settings,
		client,
		columns,
		forModel: runsAsTool(context),
		stopRequested: () => context.getExecutionCancelSignal()?.aborted === true,
	};
	return await inTurn(progress, async () => {
		const { length: sentBefore } = progress.record.sent;
		const outcome = await pushFeed(items, prepared, push, progress);
		return { outcome, presentation, hasSent: progress.record.sent.length > sentBefore };
	});
}

/** No rows today is an ordinary day; a file that nobody has read yet is a slip in the workflow. */
function emptyFeed(context: IExecuteFunctions): FeedOutcome {
	if (context.getInputData().some(({ binary }) => binary !== undefined)) {
		throw new InvalidInput(
			'The input is a file whose rows have not been read yet, so nothing was sent',
			'Put an Extract from File node before this one, to turn the file into rows.',
		);
	}
	return { received: 0, pushed: [], unsentRows: [] };
}
