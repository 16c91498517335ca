import { sleep, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import { explained, ExplainedError, InvalidInput } from '../shared/api/errors';
import { pause } from '../shared/clock';
import { cancelSignal } from '../shared/n8n/cancel';
import { clock, connect } from '../shared/n8n/connect';
import { ExecutionMemory } from '../shared/n8n/executionMemory';
import { NodeParameters } from '../shared/n8n/nodeParameters';
import { runsAsTool } from '../shared/n8n/toolRun';
import { collectColumns, resolveColumns, unreadFile } from './feed/columns';
import { openCampaign, rehearse } from './feed/dryRun';
import type { FeedOutcome } from './feed/feed';
import { LookUp } from './feed/lookUp';
import { prepareFeed } from './feed/prepare';
import { FeedProgress } from './feed/progress';
import { pushFeed } from './feed/push';
import { emptyRecord, isFeedRecord } from './feed/record';
import { feedRows, knownRows } from './feedRows';
import { forgetFed, readForget } from './forgetFed';
import { inTurnOfMemory, openFedStore } from './fedStore';
import { inTurn } from './inTurn';
import { readFeedSettings, readPresentation, type Presentation } from './feedSettings';

export type Fed = {
	outcome: FeedOutcome;
	presentation: Presentation;
	/** Whether this try sent a request; otherwise all that was pushed comes from an earlier one. */
	hasSent: boolean;
	/** By row, as they are sent. */
	phones: readonly string[];
};

const breathe = async () => await sleep(0);

/**
 * Checks everything before the first request leaves, then pushes.
 *
 * @throws when nothing was sent; what happens to a request is told by the outcome
 */
export async function runFeed(context: IExecuteFunctions): Promise<Fed> {
	const { items } = feedRows(context);
	const parameters = new NodeParameters(context);
	const presentation = readPresentation(parameters);
	const withoutSending = (outcome: FeedOutcome, phones: readonly string[] = []): Fed => ({
		outcome,
		presentation,
		hasSent: false,
		phones,
	});
	const forget = readForget(parameters);
	if (forget !== undefined) {
		return withoutSending(await forgetFed(context, parameters, items, forget, breathe));
	}
	const found = await collectColumns(items, breathe);
	if (found.size === 0) return withoutSending(emptyFeed(context));

	const { columns: choice, ...settings } = await readFeedSettings(context, parameters);
	const columns = resolveColumns(found, choice, items);
	const { client } = await connect(context);
	const prepared = await prepareFeed(items, columns, settings, breathe);

	if (settings.dryRun) {
		const outcome = await rehearse(
			client,
			settings.campaign.id,
			items.length,
			prepared,
			settings.skipFedBefore,
		);
		return withoutSending(outcome, prepared.phones);
	}

	const progress = openProgress(context);
	const signal = cancelSignal(context);
	const push = {
		...settings,
		client,
		columns,
		forModel: runsAsTool(context),
		stopRequested: () => signal.aborted,
		fedStore: settings.skipFedBefore ? openFedStore(context) : undefined,
		lookUp: settings.lookUpUnknown
			? new LookUp(client, settings.campaign, async (ms) => await pause(clock, ms, signal))
			: undefined,
	};
	// What is noted before it leaves takes long to be taken out again.
	if (settings.skipFedBefore) await openCampaign(client, settings.campaign.id);
	const send = async (): Promise<Fed> => {
		const { length: sentBefore } = progress.record.sent;
		const outcome = await pushFeed(items, prepared, push, progress);
		const hasSent = progress.record.sent.length > sentBefore;
		return { outcome, presentation, hasSent, phones: prepared.phones };
	};
	// As a tool, the node may be called again before it is done.
	const inOrder = async () => await inTurn(progress.record, send);
	return settings.skipFedBefore ? await inTurnOfMemory(context, inOrder) : await inOrder();
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
	const { items } = knownRows(context);
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

/** No rows today is an ordinary day; a file that nobody has read yet is a slip in the workflow. */
function emptyFeed(context: IExecuteFunctions): FeedOutcome {
	if (feedRows(context).items.some(({ binary }) => binary !== undefined)) throw unreadFile();
	return { received: 0, pushed: [], unsentRows: [] };
}

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
