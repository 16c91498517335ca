import sortedIndexOf from 'lodash/sortedIndexOf';
import type { IExecuteFunctions } from 'n8n-workflow';
import type { ApiClient } from '../shared/api/client';
import { asSentence, ExplainedError, InvalidInput } from '../shared/api/errors';
import { forEveryone, onScreenOnly } from '../shared/api/resolution';
import { readCampaign, type CampaignView } from '../shared/campaign';
import { isJsonObject, type JsonObject } from '../shared/json';
import { runExclusive } from '../shared/keyedMutex';
import { formOf } from '../shared/modelForms';
import { createAccountClient } from '../shared/n8n/http/accountClient';
import { ExecutionStore, runIndexOf } from '../shared/n8n/once/executionStore';
import { openRememberedNumbers } from '../shared/n8n/once/nodeStore';
import { openNotes } from '../shared/n8n/once/openNotes';
import { mayBeSentBefore } from '../shared/n8n/once/sentBefore';
import { cancelSignal } from '../shared/n8n/run/cancel';
import type { OperationRun } from '../shared/n8n/run/operations';
import { runsAsTool } from '../shared/n8n/tools/toolRun';
import { messageOf } from '../shared/values';
import { rowsOfInput } from './openRows';
import { resolveColumns } from './push/columns';
import { type PushOutcome, RowsNotPushed } from './push/outcome';
import { PhonesByRow } from './push/phones';
import { prepareRows } from './push/prepareRows';
import { isPushRecord } from './push/pushRecord';
import { type PushOptions, pushToCampaign } from './push/pushToCampaign';
import type { FoundColumns, RowSource } from './push/rows';
import { RowSet } from './push/rowSet';
import { isNumbersRecord, optionsFingerprint, NumbersOfExecution } from './push/numbersOfExecution';
import type { FinishedPush } from './pushOutput';
import {
	PUSHED_NUMBERS_STORE,
	readOutput,
	readPushSettings,
	type PushSettings,
	type Output,
} from './pushSettings';
import { requireSameForAllRows } from './sameForAllRows';

/** The name of the record of a push. */
const RECORD = 'push';

export type PushResult = FinishedPush & { output: Output };

/**
 * Checks everything, then pushes.
 *
 * @throws if nothing was sent. The outcome reports what happened to the requests.
 */
export async function runPush(
	run: OperationRun,
	open: () => Promise<RowSource>,
): Promise<PushResult> {
	const { context, parameters } = run;
	const source = await open();
	const output = readOutput(parameters.at(0));
	const found = await source.columns();
	if (found.names.size === 0) return { ...finished(source, noRows(found)), output };

	const { columns: choice, ...settings } = await readPushSettings(run);
	const columns = resolveColumns(found, choice);
	await requireSameForAllRows(run, 'columns');
	const { client } = await createAccountClient(context);
	const isTool = runsAsTool(context);
	const prepared = await prepareRows(source, columns, { isTool });
	const { phones, notPushed, rows: ready } = prepared;
	const result = (outcome: PushOutcome): PushResult => ({
		...finished(source, outcome, phones),
		notes: [...source.notes, ...(columns.note === undefined ? [] : [columns.note])],
		output,
	});

	requireOutputFits(source, output);

	if (settings.dryRun) {
		const { status } = await openCampaign(client, settings.campaign.id);
		return result({
			received: source.count,
			pushed: [],
			notPushed,
			ready,
			readyIsUpperBound: settings.skipPushedBefore,
			campaignStatus: status,
		});
	}

	// On *Retry On Fail* and *Retry*, the node doesn't send again what it pushed or may have pushed.
	const record = openRecord(new ExecutionStore(context, RECORD, isPushRecord), {});
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
		numbersOfExecution: openNumbersOfExecution(context, settings),
		numbersPushedBefore: settings.skipPushedBefore
			? openRememberedNumbers(context, PUSHED_NUMBERS_STORE)
			: undefined,
	};
	const send = async () => await pushToCampaign(source, prepared, options);
	// An AI agent may call the tool again while it runs.
	return result(await runExclusive(record, send));
}

function finished(
	source: RowSource,
	outcome: PushOutcome,
	phones = new PhonesByRow(),
): FinishedPush {
	return { outcome, source, phones, notes: source.notes };
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
	return { received: 0, pushed: [], notPushed: new RowsNotPushed() };
}

const ARCHIVED = 'Archived';

/**
 * Reads the campaign before anything is sent, to detect a wrong token, URL, or campaign.
 *
 * @throws if the service would reject every request
 */
async function openCampaign(client: ApiClient, campaignId: number): Promise<CampaignView> {
	const view = await readCampaign(client, campaignId);
	if (view.status !== ARCHIVED) return view;
	throw new InvalidInput('The campaign is archived, so nothing was sent', {
		onScreen: "Choose another campaign in 'Campaign'.",
		forModel: `Choose another campaign. ${formOf('Campaign')}`,
	});
}

/**
 * The record as stored, or a new one. Changes to it are stored with the execution.
 *
 * @throws InvalidInput if the stored record can't be read
 */
function openRecord<T extends JsonObject>(store: ExecutionStore<T>, empty: T): T {
	const record = store.read() ?? empty;
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
		await notes.add({
			target: [RECORD, campaign.id, push, chunk],
			payload: fingerprint,
			isPart: true,
		});
}

/**
 * Counts the pushes of the execution to the campaign, from 0. After a crash, the runs of the node can have other numbers,
 * and the campaigns can come in another order.
 */
function placeAmongPushes(context: IExecuteFunctions, campaign: number): number {
	const store = new ExecutionStore(context, 'pushes', areRuns, 'node', 'execution');
	const record = openRecord(store, {});
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
function openNumbersOfExecution(
	context: IExecuteFunctions,
	{ campaign, additions }: Pick<PushSettings, 'campaign' | 'additions'>,
): NumbersOfExecution {
	const isTool = runsAsTool(context);
	const [scope, lifetime] = isTool
		? (['workflow', 'run'] as const)
		: (['node', 'execution'] as const);
	const store = new ExecutionStore(context, 'numbers', isNumbersRecord, scope, lifetime);
	const record = openRecord(store, { count: 0, lists: {} });
	const options = isTool ? optionsFingerprint(campaign, additions) : undefined;
	return new NumbersOfExecution(record, campaign.id, options);
}

/** The outcome if this attempt couldn't begin: an earlier one may have pushed the rows. */
export async function outcomeOfFailedStart(
	context: IExecuteFunctions,
	open: () => Promise<RowSource>,
	error: unknown,
): Promise<FinishedPush> {
	const stopped =
		error instanceof ExplainedError
			? error
			: new InvalidInput(messageOf(error), forEveryone('Nothing was sent.'));
	const source = await countedRows(open).catch(() => rowsOfInput(context));
	const notPushed = new RowsNotPushed();
	const all = RowSet.ofRanges([0, source.count - 1]);
	const reason = `${stopped.message}. ${stopped.resolution}`;
	if (await mayBeSentBefore(context, RECORD)) {
		notPushed.addAll(all, 'unknown', `${asSentence(reason)} ${MAY_BE_PUSHED}`);
	} else notPushed.addAll(all, 'not_sent', reason);
	return finished(source, { received: source.count, pushed: [], notPushed, stopped });
}

/** The number of rows in a file isn't known before they are read. */
async function countedRows(open: () => Promise<RowSource>): Promise<RowSource> {
	const source = await open();
	if (source.count === 0) await source.each(() => undefined);
	return source;
}

const MAY_BE_PUSHED =
	"Then retry the execution again. An earlier attempt may have pushed this row, so don't push it in a new execution.";
