import once from 'lodash/once';
import type { IExecuteFunctions } from 'n8n-workflow';
import { asSentence, explained, ExplainedError, InvalidInput } from '../shared/api/errors';
import { forEveryone, onScreenOnly } from '../shared/api/resolution';
import { BoundedMap } from '../shared/boundedMap';
import { cancelSignal } from '../shared/n8n/run/cancel';
import { createAccountClient } from '../shared/n8n/http/accountClient';
import { ExecutionStore } from '../shared/n8n/idempotency/executionStore';
import type { OperationRun } from '../shared/n8n/run/operations';
import { runsAsTool } from '../shared/n8n/tools/toolRun';
import { nodeKeyOf } from '../shared/n8n/idempotency/nodeStore';
import { openWriteAheadLog } from '../shared/n8n/idempotency/openWriteAheadLog';
import { mayHaveBegunAny } from '../shared/n8n/idempotency/sentBefore';
import { beganBefore, isRowsMemory, type RowsMemory } from './push/begunPush';
import type { ByRow } from './push/phonesByRow';
import { resolveColumns } from './push/columns';
import { openCampaign, performDryRun } from './push/dryRun';
import type { PushOutcome } from './push/pushTypes';
import { prepareRows } from './push/prepareRows';
import { optionsFingerprint } from './push/attemptSettings';
import { PushProgress, type KnownOutcome } from './push/progress';
import { begunRowsOptions, type BegunLog } from './push/pushOptions';
import { pushToCampaign } from './push/pushToCampaign';
import { emptyCheckpoint, isPushCheckpoint } from './push/checkpoint';
import { RejectedRows } from './push/rejectedRows';
import type { RowSource, FoundColumns } from './push/rows';
import { RowSet } from './push/rowSet';
import { isSentNumbersRecord, SentNumbers } from './push/sentNumbers';
import type { InputRowsOfRun } from './inputRows';
import type { FinishedPush } from './pushOutput';
import { openRememberedNumbers } from '../shared/n8n/idempotency/rememberedNumbers';
import { runExclusive } from '../shared/keyedMutex';
import {
	PUSHED_NUMBERS_STORE,
	readOutput,
	readPushSettings,
	type PushSettings,
	type Output,
} from './pushSettings';
import { requireSameColumns } from './sameForAllRows';

export type PushResult = FinishedPush & {
	output: Output;
	/** False if everything that was pushed comes from earlier attempts. */
	hasSent: boolean;
};

/**
 * Checks everything, then pushes.
 *
 * @throws if nothing was sent. The outcome reports what happened to the requests.
 */
export async function runPush(run: OperationRun, input: InputRowsOfRun): Promise<PushResult> {
	const { context, parameters } = run;
	let rows = await input.open();
	const { source } = rows;
	const output = readOutput(parameters.at(0));
	const withoutSending = (outcome: PushOutcome, phones: ByRow<string> = []): PushResult => ({
		outcome,
		output,
		hasSent: false,
		rows,
		phones,
	});
	const found = await source.columns();
	if (found.names.size === 0) return withoutSending(noRows(found));

	const { columns: choice, ...settings } = await readPushSettings(run);
	const columns = resolveColumns(found, choice);
	await requireSameColumns(run);
	if (columns.note !== undefined) rows = { ...rows, notes: [...(rows.notes ?? []), columns.note] };
	const { client } = await createAccountClient(context);
	const isTool = runsAsTool(context);
	const prepared = await prepareRows(source, columns, { isTool });

	requireOutputFits(source, output);

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
		isTool,
		stopRequested: () => signal.aborted,
		begun: await openBegunRows(context, settings),
		sentNumbers: openSentNumbers(context, settings),
	};
	// Numbers are recorded before they are sent, and removing them takes long.
	if (settings.skipPushedBefore) await openCampaign(client, settings.campaign.id);
	const begun = settings.skipPushedBefore ? begunRowsOptions(push, progress) : undefined;
	const isAnotherPush = begun !== undefined && (await beganBefore(begun));
	const send = async (): Promise<PushResult> => {
		const { length: sentBefore } = progress.record.sent;
		const pushedNumbers = settings.skipPushedBefore
			? openRememberedNumbers(context, PUSHED_NUMBERS_STORE)
			: undefined;
		const markExecution = once(async () => await beginNumbers(context, settings));
		const options = { ...push, isAnotherPush, pushedNumbers, markExecution };
		const outcome = await pushToCampaign(source, prepared, options, progress);
		const hasSent = progress.record.sent.length > sentBefore;
		return { outcome, output, hasSent, rows, phones: prepared.phones };
	};
	// An AI agent may call the tool again while it runs.
	return await runExclusive(progress.record, send);
}

/** Before anything is sent, because n8n could run out of memory when the push has ended. */
function requireOutputFits({ count, outputLimit }: RowSource, output: Output): void {
	if (output !== 'rows' || outputLimit === undefined || count <= outputLimit.maxRows) return;
	const [rows, max] = [count, outputLimit.maxRows].map((number) => number.toLocaleString('en-US'));
	throw new InvalidInput(
		`The file has ${rows} rows, but with 'Output' set to 'One Item per Row', a file can have at most ${max}. Nothing was sent`,
		onScreenOnly(
			"Set 'Output' in 'Options' to 'One Item per Request' or 'One Summary Item', or split the file.",
		),
	);
}

/** The list of numbers doesn't show which execution pushed them, but {@link mayHaveBegunAny} must know it. */
async function beginNumbers(
	context: IExecuteFunctions,
	{ campaign }: Pick<PushSettings, 'campaign'>,
): Promise<void> {
	const log = await openWriteAheadLog(context);
	await log?.begin(['numbers', campaign.id]);
}

/** A workflow pushes a number once per execution. A model pushes it once per agent run or MCP session, across all tools. */
function openSentNumbers(
	context: IExecuteFunctions,
	{ campaign, additions }: Pick<PushSettings, 'campaign' | 'additions'>,
): SentNumbers {
	const isTool = runsAsTool(context);
	const [scope, lifetime] = isTool
		? (['workflow', 'run'] as const)
		: (['node', 'execution'] as const);
	const store = new ExecutionStore(context, 'numbers', isSentNumbersRecord, scope, lifetime);
	const record = store.read() ?? {};
	store.write(record);
	const options = isTool ? optionsFingerprint(campaign, additions) : undefined;
	return new SentNumbers(record, campaign.id, options);
}

const MAX_PARENTS = 100;

/** Shared by the sub-executions of one parent, which run in its process: if rows moved, they may be in any of them. */
const memoriesByParent = new BoundedMap<RowsMemory>(MAX_PARENTS);

/** Undefined if n8n stores nothing to retry, or if *Skip Numbers Pushed Before* already records the numbers. */
async function openBegunRows(
	context: IExecuteFunctions,
	{ skipPushedBefore }: Pick<PushSettings, 'skipPushedBefore'>,
): Promise<BegunLog | undefined> {
	const log = await openWriteAheadLog(context);
	if (log === undefined || (skipPushedBefore && log.isFirstAttempt)) return undefined;
	const store = new ExecutionStore(context, 'rows', isRowsMemory, 'node', 'execution');
	const { isSubExecution, executionId: parentId } = log.origin;
	const parent = isSubExecution ? JSON.stringify([nodeKeyOf(context), parentId]) : undefined;
	const shared = parent === undefined ? undefined : memoriesByParent.get(parent);
	const memory = shared ?? store.read() ?? {};
	if (parent !== undefined) memoriesByParent.set(parent, memory);
	store.write(memory);
	return { log, memory, executionId: context.getExecutionId() };
}

const MAY_BE_PUSHED =
	"Then retry the execution again. An earlier attempt may have pushed this row, so don't push it in a new execution.";

/** The outcome if this attempt couldn't begin: the results of earlier attempts, and the remaining rows. */
export async function outcomeOfFailedStart(
	context: IExecuteFunctions,
	input: InputRowsOfRun,
	error: unknown,
): Promise<FinishedPush> {
	const stopped =
		error instanceof ExplainedError
			? error
			: new InvalidInput(
					error instanceof Error ? error.message : String(error),
					forEveryone('Nothing was sent.'),
				);
	const rows = await input.openOrInputItems();
	const { source } = rows;
	const { outcome, phones, isComplete } = await earlierAttempts(context, source);
	// If the rows of an earlier request aren't known, it may have sent any of these.
	const mayBePushed = !isComplete || (!runsAsTool(context) && (await mayHaveBegunAny(context)));
	const pushed = outcome.pushed.map(({ rows }) => rows);
	const known = RowSet.union([...pushed, outcome.rejectedRows.rowsWith()]);
	const others = RowSet.ofRanges([0, source.count - 1]).without(known);
	const reason = `${stopped.message}. ${stopped.resolution}`;
	outcome.rejectedRows.addAll(
		mayBePushed
			? { rows: others, status: 'unknown', reason: `${asSentence(reason)} ${MAY_BE_PUSHED}` }
			: { rows: others, status: 'not_sent', reason },
	);
	return { outcome: { ...outcome, stopped, isEarlier: true }, rows, phones };
}

async function earlierAttempts(
	context: IExecuteFunctions,
	source: RowSource,
): Promise<KnownOutcome> {
	try {
		return await openProgress(context).known(source);
	} catch (error) {
		explained(error);
		return { outcome: emptyOutcome(source.count), phones: [], isComplete: false };
	}
}

function emptyOutcome(received: number): PushOutcome {
	return { received, pushed: [], rejectedRows: new RejectedRows() };
}

/** An empty input is fine. An unread file as input isn't. */
function noRows(found: FoundColumns): PushOutcome {
	const cause = found.likelyCause();
	if (cause !== undefined) throw cause;
	return emptyOutcome(0);
}

/**
 * The progress of this run's push, stored with the execution. On *Retry On Fail* and *Retry*, the node doesn't send
 * again what it pushed or may have pushed.
 *
 * @throws InvalidInput if the stored progress can't be read
 */
function openProgress(context: IExecuteFunctions): PushProgress {
	const store = new ExecutionStore(context, 'push', isPushCheckpoint);
	const record = store.read() ?? emptyCheckpoint();
	store.write(record);
	return new PushProgress(record);
}
