import type { IExecuteFunctions } from 'n8n-workflow';
import { explained, ExplainedError, InvalidInput } from '../shared/api/errors';
import { forEveryone } from '../shared/api/modelAdvice';
import { pause } from '../shared/clock';
import { cancelSignal } from '../shared/n8n/cancel';
import { clock, connect } from '../shared/n8n/connect';
import { ExecutionMemory } from '../shared/n8n/executionMemory';
import type { OperationRun } from '../shared/n8n/operations';
import { runsAsTool } from '../shared/n8n/toolRun';
import { openWriteAheadLog } from '../shared/n8n/writeAheadLog';
import { beganBefore, isRowsMemory } from './feed/begunRows';
import type { ByRow } from './feed/byRow';
import { resolveColumns } from './feed/columns';
import { openCampaign, rehearse } from './feed/dryRun';
import type { FeedOutcome } from './feed/feed';
import { LookUp } from './feed/lookUp';
import { prepareFeed } from './feed/prepare';
import { FeedProgress, optionsFingerprint, type KnownOutcome } from './feed/progress';
import { begunRowsOptions, pushFeed, type BegunLog } from './feed/push';
import { emptyRecord, isFeedRecord } from './feed/record';
import type { FeedRows, FoundColumns } from './feed/rows';
import { isSentNumbersRecord, SentNumbers } from './feed/sentNumbers';
import { knownRows, openRows, type InputRows } from './feedRows';
import { forgetFed, readForget } from './forgetFed';
import { exclusiveOnStore, openNodeStore } from '../shared/n8n/nodeStore';
import { inTurn } from '../shared/inTurn';
import {
	FED_STORE,
	readFeedSettings,
	readPresentation,
	type FeedSettings,
	type Presentation,
} from './feedSettings';

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
export async function runFeed(run: OperationRun): Promise<Fed> {
	const { context, parameters } = run;
	let rows = await openRows(run);
	const { feed } = rows;
	const presentation = readPresentation(parameters.at(0));
	const withoutSending = (outcome: FeedOutcome, phones: ByRow<string> = []): Fed => ({
		outcome,
		presentation,
		hasSent: false,
		rows,
		phones,
	});
	const forget = readForget(parameters.at(0));
	if (forget !== undefined) {
		return withoutSending(await forgetFed(run, feed, forget));
	}
	const found = await feed.columns();
	if (found.names.size === 0) return withoutSending(emptyFeed(found));

	const { columns: choice, ...settings } = await readFeedSettings(run);
	const columns = resolveColumns(found, choice);
	if (columns.note !== undefined) rows = { ...rows, notes: [...(rows.notes ?? []), columns.note] };
	const { client } = await connect(context);
	const prepared = await prepareFeed(feed, columns, {
		...settings,
		forModel: runsAsTool(context),
	});

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
		begun: await openBegunRows(context, settings),
		sentNumbers: openSentNumbers(context, settings),
		fedStore: settings.skipFedBefore ? openNodeStore(context, FED_STORE) : undefined,
		lookUp: settings.lookUpUnknown
			? new LookUp(client, settings.campaign, async (ms) => await pause(clock, ms, signal))
			: undefined,
	};
	// What is noted before it leaves takes long to be taken out again.
	if (settings.skipFedBefore) await openCampaign(client, settings.campaign.id);
	const begun = settings.skipFedBefore ? begunRowsOptions(push, progress) : undefined;
	const isAnotherPush = begun !== undefined && (await beganBefore(begun));
	const send = async (): Promise<Fed> => {
		const { length: sentBefore } = progress.record.sent;
		const outcome = await pushFeed(feed, prepared, { ...push, isAnotherPush }, progress);
		const hasSent = progress.record.sent.length > sentBefore;
		return { outcome, presentation, hasSent, rows, phones: prepared.phones };
	};
	// As a tool, the node may be called again before it is done.
	const inOrder = async () => await inTurn(progress.record, send);
	return settings.skipFedBefore ? await exclusiveOnStore(context, inOrder) : await inOrder();
}

/** A workflow pushes a number once in an execution; a model in its run or session, whichever tool it uses. */
function openSentNumbers(
	context: IExecuteFunctions,
	{ campaign, additions }: Pick<FeedSettings, 'campaign' | 'additions'>,
): SentNumbers {
	const isTool = runsAsTool(context);
	const place = isTool ? 'workflow' : 'node';
	const span = isTool ? 'run' : 'execution';
	const memory = new ExecutionMemory(context, 'numbers', isSentNumbersRecord, place, span);
	const record = memory.read() ?? {};
	memory.write(record);
	const options = isTool ? optionsFingerprint(campaign, additions) : undefined;
	return new SentNumbers(record, campaign.id, options);
}

/** Undefined where n8n keeps nothing that could be retried, or where the numbers fed before are all that counts. */
async function openBegunRows(
	context: IExecuteFunctions,
	{ skipFedBefore }: Pick<FeedSettings, 'skipFedBefore'>,
): Promise<BegunLog | undefined> {
	const log = await openWriteAheadLog(context, { isSharedStore: true });
	if (log === undefined || (skipFedBefore && log.isFirstAttempt)) return undefined;
	const kept = new ExecutionMemory(context, 'rows', isRowsMemory, 'node', 'execution');
	const memory = kept.read() ?? {};
	kept.write(memory);
	return { log, memory, executionId: context.getExecutionId() };
}

/** What became of the rows when this try could not even begin: what an earlier one did still holds. */
export async function couldNotBegin(
	run: OperationRun,
	error: unknown,
): Promise<{ outcome: FeedOutcome; rows: InputRows }> {
	const stopped =
		error instanceof ExplainedError
			? error
			: new InvalidInput(
					error instanceof Error ? error.message : String(error),
					forEveryone('Nothing was sent.'),
				);
	const rows = await knownRows(run);
	const { feed } = rows;
	const { outcome, isAll } = await earlierTries(run.context, feed);
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
	return { outcome: { ...outcome, stopped, isEarlier: true }, rows };
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
