import chunk from 'lodash/chunk';
import compact from 'lodash/compact';
import uniqBy from 'lodash/uniqBy';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { ApiClient } from '../core/service/client';
import {
	explained,
	type ExplainedError,
	failedBeforeSending,
	InvalidInput,
	OutcomeUnknown,
} from '../core/service/errors';
import { onScreenOnly, type Reader, readerOf } from '../core/service/resolution';
import { readCampaign } from '../core/campaigns/campaign';
import { fingerprint, shortFingerprint } from '../core/values/hash';
import { runExclusive } from '../core/values/keyedMutex';
import { formatOf } from '../core/service/modelFormats';
import { beforeSending } from '../host/once/openNotes';
import { cancelSignal } from '../host/execution/cancel';
import type { OperationRun } from '../host/run/operations';
import { callerOf } from '../host/caller/caller';
import { forEachWithPauses } from '../core/values/pauses';
import { counted } from '../core/values/values';
import { agentChecker } from '../core/dnd/checkAgent';
import { ChunkSender, type PushDeps } from './push/chunkSender';
import { resolveColumns, takenColumns, whyNoNames, whyNoRelease } from './push/columns';
import { withoutUnknown } from './push/numbersOfExecution';
import { NumbersPushedBefore, requireRoom } from './push/numbersPushedBefore';
import {
	type CheckResult,
	countWith,
	PUSHED_BEFORE_STATUSES,
	type PushOutcome,
	reasonOf,
	REJECTED_STATUSES,
	groupByStatus,
} from './push/outcome';
import { type ColumnsOf, type PreparedRows, prepareRows, whyEmptied } from './push/prepareRows';
import { rowsChanged } from './push/pushRecord';
import { phoneKeyOf, type PushInput, type Row, settle } from './push/rows';
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
		const stores = await openStores(context, settings);
		const signal = cancelSignal(context);
		const stopRequested = () => signal.aborted;
		const deps = { ...settings, ...stores, client, isTool, stopRequested };
		const send = async () => {
			await sendInChunks(prepared, columnsOf, deps, outcome);
			outcome.byStatus = await groupByStatus(input.rows);
			stores.numbersOfExecution.add(outcome);
		};
		// An AI agent may call the tool again while it runs.
		await runExclusive(stores.numbersOfExecution.record, send);
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

/** Why the push stopped, and what that says about each row that it didn't reach. */
type Stop = { error: ExplainedError; status: 'unknown' | 'not_sent'; reason: string };

/**
 * Sends the prepared rows in chunks, one after another, usually one request each. Stops at the first request that didn't
 * certainly succeed. What an earlier attempt sent, or may have sent, isn't sent again. The outcome reports what happened
 * to each row, so this doesn't throw for it.
 *
 * @param outcome changed in place
 */
export async function sendInChunks(
	prepared: PreparedRows,
	columnsOf: ColumnsOf,
	deps: PushDeps,
	outcome: PushOutcome,
): Promise<void> {
	const { campaign, contactsPerRequest, record, isTool, numbersOfExecution } = deps;
	const { rows } = prepared;
	const reader = readerOf(isTool);
	if (deps.numbersPushedBefore !== undefined) requireRoom(rows.length);
	if (isTool) numbersOfExecution.requireRoom(rows.length);

	const chunks = chunk(rows, contactsPerRequest);
	/** Identifies the rows, and how they are split. */
	const push = shortFingerprint(
		[`${campaign.id} ${contactsPerRequest}`, await fingerprintOf(chunk(rows, ROWS_PER_HASH))],
		16,
	);
	const sender = new ChunkSender(push, columnsOf, deps, outcome);
	const isChanged = Object.keys(record).some((key) => !key.startsWith(push));
	let stop = isChanged ? stopAt(rowsChanged(), 'unknown', reader) : undefined;
	// A push without rows is noted, too, so that a retry in which it has rows is recognized.
	for (const [index, all] of (rows.length === 0 ? [[]] : chunks).entries()) {
		const key = `${push} ${index}`;
		const records = record[key] ?? [];
		// What earlier attempts recorded.
		let rest = sender.restore(records, all);
		if (rest.length === 0 && all.length > 0) continue;
		if (stop?.status !== 'unknown') rest = numbersOfExecution.leaveOut(rest, prepared);
		if (stop === undefined) {
			record[key] = records;
			try {
				const sent = await sender.send(
					{ index, rows: all, next: chunks[index + 1], records },
					rest,
				);
				({ rest } = sent);
				stop = sent.stopped && stopAt(sent.stopped, 'not_sent', reader);
			} catch (error) {
				// If it's unknown which rows an earlier attempt pushed, any row may be in the campaign.
				const known = explained(error);
				stop = stopAt(known, known.outcome === 'unknown' ? 'unknown' : 'not_sent', reader);
			} finally {
				if (records.length === 0) Reflect.deleteProperty(record, key);
			}
		}
		if (stop !== undefined) for (const row of rest) settle(row, stop.status, stop.reason);
	}
	await sender.settleEarlier();
	if (stop !== undefined) outcome.stopped ??= stop.error;
}

/** Keeps the memory of a fingerprint small. */
const ROWS_PER_HASH = 2_000;

/** Identifies the phones of these rows in this order. */
async function fingerprintOf(lists: ReadonlyArray<readonly Row[]>): Promise<string> {
	let hash = '';
	await forEachWithPauses(lists, (rows) => {
		hash = fingerprint([hash, ...rows.map(phoneKeyOf)]);
	});
	return hash;
}

function stopAt(error: ExplainedError, status: Stop['status'], reader: Reader): Stop {
	const isOfEarlier = status === 'not_sent' && error.outcome === 'unknown';
	const reason = isOfEarlier
		? `The push stopped at an earlier request, before it reached this row: ${error.message}. You can push this row again.`
		: reasonOf(error, reader);
	return { error, status, reason };
}
