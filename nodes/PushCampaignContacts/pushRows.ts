import compact from 'lodash/compact';
import once from 'lodash/once';
import type {
	IExecuteFunctions,
	INodeExecutionData,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';
import type { ApiClient } from '../shared/api/client';
import { asSentence, ExplainedError, InvalidInput, ServiceRejection } from '../shared/api/errors';
import { forEveryone, onScreenOnly } from '../shared/api/resolution';
import { readCampaign, type CampaignView } from '../shared/campaign';
import { isJsonObject } from '../shared/json';
import { runExclusive } from '../shared/keyedMutex';
import { formatOf } from '../shared/modelFormats';
import { createAccountClient } from '../shared/n8n/http/accountClient';
import { cancelSignal, isCanceled, WHY_CANCELED } from '../shared/n8n/run/cancel';
import { toErrorItem, toNodeError } from '../shared/n8n/run/nodeErrors';
import type { OperationRun } from '../shared/n8n/run/operations';
import { runsAsTool } from '../shared/n8n/tools/toolRun';
import { displayText, messageOf } from '../shared/values';
import { openRows, rowsOfInput } from './openRows';
import { resolveColumns, whyNoNames } from './push/columns';
import { pushedRows, type PushOutcome, RowsNotPushed } from './push/outcome';
import { PhonesByRow } from './push/phones';
import { prepareRows } from './push/prepareRows';
import { countRows, describeOutcome, hintsFor } from './push/report';
import { pushToCampaign } from './push/pushToCampaign';
import type { RowSource } from './push/rows';
import { RowSet } from './push/rowSet';
import { type FinishedPush, pushedOutput, rejectedItems } from './pushOutput';
import { readOutput, readPushSettings, type Output } from './pushSettings';
import { mayBePushedBefore, openStores } from './pushStores';

/** Pushes the rows. Returns the *Pushed* and *Rejected* outputs. */
export async function pushRows(run: OperationRun): Promise<INodeExecutionData[][]> {
	const { context } = run;
	const open = once(async () => await openRows(run));
	// If it's invalid, the push reports it.
	const output = orElse(() => readOutput(run.parameters.at(0)), 'requests');
	try {
		const push = await runPush(run, open).catch(async (error: unknown) => {
			const failed = await outcomeOfFailedStart(context, open, error);
			if (!context.continueOnFail()) throw pushStopped(run, error, failed);
			return failed;
		});
		const { outcome } = push;
		if (outcome.stopped !== undefined && !context.continueOnFail()) {
			throw pushStopped(run, outcome.stopped, push);
		}
		const endsLoop = pushedRows(outcome).size === 0 && isInLoop(context);
		const hints = [...hintsFor(outcome), ...push.notes, ...(endsLoop ? [LOOP_ENDS] : [])];
		context.addExecutionHints(...hints.map((hint) => ({ message: displayText(hint) })));
		return [
			[...stoppedItem(context, push), ...(await pushedOutput(push, output))],
			await rejectedItems(push, output),
		];
	} finally {
		await open().then(
			async (source) => await source.close(),
			() => undefined,
		);
	}
}

const LOOP_ENDS =
	"'Pushed' is empty, so Loop Over Items ends here if only 'Pushed' leads back to it. Connect 'Rejected' to it as well, or remove the loop: the node pushes any number of rows.";

function isInLoop(context: IExecuteFunctions): boolean {
	const before = context.getParentNodes(context.getNode().name);
	return before.some(({ type }) => type === 'n8n-nodes-base.splitInBatches');
}

/**
 * Checks everything, then pushes.
 *
 * @throws if nothing was sent. The outcome reports what happened to the requests.
 */
export async function runPush(
	run: OperationRun,
	open: () => Promise<RowSource>,
): Promise<FinishedPush> {
	const { context, parameters } = run;
	const source = await open();
	const output = readOutput(parameters.at(0));
	const found = await source.columns();
	if (found.names.size === 0) return finished(source, NO_ROWS);

	const { columns: choice, ...settings } = await readPushSettings(run);
	const columns = resolveColumns(found, choice);
	const { client } = await createAccountClient(context);
	const isTool = runsAsTool(context);
	const prepared = await prepareRows(source, columns, { isTool });
	const { phones, notPushed, rows: ready } = prepared;
	// A single contact, such as from a form, may have no name.
	const isNameless = ready.size > 1 && !prepared.hasNames;
	const result = (outcome: PushOutcome): FinishedPush => {
		const isHint = isNameless && outcome.stopped === undefined;
		const noteOnNames = isHint ? whyNoNames(columns, choice) : undefined;
		return {
			...finished(source, outcome, phones),
			notes: compact([...source.notes, noteOnNames]),
		};
	};
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

	// Numbers are remembered before they are sent, and forgetting them takes long.
	if (settings.skipPushedBefore) await openCampaign(client, settings.campaign.id);
	// On *Retry On Fail* and *Retry*, the node doesn't send again what it pushed or may have pushed.
	const stores = await openStores(context, settings);
	const signal = cancelSignal(context);
	const stopRequested = () => signal.aborted;
	const deps = { ...settings, ...stores, client, isTool, stopRequested };
	const send = async () => await pushToCampaign(source, prepared, deps);
	// An AI agent may call the tool again while it runs.
	return result(await runExclusive(stores.numbersOfExecution.record, send));
}

function finished(
	source: RowSource,
	outcome: PushOutcome,
	phones = new PhonesByRow(),
): FinishedPush {
	return { outcome, source, phones, notes: source.notes };
}

/** Before anything is sent, because n8n could run out of memory when the push has ended. */
function requireOutputFits({ count, maxOutputRows }: RowSource, output: Output): void {
	if (output !== 'rows' || count <= maxOutputRows) return;
	const [rows, max] = [count, maxOutputRows].map((number) => number.toLocaleString('en-US'));
	throw new InvalidInput(
		`The file has ${rows} rows, but with 'Output' set to 'One Item per Row', a file can have at most ${max}. Nothing was sent`,
		onScreenOnly(
			"Set 'Output' in 'Options' to 'One Item per Request' or 'One Summary Item', or split the file.",
		),
	);
}

/** An empty input is fine. */
const NO_ROWS: PushOutcome = { received: 0, pushed: [], notPushed: new RowsNotPushed() };

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
		forModel: `Choose another campaign. ${formatOf('Campaign')}`,
	});
}

/** The outcome if this attempt couldn't begin: an earlier one may have pushed the rows. */
async function outcomeOfFailedStart(
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
	if (await mayBePushedBefore(context)) {
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

/** A field, if it can be read. The error is about another one, or about this one. */
function orElse<T>(read: () => T, fallback: T): T {
	try {
		return read();
	} catch {
		return fallback;
	}
}

/**
 * The item of the error output. n8n moves it there from *Pushed*, and runs the node again for it if *Retry On Fail* is
 * on. The rows are in *Rejected*.
 */
function stoppedItem(context: IExecuteFunctions, push: FinishedPush): INodeExecutionData[] {
	const { outcome } = push;
	if (outcome.stopped === undefined) return [];
	if (context.getNode().onError !== 'continueErrorOutput') return [];
	const { json } = toErrorItem(outcome.stopped, positionOf(push));
	const details = { ...(isJsonObject(json.details) && json.details), ...countRows(outcome) };
	// n8n would mix the data of a paired row into the item.
	return [{ json: { ...json, details }, pairedItem: [] }];
}

/** n8n's error for a push that stopped: first what to do, then what happened to the rows. */
function pushStopped(
	{ context, parameters }: OperationRun,
	error: unknown,
	push: FinishedPush,
): NodeApiError | NodeOperationError {
	const { outcome, source, notes } = push;
	const { pushed, notPushed } = outcome;
	const nodeError = toNodeError(context.getNode(), error);
	// Otherwise, there is nothing to report but that nothing was sent.
	const hasResults = pushed.length > 0 || notPushed.size > notPushed.count('not_sent');
	if (!(error instanceof ServiceRejection) && !hasResults) return nodeError;
	const { lines: linesAboutRows, details } = describeOutcome(outcome, {
		names: source.names,
		isDryRun: orElse(() => parameters.at(0).collection('options').switch('dryRun', false), false),
	});
	const lines = compact([
		isCanceled(context) && WHY_CANCELED,
		nodeError.description,
		...linesAboutRows.map(displayText),
	]);
	nodeError.description = lines.join('\n');
	// n8n shows this one on the screen, as HTML. It would join the lines of the description.
	nodeError.context.descriptionTemplate = lines.join('<br>');
	for (const detail of [...details, ...notes]) nodeError.messages.push(displayText(detail));
	return nodeError;
}

/** The row where the push stopped. The error is about all rows, so its message names no item. */
function positionOf({ outcome, source }: FinishedPush): { itemIndex: number; of: number } {
	const [stoppedAt = 0] = outcome.notPushed.rowsWith('unknown', 'not_sent');
	return { itemIndex: source.inputOf(stoppedAt), of: 1 };
}
