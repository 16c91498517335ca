import compact from 'lodash/compact';
import uniqBy from 'lodash/uniqBy';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { ApiClient } from '../core/service/client';
import { failedBeforeSending, InvalidInput, OutcomeUnknown } from '../core/service/errors';
import { onScreenOnly } from '../core/service/resolution';
import { readCampaign } from '../core/campaigns/campaign';
import { runExclusive } from '../core/values/keyedMutex';
import { formatOf } from '../core/service/modelFormats';
import { beforeSending } from '../host/ledger/openLedger';
import { cancelSignal } from '../host/execution/cancel';
import { addCustomData } from '../host/run/customData';
import { asItems } from '../host/run/itemLoop';
import type { OperationRun } from '../host/run/operations';
import { callerOf } from '../host/caller/caller';
import { counted } from '../core/values/values';
import { agentChecker } from '../core/dnd/checkAgent';
import { resolveColumns, takenColumns, whyNoNames, whyNoRelease } from './push/columns';
import { withoutUnknown } from './push/numbersOfExecution';
import { NumbersPushedBefore } from './push/numbersPushedBefore';
import {
	type CheckResult,
	countWith,
	PUSHED_BEFORE_STATUSES,
	type PushOutcome,
	REJECTED_STATUSES,
	groupByStatus,
} from './push/outcome';
import type { ColumnsOf } from './push/contacts';
import { type PreparedRows, prepareRows, whyEmptied, whyRejected } from './push/prepareRows';
import { type PushInput, type Row, settle } from './push/rows';
import { sendRows } from './push/sendRows';
import {
	addPushHints,
	type FinishedPush,
	pushedOutput,
	pushStopped,
	notPushedItems,
	requireOutputFits,
	stoppedItem,
} from './pushOutput';
import { type Output, type PushSettings, readOutput, readPushSettings } from './pushSettings';
import { isOutputRead } from './readOutput';
import { readRows } from './readRows';
import { openPushedNumbers, openStores, unknownNumbers } from './pushStores';

/**
 * Pushes the rows. Returns the *Pushed*, *Rejected*, and *Pushed Before* outputs.
 *
 * @throws if the push stopped, or couldn't begin
 */
export async function pushRows(run: OperationRun): Promise<INodeExecutionData[][]> {
	const { context, parameters } = run;
	const output = readOutput(parameters.at(0));
	const start = async () => await runPush(run, await readRows(run), output);
	const push = await start().catch(async (error: unknown): Promise<never> => {
		throw await beforeSending(context, error);
	});
	const { outcome } = push;
	const isRejectedRead = isOutputRead(context, REJECTED);
	const unknown = countWith(outcome, 'unknown');
	// All other rows are pushed by then.
	if (unknown > 0 && !isRejectedRead && outcome.check === undefined)
		outcome.stopped ??= unreadRows(unknown);
	if (outcome.stopped !== undefined && !context.continueOnFail()) {
		throw pushStopped(context, push, outcome.stopped);
	}
	addPushHints(context, push, isRejectedRead);
	return [
		[...stoppedItem(context, push), ...(await pushedOutput(push, output))],
		await notPushedItems(push, output, REJECTED_STATUSES),
		await notPushedItems(push, output, PUSHED_BEFORE_STATUSES),
	];
}

/** The index of the *Rejected* output. */
const REJECTED = 1;

/** Such as after a crash. Otherwise, they would be in a successful execution that nobody looks at. */
function unreadRows(count: number): OutcomeUnknown {
	return new OutcomeUnknown(
		`${counted(count, 'row')} may or may not be in the campaign, and no node reads 'Rejected'`,
		onScreenOnly(
			"Connect 'Rejected' to a node, which then gets such rows, save the workflow, and retry this execution with the currently saved workflow. Or set 'On Error' in 'Settings' to 'Continue'.",
		),
		{ origin: 'n8n' },
	);
}

/**
 * Checks everything, then sends the rows, or with *Check Only*, nothing.
 *
 * @throws if nothing was sent. After that, the outcome reports what happened to each row.
 */
export async function runPush(
	run: OperationRun,
	input: PushInput,
	output: Output,
): Promise<FinishedPush> {
	const { context } = run;
	const { tables } = input;
	// An empty input is fine.
	if (tables.every(({ names }) => names.size === 0)) {
		return { outcome: newOutcome({ ...input, rows: [] }, false), hints: input.hints };
	}
	const { columns: choice, ...settings } = await readPushSettings(run);
	const { campaign, checksOnly, skipPushedBefore } = settings;
	const outcome = newOutcome(input, campaign.enqueue);
	if (checksOnly) callerOf(context).result.setReadOnly();
	const columns = new Map(tables.map((table) => [table, resolveColumns(table, choice)]));
	const columnsOf: ColumnsOf = (table) => columns.get(table) ?? resolveColumns(table, choice);
	const all = [...columns.values()];
	const account = await run.account();
	const { client } = account;
	const isTool = callerOf(context).kind === 'model';
	const prepared = await prepareRows(input, columnsOf);
	const { rows } = prepared;
	// A single contact, such as from a form, may have no name.
	const isList = rows.length > 1;
	const nameless = isList && !isTool ? whyNoRelease(all, choice) : undefined;
	if (campaign.enqueue && nameless !== undefined) {
		throw new InvalidInput(`${nameless.message}, and nothing was sent`, nameless.resolution);
	}
	requireOutputFits(input, output);
	// Numbers are remembered before they are sent, and forgetting them takes long.
	const campaignStatus =
		checksOnly || skipPushedBefore ? await requireNotArchived(client, campaign.id) : undefined;

	if (checksOnly) {
		const { ready, ...found } = await checkNumbers(context, prepared, settings);
		for (const row of ready) settle(row, 'ready');
		const about = { phones: ready.map(({ phone }) => phone), what: 'ready row' };
		const aboutAgent =
			ready.length === 0 ? [] : await agentChecker(account)(campaign.agentUuid, about);
		outcome.check = { ...found, campaignStatus, aboutAgent };
		outcome.byStatus = await groupByStatus(input.rows);
	} else {
		// On *Retry On Fail* and *Retry*, the node doesn't send again what it pushed or may have pushed.
		const stores = openStores(context, settings);
		const signal = cancelSignal(context);
		const stopRequested = () => signal.aborted;
		const deps = { ...settings, ...stores, client, isTool, stopRequested };
		const send = async () => {
			const isNew = await sendRows(prepared, columnsOf, deps, outcome);
			outcome.byStatus = await groupByStatus(input.rows);
			if (isNew) stores.numbersOfExecution.add(outcome);
		};
		// An AI agent may call the tool again while it runs.
		await runExclusive(stores.numbersOfExecution.memory, send);
		const responses = outcome.requests.map(({ response }) => response);
		addCustomData(context, asItems(responses), 'campaign_upload_id');
	}
	const isNameless = isList && !prepared.hasNames && outcome.stopped === undefined;
	const whyNotReleased =
		checksOnly && nameless !== undefined
			? { ...nameless, message: `${nameless.message}, and 'Add and Release' sends nothing` }
			: undefined;
	const hints = [
		...input.hints,
		...uniqBy(
			all.map((each) => takenColumns(each, choice)),
			'message',
		),
		whyRejected(prepared),
		whyEmptied(prepared),
		whyNotReleased ?? (isNameless && whyNoNames(all, choice)),
	];
	return { outcome, hints: compact(hints) };
}

function newOutcome(input: PushInput, enqueue: boolean): PushOutcome {
	return { input, requests: [], byStatus: new Map(), hasRejections: false, enqueue };
}

/** The rows of a check that a push would send, as far as it's known. */
async function checkNumbers(
	context: IExecuteFunctions,
	prepared: PreparedRows,
	{ campaign, skipPushedBefore }: Omit<PushSettings, 'columns'>,
): Promise<{ ready: readonly Row[] } & Pick<CheckResult, 'readyMayInclude'>> {
	const isTool = callerOf(context).kind === 'model';
	const unknown = isTool ? {} : unknownNumbers(context, campaign.id);
	const ready = withoutUnknown(prepared, unknown);
	if (!skipPushedBefore) return { ready };
	const store = openPushedNumbers(context);
	const numbers = new NumbersPushedBefore(store, campaign.id, isTool, 'released');
	return await numbers.leaveOutOfCheck(ready);
}

const ARCHIVED = 'Archived';

/**
 * Reads the campaign before anything is sent, to detect a wrong token, URL, or campaign.
 *
 * @returns its status
 * @throws if the service would reject every request
 */
async function requireNotArchived(
	client: ApiClient,
	campaignId: number,
): Promise<string | undefined> {
	const { status } = await readCampaign(client, campaignId).catch(failedBeforeSending);
	if (status !== ARCHIVED) return status;
	throw new InvalidInput('The campaign is archived, so nothing was sent', {
		onScreen: "Choose another campaign in 'Campaign'.",
		forModel: `Choose another campaign. ${formatOf('Campaign')}`,
	});
}
