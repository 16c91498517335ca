import sortedIndexOf from 'lodash/sortedIndexOf';
import type { IExecuteFunctions } from 'n8n-workflow';
import { asSentence, ExplainedError, InvalidInput } from '../shared/api/errors';
import { forEveryone, onScreenOnly } from '../shared/api/resolution';
import { isJsonObject } from '../shared/json';
import { runExclusive } from '../shared/keyedMutex';
import { createAccountClient } from '../shared/n8n/http/accountClient';
import { ExecutionStore, runIndexOf } from '../shared/n8n/once/executionStore';
import { openNotes } from '../shared/n8n/once/openNotes';
import { openRememberedNumbers } from '../shared/n8n/once/rememberedNumbers';
import { mayBeSentBefore } from '../shared/n8n/once/sentBefore';
import { cancelSignal } from '../shared/n8n/run/cancel';
import type { OperationRun } from '../shared/n8n/run/operations';
import { runsAsTool } from '../shared/n8n/tools/toolRun';
import type { InputRowsOfRun } from './inputRows';
import { resolveColumns } from './push/columns';
import { openCampaign } from './push/openCampaign';
import { PhonesByRow } from './push/phones';
import { prepareRows } from './push/prepareRows';
import { isPushRecord, type PushRecord } from './push/pushRecord';
import { type PushOptions, pushToCampaign } from './push/pushToCampaign';
import type { PushOutcome } from './push/pushTypes';
import { RejectedRows } from './push/rejectedRows';
import type { RowSource, FoundColumns } from './push/rows';
import { RowSet } from './push/rowSet';
import { isSentNumbersRecord, optionsFingerprint, SentNumbers } from './push/sentNumbers';
import type { FinishedPush } from './pushOutput';
import {
	PUSHED_NUMBERS_STORE,
	readOutput,
	readPushSettings,
	type PushSettings,
	type Output,
} from './pushSettings';
import { requireSameColumns } from './sameForAllRows';
import { messageOf } from '../shared/values';

/** The name of the record of a push. */
const RECORD = 'push';

export type PushResult = FinishedPush & { output: Output };

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
	const finished = (outcome: PushOutcome, phones = new PhonesByRow()): PushResult => ({
		outcome,
		output,
		rows,
		phones,
	});
	const found = await source.columns();
	if (found.names.size === 0) return finished(noRows(found));

	const { columns: choice, ...settings } = await readPushSettings(run);
	const columns = resolveColumns(found, choice);
	await requireSameColumns(run);
	if (columns.note !== undefined) rows = { ...rows, notes: [...(rows.notes ?? []), columns.note] };
	const { client } = await createAccountClient(context);
	const isTool = runsAsTool(context);
	const prepared = await prepareRows(source, columns, { isTool });

	requireOutputFits(source, output);

	if (settings.dryRun) {
		const { status } = await openCampaign(client, settings.campaign.id);
		const outcome: PushOutcome = {
			received: source.count,
			pushed: [],
			rejectedRows: prepared.rejectedRows,
			ready: prepared.rows,
			readyIsUpperBound: settings.skipPushedBefore,
			campaignStatus: status,
		};
		return finished(outcome, prepared.phones);
	}

	const record = openRecord(context);
	const signal = cancelSignal(context);
	// Numbers are remembered before they are sent, and forgetting them takes long.
	if (settings.skipPushedBefore) await openCampaign(client, settings.campaign.id);
	const options = {
		...settings,
		client,
		isTool,
		record,
		stopRequested: () => signal.aborted,
		note: await openNotesOfPush(context, settings),
		sentNumbers: openSentNumbers(context, settings),
		pushedNumbers: settings.skipPushedBefore
			? openRememberedNumbers(context, PUSHED_NUMBERS_STORE)
			: undefined,
	};
	const send = async () => await pushToCampaign(source, prepared, options);
	// An AI agent may call the tool again while it runs.
	return finished(await runExclusive(record, send), prepared.phones);
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

/** An empty input is fine. An unread file as input isn't. */
function noRows(found: FoundColumns): PushOutcome {
	const cause = found.likelyCause();
	if (cause !== undefined) throw cause;
	return { received: 0, pushed: [], rejectedRows: new RejectedRows() };
}

/**
 * The record of this run's push, stored with the execution. On *Retry On Fail* and *Retry*, the node doesn't send again
 * what it pushed or may have pushed.
 *
 * @throws InvalidInput if the stored record can't be read
 */
function openRecord(context: IExecuteFunctions): PushRecord {
	const store = new ExecutionStore(context, RECORD, isPushRecord);
	const record = store.read() ?? {};
	store.write(record);
	return record;
}

/** Notes each chunk by its place in one of the pushes to the campaign. All pushes of a model count as one. */
async function openNotesOfPush(
	context: IExecuteFunctions,
	{ campaign }: Pick<PushSettings, 'campaign'>,
): Promise<PushOptions['note']> {
	const notes = await openNotes(context);
	if (notes === undefined) return undefined;
	const push = runsAsTool(context) ? 'model' : placeAmongPushes(context, campaign.id);
	return async (chunk, fingerprint) =>
		await notes.addPart({ target: [RECORD, campaign.id, push, chunk], payload: fingerprint });
}

/**
 * Counts the pushes of the execution to the campaign, from 0. After a crash, the runs of the node can have other numbers,
 * and the campaigns can come in another order.
 */
function placeAmongPushes(context: IExecuteFunctions, campaign: number): number {
	const store = new ExecutionStore(context, 'pushes', areRuns, 'node', 'execution');
	const record = store.read() ?? {};
	store.write(record);
	const runs = record[campaign] ?? [];
	record[campaign] = runs;
	const run = runIndexOf(context);
	const place = sortedIndexOf(runs, run);
	return place < 0 ? runs.push(run) - 1 : place;
}

/** The runs of the node that push to each campaign, in ascending order. */
type RunsByCampaign = { [campaign: string]: number[] };

function areRuns(stored: unknown): stored is RunsByCampaign {
	return (
		isJsonObject(stored) &&
		Object.values(stored).every(
			(runs) => Array.isArray(runs) && runs.every((run) => typeof run === 'number'),
		)
	);
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

/** The outcome if this attempt couldn't begin: an earlier one may have pushed the rows. */
export async function outcomeOfFailedStart(
	context: IExecuteFunctions,
	input: InputRowsOfRun,
	error: unknown,
): Promise<FinishedPush> {
	const stopped =
		error instanceof ExplainedError
			? error
			: new InvalidInput(messageOf(error), forEveryone('Nothing was sent.'));
	const rows = await input.openOrInputItems();
	const { count: received } = rows.source;
	const rejectedRows = new RejectedRows();
	const reason = `${stopped.message}. ${stopped.resolution}`;
	const all = RowSet.ofRanges([0, received - 1]);
	rejectedRows.addAll(
		(await mayBeSentBefore(context, RECORD))
			? { rows: all, status: 'unknown', reason: `${asSentence(reason)} ${MAY_BE_PUSHED}` }
			: { rows: all, status: 'not_sent', reason },
	);
	return {
		outcome: { received, pushed: [], rejectedRows, stopped },
		rows,
		phones: new PhonesByRow(),
	};
}

const MAY_BE_PUSHED =
	"Then retry the execution again. An earlier attempt may have pushed this row, so don't push it in a new execution.";
