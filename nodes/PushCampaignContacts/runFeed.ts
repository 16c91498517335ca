import type { IExecuteFunctions } from 'n8n-workflow';
import { explained, ExplainedError, InvalidInput } from '../shared/api/errors';
import { pause } from '../shared/clock';
import { cancelSignal } from '../shared/n8n/cancel';
import { clock, connect } from '../shared/n8n/connect';
import { ExecutionMemory } from '../shared/n8n/executionMemory';
import { NodeParameters } from '../shared/n8n/nodeParameters';
import { runsAsTool } from '../shared/n8n/toolRun';
import type { ByRow } from './feed/byRow';
import { resolveColumns } from './feed/columns';
import { openCampaign, rehearse } from './feed/dryRun';
import type { FeedOutcome } from './feed/feed';
import { LookUp } from './feed/lookUp';
import { prepareFeed } from './feed/prepare';
import { FeedProgress, type KnownOutcome } from './feed/progress';
import { pushFeed } from './feed/push';
import { emptyRecord, isFeedRecord } from './feed/record';
import type { FeedRows, FoundColumns } from './feed/rows';
import { knownRows, openRows, type InputRows } from './feedRows';
import { forgetFed, readForget } from './forgetFed';
import { inTurnOfMemory, openFedStore } from './fedStore';
import { inTurn } from '../shared/inTurn';
import { readFeedSettings, readPresentation, type Presentation } from './feedSettings';

export type Fed = {
	outcome: FeedOutcome;
	presentation: Presentation;
	/** Whether this try sent a request; otherwise all that was pushed comes from an earlier one. */
	hasSent: boolean;
	rows: InputRows;
	/** By row, as they are sent. */
	phones: ByRow<string>;
};

/**
 * Checks everything before the first request leaves, then pushes.
 *
 * @throws when nothing was sent; what happens to a request is told by the outcome
 */
export async function runFeed(context: IExecuteFunctions): Promise<Fed> {
	const rows = await openRows(context);
	const { feed } = rows;
	const parameters = new NodeParameters(context);
	const presentation = readPresentation(parameters);
	const withoutSending = (outcome: FeedOutcome, phones: ByRow<string> = []): Fed => ({
		outcome,
		presentation,
		hasSent: false,
		rows,
		phones,
	});
	const forget = readForget(parameters);
	if (forget !== undefined) {
		return withoutSending(await forgetFed(context, parameters, feed, forget));
	}
	const found = await feed.columns();
	if (found.names.size === 0) return withoutSending(emptyFeed(found));

	const { columns: choice, ...settings } = await readFeedSettings(context, parameters);
	const columns = resolveColumns(found, choice);
	const { client } = await connect(context);
	const prepared = await prepareFeed(feed, columns, settings);

	if (settings.dryRun) {
		const outcome = await rehearse(
			client,
			settings.campaign.id,
			feed.count,
			prepared,
			settings.skipFedBefore,
		);
		return withoutSending(outcome, prepared.phones);
	}

	const progress = openProgress(context);
	progress.demandSameReading(feed);
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
		const outcome = await pushFeed(feed, prepared, push, progress);
		const hasSent = progress.record.sent.length > sentBefore;
		return { outcome, presentation, hasSent, rows, phones: prepared.phones };
	};
	// As a tool, the node may be called again before it is done.
	const inOrder = async () => await inTurn(progress.record, send);
	return settings.skipFedBefore ? await inTurnOfMemory(context, inOrder) : await inOrder();
}

/** What became of the rows when this try could not even begin: what an earlier one did still holds. */
export async function couldNotBegin(
	context: IExecuteFunctions,
	error: unknown,
): Promise<{ outcome: FeedOutcome; rows: InputRows }> {
	const stopped =
		error instanceof ExplainedError
			? error
			: new InvalidInput(
					error instanceof Error ? error.message : String(error),
					'Nothing was sent.',
				);
	const rows = await knownRows(context);
	const { feed } = rows;
	const { outcome, isAll } = await earlierTries(context, feed);
	// What cannot be told of earlier tries may have been any row.
	const status = isAll ? 'not_sent' : 'unknown';
	const known = new Set([
		...outcome.pushed.flatMap(({ rows }) => rows),
		...outcome.unsentRows.map(({ index }) => index),
	]);
	const reason = `${stopped.message}. ${stopped.resolution}`;
	for (let index = 0; index < feed.count; index++) {
		if (!known.has(index)) outcome.unsentRows.push({ index, status, reason });
	}
	outcome.unsentRows.sort((one, other) => one.index - other.index);
	return { outcome: { ...outcome, stopped }, rows };
}

async function earlierTries(context: IExecuteFunctions, feed: FeedRows): Promise<KnownOutcome> {
	try {
		return await openProgress(context).known(feed);
	} catch (error) {
		explained(error);
		return { outcome: { received: feed.count, pushed: [], unsentRows: [] }, isAll: false };
	}
}

/** No rows today is an ordinary day; a file that nobody has read yet is a slip in the workflow. */
function emptyFeed(found: FoundColumns): FeedOutcome {
	const slip = found.slip();
	if (slip !== undefined) throw slip;
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
