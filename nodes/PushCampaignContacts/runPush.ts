import type { IExecuteFunctions } from 'n8n-workflow';
import { explained, ExplainedError, InvalidInput } from '../shared/api/errors';
import { forEveryone } from '../shared/api/modelAdvice';
import { pause } from '../shared/clock';
import { cancelSignal } from '../shared/n8n/run/cancel';
import { clock, createAccountClient } from '../shared/n8n/http/accountClient';
import { ExecutionStore } from '../shared/n8n/idempotency/executionStore';
import type { OperationRun } from '../shared/n8n/run/operations';
import { runsAsTool } from '../shared/n8n/tools/toolRun';
import { openWriteAheadLog } from '../shared/n8n/idempotency/writeAheadLog';
import { beganBefore, isRowsMemory } from './push/begunRows';
import type { ByRow } from './push/phoneArrays';
import { resolveColumns } from './push/columns';
import { openCampaign, performDryRun } from './push/dryRun';
import type { PushOutcome } from './push/pushTypes';
import { ContactListFinder } from './push/findContactList';
import { prepareRows } from './push/prepareRows';
import { PushProgress, optionsFingerprint, type KnownOutcome } from './push/progress';
import { begunRowsOptions, pushToCampaign, type BegunLog } from './push/pushRunner';
import { emptyCheckpoint, isPushCheckpoint } from './push/checkpoint';
import type { RowSource, FoundColumns } from './push/rows';
import { isSentNumbersRecord, SentNumbers } from './push/sentNumbers';
import { knownRows, openRows, type InputRows } from './inputRows';
import { forgetPushedNumbers, readForget } from './forgetPushedNumbers';
import { runExclusiveOnStore, openNodeStore } from '../shared/n8n/idempotency/nodeStore';
import { runExclusive } from '../shared/keyedMutex';
import {
	PUSHED_NUMBERS_STORE,
	readPushSettings,
	readOutputOptions,
	type PushSettings,
	type OutputOptions,
} from './pushSettings';

export type PushResult = {
	outcome: PushOutcome;
	presentation: OutputOptions;
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
export async function runPush(run: OperationRun): Promise<PushResult> {
	const { context, parameters } = run;
	let rows = await openRows(run);
	const { source } = rows;
	const presentation = readOutputOptions(parameters.at(0));
	const withoutSending = (outcome: PushOutcome, phones: ByRow<string> = []): PushResult => ({
		outcome,
		presentation,
		hasSent: false,
		rows,
		phones,
	});
	const forget = readForget(parameters.at(0));
	if (forget !== undefined) {
		return withoutSending(await forgetPushedNumbers(run, source, forget));
	}
	const found = await source.columns();
	if (found.names.size === 0) return withoutSending(noRows(found));

	const { columns: choice, ...settings } = await readPushSettings(run);
	const columns = resolveColumns(found, choice);
	if (columns.note !== undefined) rows = { ...rows, notes: [...(rows.notes ?? []), columns.note] };
	const { client } = await createAccountClient(context);
	const prepared = await prepareRows(source, columns, {
		...settings,
		isTool: runsAsTool(context),
	});

	if (settings.dryRun) {
		const outcome = await performDryRun(
			client,
			settings.campaign.id,
			source.count,
			prepared,
			settings.skipPushedBefore,
		);
		return withoutSending(outcome, prepared.phones);
	}

	const progress = openProgress(context);
	progress.requireSameFile(source);
	const signal = cancelSignal(context);
	const push = {
		...settings,
		client,
		columns,
		isTool: runsAsTool(context),
		stopRequested: () => signal.aborted,
		begun: await openBegunRows(context, settings),
		sentNumbers: openSentNumbers(context, settings),
		numberStore: settings.skipPushedBefore
			? openNodeStore(context, PUSHED_NUMBERS_STORE)
			: undefined,
		lookUp: settings.lookUpUnknown
			? new ContactListFinder(
					client,
					settings.campaign,
					async (ms) => await pause(clock, ms, signal),
				)
			: undefined,
	};
	// What is noted before it leaves takes long to be taken out again.
	if (settings.skipPushedBefore) await openCampaign(client, settings.campaign.id);
	const begun = settings.skipPushedBefore ? begunRowsOptions(push, progress) : undefined;
	const isAnotherPush = begun !== undefined && (await beganBefore(begun));
	const send = async (): Promise<PushResult> => {
		const { length: sentBefore } = progress.record.sent;
		const outcome = await pushToCampaign(source, prepared, { ...push, isAnotherPush }, progress);
		const hasSent = progress.record.sent.length > sentBefore;
		return { outcome, presentation, hasSent, rows, phones: prepared.phones };
	};
	// As a tool, the node may be called again before it is done.
	const inOrder = async () => await runExclusive(progress.record, send);
	return settings.skipPushedBefore ? await runExclusiveOnStore(context, inOrder) : await inOrder();
}

/** A workflow pushes a number once in an execution; a model in its run or session, whichever tool it uses. */
function openSentNumbers(
	context: IExecuteFunctions,
	{ campaign, additions }: Pick<PushSettings, 'campaign' | 'additions'>,
): SentNumbers {
	const isTool = runsAsTool(context);
	const place = isTool ? 'workflow' : 'node';
	const span = isTool ? 'run' : 'execution';
	const memory = new ExecutionStore(context, 'numbers', isSentNumbersRecord, place, span);
	const record = memory.read() ?? {};
	memory.write(record);
	const options = isTool ? optionsFingerprint(campaign, additions) : undefined;
	return new SentNumbers(record, campaign.id, options);
}

/** Undefined where n8n keeps nothing that could be retried, or where the numbers pushed before are all that counts. */
async function openBegunRows(
	context: IExecuteFunctions,
	{ skipPushedBefore: skipPushedBefore }: Pick<PushSettings, 'skipPushedBefore'>,
): Promise<BegunLog | undefined> {
	const log = await openWriteAheadLog(context, { isSharedStore: true });
	if (log === undefined || (skipPushedBefore && log.isFirstAttempt)) return undefined;
	const kept = new ExecutionStore(context, 'rows', isRowsMemory, 'node', 'execution');
	const memory = kept.read() ?? {};
	kept.write(memory);
	return { log, memory, executionId: context.getExecutionId() };
}

/** What became of the rows when this try could not even begin: what an earlier one did still holds. */
export async function outcomeOfFailedStart(
	run: OperationRun,
	error: unknown,
): Promise<{ outcome: PushOutcome; rows: InputRows }> {
	const stopped =
		error instanceof ExplainedError
			? error
			: new InvalidInput(
					error instanceof Error ? error.message : String(error),
					forEveryone('Nothing was sent.'),
				);
	const rows = await knownRows(run);
	const { source } = rows;
	const { outcome, isAll } = await earlierAttempts(run.context, source);
	// What cannot be told of earlier tries may have been any row.
	const status = isAll ? 'not_sent' : 'unknown';
	const known = new Set([
		...outcome.pushed.flatMap(({ rows }) => rows),
		...outcome.rejectedRows.map(({ index }) => index),
	]);
	const reason = `${stopped.message}. ${stopped.resolution}`;
	for (let index = 0; index < source.count; index++) {
		if (!known.has(index)) outcome.rejectedRows.push({ index, status, reason });
	}
	outcome.rejectedRows.sort((one, other) => one.index - other.index);
	return { outcome: { ...outcome, stopped, isEarlier: true }, rows };
}

async function earlierAttempts(
	context: IExecuteFunctions,
	source: RowSource,
): Promise<KnownOutcome> {
	try {
		return await openProgress(context).known(source);
	} catch (error) {
		explained(error);
		return { outcome: { received: source.count, pushed: [], rejectedRows: [] }, isAll: false };
	}
}

/** No rows today is an ordinary day; a file that nobody has read yet is a slip in the workflow. */
function noRows(found: FoundColumns): PushOutcome {
	const slip = found.slip();
	if (slip !== undefined) throw slip;
	return { received: 0, pushed: [], rejectedRows: [] };
}

/**
 * How far the push of this run has come, kept with the execution: on *Retry On Fail* and on *Retry*
 * what was pushed, or may have been, is known from here and never sent a second time.
 *
 * @throws InvalidInput where what an earlier try did cannot be read
 */
function openProgress(context: IExecuteFunctions): PushProgress {
	const memory = new ExecutionStore(context, 'push', isPushCheckpoint);
	const record = memory.read() ?? emptyCheckpoint();
	memory.write(record);
	return new PushProgress(record);
}
