import omit from 'lodash/omit';
import { sleep, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import { explained, ExplainedError, InvalidInput } from '../shared/api/errors';
import { connect } from '../shared/n8n/connect';
import { ExecutionMemory } from '../shared/n8n/executionMemory';
import { NodeParameters } from '../shared/n8n/nodeParameters';
import { runsAsTool } from '../shared/n8n/toolRun';
import { collectColumns, resolveColumns } from './feed/columns';
import type { FeedOutcome } from './feed/feed';
import { prepareFeed } from './feed/prepare';
import { FeedProgress } from './feed/progress';
import { pushFeed } from './feed/push';
import { emptyRecord, isFeedRecord, type FeedRecord } from './feed/record';
import { readFeedSettings, readPresentation, type Presentation } from './feedSettings';

export type Fed = {
	outcome: FeedOutcome;
	presentation: Presentation;
	/** Whether this try sent a request; otherwise all that was pushed comes from an earlier one. */
	hasSent: boolean;
};

const breathe = async () => await sleep(0);

/**
 * Checks everything before the first request leaves, then pushes.
 *
 * @throws when nothing was sent; what happens to a request is told by the outcome
 */
export async function runFeed(context: IExecuteFunctions): Promise<Fed> {
	const items = feedRows(context);
	const parameters = new NodeParameters(context);
	const presentation = readPresentation(parameters);
	const found = await collectColumns(items, breathe);
	if (found.size === 0) return { outcome: emptyFeed(context), presentation, hasSent: false };

	const { columns: choice, ...settings } = await readFeedSettings(context, parameters);
	const columns = resolveColumns(found, choice);
	const { client } = await connect(context);
	const prepared = await prepareFeed(items, columns, settings, breathe);

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

/** What became of the rows when this try could not even begin: what an earlier one did still holds. */
export function couldNotBegin(context: IExecuteFunctions, error: unknown): FeedOutcome {
	const stopped =
		error instanceof ExplainedError
			? error
			: new InvalidInput(
					error instanceof Error ? error.message : String(error),
					'Nothing was sent.',
				);
	const items = context.getInputData();
	const earlier = earlierTries(context, items);
	// Where nothing can be read of earlier tries, they may have sent any row.
	const status = earlier === undefined ? 'unknown' : 'not_sent';
	const outcome = earlier ?? { received: items.length, pushed: [], unsentRows: [] };
	const known = new Set([
		...outcome.pushed.flatMap(({ rows }) => rows),
		...outcome.unsentRows.map(({ index }) => index),
	]);
	const reason = `${stopped.message}. ${stopped.resolution}`;
	for (const index of items.keys()) {
		if (!known.has(index)) outcome.unsentRows.push({ index, status, reason });
	}
	outcome.unsentRows.sort((one, other) => one.index - other.index);
	return { ...outcome, stopped };
}

function earlierTries(
	context: IExecuteFunctions,
	items: INodeExecutionData[],
): FeedOutcome | undefined {
	try {
		return openProgress(context).known(items);
	} catch (error) {
		explained(error);
		return undefined;
	}
}

/** The input; an AI agent adds the ID of its own call, which is no column of the row. */
export function feedRows(context: IExecuteFunctions): INodeExecutionData[] {
	const items = context.getInputData();
	if (!runsAsTool(context)) return items;
	return items.map((item) => ({ ...item, json: omit(item.json, 'toolCallId') }));
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

/** Feeds of one record one after another: as a tool, the node may be called again before it is done. */
const turns = new WeakMap<FeedRecord, Promise<unknown>>();

/**
 * How far the feed of this run has come, kept with the execution: on *Retry On Fail* and on *Retry*
 * what was pushed, or may have been, is known from here and never sent a second time.
 *
 * @throws InvalidInput where what an earlier try did cannot be read
 */
function openProgress(context: IExecuteFunctions): FeedProgress {
	const memory = new ExecutionMemory(context, 'feed', isFeedRecord);
	const record = memory.read() ?? emptyRecord();
	memory.write(record);
	return new FeedProgress(record);
}

async function inTurn<T>({ record }: FeedProgress, feed: () => Promise<T>): Promise<T> {
	const earlier = turns.get(record) ?? Promise.resolve();
	const mine = earlier.then(feed, feed);
	turns.set(record, mine);
	return await mine;
}
