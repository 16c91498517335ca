import compact from 'lodash/compact';
import type {
	IExecuteFunctions,
	INode,
	INodeExecutionData,
	NodeInputConnections,
} from 'n8n-workflow';
import type { ApiClient } from '../core/service/client';
import { failedBeforeSending, InvalidInput, OutcomeUnknown } from '../core/service/errors';
import type { Explanation } from '../core/service/explanation';
import { readCampaign } from '../core/campaigns/campaign';
import { runExclusive } from '../core/values/keyedMutex';
import { cancelSignal } from '../host/execution/cancel';
import { addCustomData } from '../host/run/customData';
import { asItems } from '../host/run/itemLoop';
import type { OperationRun } from '../host/run/operations';
import type { AccountClient } from '../host/http/accountClient';
import { counted } from '../core/values/values';
import { checkAgent } from '../core/dnd/checkAgent';
import { resolveColumns, usedColumns, whyNoNames } from './push/columns';
import { type PreparedRows, prepareRows } from './push/prepareRows';
import { type PushInput, settleAll } from './push/rows';
import { sendRows } from './push/sendRows';
import { addPushHints, outputsOf, pushStopped, stoppedItem } from './output';
import { choosesSummary, type PushSettings, readPushSettings } from './pushSettings';
import { openPushClaims, openPushRecord } from './pushRecord';
import { readRows } from './readRows';
import { countOf, countRows, type Report } from './report';

/**
 * Pushes the rows. Returns the outputs *Ready* or *Pushed*, *Rejected*, and *Skipped*.
 *
 * @throws if the push stopped, or couldn't begin
 */
export async function pushRows(run: OperationRun): Promise<INodeExecutionData[][]> {
	const { context, caller, parameters } = run;
	// Before anything is sent, because it can be invalid.
	const isSummary = choosesSummary(parameters.at(0));
	const report = await runPush(run, await readRows(run));
	const isRejectedRead = isOutputRead(context, REJECTED);
	const unknown = countOf(report, 'unknown');
	// No other row waits to be sent.
	if (unknown > 0 && !isRejectedRead && report.check === undefined)
		report.stopped ??= unreadRows(unknown);
	if (report.stopped !== undefined && !caller.continuesOnFail) {
		throw pushStopped(context, report, report.stopped);
	}
	addPushHints(context, report, isRejectedRead);
	const [pushed = [], ...others] = await outputsOf(report, isSummary);
	return [[...stoppedItem(context, report), ...pushed], ...others];
}

/** The index of the *Rejected* output. */
const REJECTED = 1;

/** Such as after a crash. Otherwise, they would be in a successful execution that nobody looks at. */
function unreadRows(count: number): OutcomeUnknown {
	return new OutcomeUnknown(
		`${counted(count, 'row')} may or may not be in the campaign, and no node reads 'Rejected'`,
		"Connect 'Rejected' to a node, which then gets such rows, save the workflow, and retry this execution with the currently saved workflow. Or set 'On Error' in 'Settings' to 'Continue'.",
		{ origin: 'n8n' },
	);
}

/**
 * Checks everything, then sends the rows, or with *Check Only*, nothing.
 *
 * @throws if nothing was sent. After that, the report says what happened to each row.
 */
export async function runPush(run: OperationRun, input: PushInput): Promise<Report> {
	const { result } = run;
	const { tables } = input;
	// An empty input is fine.
	if (tables.every(({ names }) => names.size === 0)) {
		const { hints } = input;
		const none = { counts: {}, requests: [], enqueue: false, skipPushedBefore: false, hints };
		return { input: { ...input, rows: [] }, ...none };
	}
	const { columns: choice, ...settings } = await readPushSettings(run);
	const { campaign, checksOnly, skipPushedBefore } = settings;
	if (checksOnly) result.setReadOnly();
	const columns = resolveColumns(tables, choice);
	const account = await run.account();
	const prepared = await prepareRows(input, columns);
	// A single contact, such as from a form, may have no name.
	const isList = run.caller.kind === 'workflow' && prepared.rows.length > 1;
	const nameless = isList ? whyNoNames(tables, columns, choice) : undefined;
	if (campaign.enqueue && nameless !== undefined)
		throw new InvalidInput(`${nameless.message}, and nothing was sent`, nameless.resolution);
	const done = checksOnly
		? await checkRows(account, prepared, settings, nameless)
		: await pushPrepared(run, account, prepared, settings);
	const hints = [
		...input.hints,
		usedColumns(columns, choice),
		done.check === undefined && done.stopped === undefined && nameless,
	];
	const { enqueue } = campaign;
	const counts = await countRows(input.rows);
	return { input, counts, ...done, enqueue, skipPushedBefore, hints: compact(hints) };
}

type Done = Pick<Report, 'requests' | 'check' | 'stopped'>;

/** Settles the rows that a push would send as ready, as far as it's known. */
async function checkRows(
	account: AccountClient,
	prepared: PreparedRows,
	settings: PushSettings,
	nameless: Explanation | undefined,
): Promise<Done> {
	const { campaign } = settings;
	const campaignStatus = await requireNotArchived(account.client, campaign.id);
	const { rows: ready } = prepared;
	settleAll(ready, { status: 'ready', reason: '' });
	const about = { phones: ready.map(({ phone }) => phone), what: 'ready row' };
	const ofAgent = ready.length === 0 ? [] : await checkAgent(account, campaign.agentUuid, about);
	const ofNames = nameless && [
		`${nameless.message}, and 'Add and Release' sends nothing. ${nameless.resolution}`,
	];
	const check = { campaignStatus, texts: [...(ofNames ?? []), ...ofAgent] };
	return { check, requests: [] };
}

/** Sends the rows, but on *Retry On Fail* and *Retry* not again what the node pushed or may have pushed. */
async function pushPrepared(
	run: OperationRun,
	{ client }: AccountClient,
	prepared: PreparedRows,
	settings: PushSettings,
): Promise<Done> {
	const signal = cancelSignal(run);
	const record = openPushRecord(run, settings);
	const send = async () => {
		const claims = await openPushClaims(run, settings, record, prepared.rows.length);
		return await sendRows(prepared, { ...settings, client, claims, signal });
	};
	// An AI agent may call the tool again while it runs.
	const pushed = await runExclusive(record, send);
	const responses = pushed.requests.map(({ response }) => response);
	addCustomData(run.context, asItems(responses), 'campaign_upload_id');
	return pushed;
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
	throw new InvalidInput(
		'The campaign is archived, so nothing was sent',
		"Choose another campaign in 'Campaign'.",
	);
}

/** The method of n8n's context for the connections that lead to a node, by its inputs. */
type WithConnections = {
	getConnections: (to: Pick<INode, 'name'>, type: 'main') => NodeInputConnections;
};

/**
 * Whether a node reads an output of this node. n8n's documented functions only name the nodes after a node, not the output
 * that leads to them, but its context has the connections of each node. Without them, the output counts as unread.
 */
function isOutputRead(context: IExecuteFunctions, index: number): boolean {
	if (!hasConnections(context)) return false;
	const { name } = context.getNode();
	return context.getChildNodes(name).some((child) => {
		const connections = context.getConnections(child, 'main').flat();
		const isNext = connections.some((from) => from?.node === name && from.index === index);
		// n8n passes the items of a disabled node on.
		return (
			isNext && [child, ...context.getChildNodes(child.name)].some(({ disabled }) => !disabled)
		);
	});
}

function hasConnections(
	context: IExecuteFunctions,
): context is IExecuteFunctions & WithConnections {
	return 'getConnections' in context && typeof context.getConnections === 'function';
}
