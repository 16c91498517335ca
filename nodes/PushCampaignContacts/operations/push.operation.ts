import compact from 'lodash/compact';
import type { INodeExecutionData } from 'n8n-workflow';
import { readCampaign } from '../../core/campaigns/campaign';
import { checkAgent } from '../../core/dnd/checkAgent';
import { failedBeforeSending, InvalidInput } from '../../core/service/errors';
import { runExclusive } from '../../core/values/keyedMutex';
import type { CallerRun } from '../../host/caller/caller';
import { openMemory } from '../../host/claims/executionMemory';
import { openClaims } from '../../host/claims/openClaims';
import { openTextList, type StoreUse } from '../../host/claims/openTextList';
import { cancelSignal } from '../../host/execution/cancel';
import type { AccountClient } from '../../host/http/accountClient';
import { addCustomData } from '../../host/run/customData';
import { asItems } from '../../host/run/itemLoop';
import type { OnlyOperation, OperationRun } from '../../host/run/operations';
import { addPushHints, notBegun, outputForModel, outputsOf, pushStopped } from '../output';
import { pushFields } from '../properties';
import { requireNames, resolveColumns, usedColumns } from '../push/columns';
import { type PreparedRows, prepareRows } from '../push/prepareRows';
import { isPushRecord, PushClaims, type PushRecord } from '../push/pushClaims';
import { settleAll } from '../push/rows';
import { sendRows } from '../push/sendRows';
import { type PushSettings, readPushSettings } from '../pushSettings';
import { readRows } from '../readRows';
import { countRows, type Report } from '../report';

export const push: OnlyOperation = {
	fields: pushFields,
	toolDescription:
		'Adds people to a calling campaign, whose AI agent places real phone calls to them once they are released, which cost money. Use this only for people who should be called. Returns how many people were added, and the reason for each person who was not.',
	toolDescriptionOfCheck:
		'Checks whether people can be added to a calling campaign: their phone numbers, the campaign, and its AI agent. Calls nobody and changes nothing. Returns how many people are ready, and the reason for each person who is not.',
	mayHaveSent: mayHavePushed,
	notBegun,

	/** Returns the outputs *Ready* or *Pushed*, *Rejected*, and *Skipped*. Throws if the push stopped, or couldn't begin. */
	async execute(run): Promise<INodeExecutionData[][]> {
		const { context, caller } = run;
		const report = await runPush(run);
		const { stopped } = report;
		if (caller.kind === 'workflow' && stopped !== undefined && !caller.continuesOnFail)
			throw pushStopped(context, report, stopped);
		addPushHints(context, report);
		if (caller.kind === 'model') return await outputForModel(run, report);
		return await outputsOf(context, report);
	},
};

/**
 * Checks everything, then sends the rows, or with *Check Only*, nothing.
 *
 * @throws if nothing was sent. After that, the report says what happened to each row.
 */
async function runPush(run: OperationRun): Promise<Report> {
	const input = await readRows(run);
	const settings = await readPushSettings(run);
	const { campaign, columns: choice, checksOnly } = settings;
	// An empty input is fine.
	if (input.tables.every(({ names }) => names.size === 0))
		return { input, settings, counts: {}, requests: [], hints: [] };
	if (checksOnly) run.result.setReadOnly();
	const columns = resolveColumns(input.tables, choice);
	const account = await run.account();
	const prepared = await prepareRows(input, columns);
	// A single contact, such as from a form, may have no name.
	const isList = run.caller.kind === 'workflow' && prepared.rows.length > 1;
	if (isList && (campaign.enqueue || checksOnly)) requireNames(input.tables, columns, choice);
	const done = checksOnly
		? await checkRows(account, prepared, settings)
		: await pushPrepared(run, account, prepared, settings);
	const hints = compact([...input.hints, usedColumns(columns, choice)]);
	return { input, settings, counts: await countRows(input.rows), ...done, hints };
}

type Done = Pick<Report, 'requests' | 'check' | 'stopped'>;

const ARCHIVED = 'Archived';
/** Statuses of a campaign whose contacts the service accepts with a warning (Campaigns, rule 5). */
const WITH_A_WARNING = ['Draft', 'Paused'];

/**
 * Settles the rows that a push would send as ready, as far as it's known. Reads the campaign, to detect a wrong token, URL, or
 * campaign.
 */
async function checkRows(
	account: AccountClient,
	{ rows: ready }: PreparedRows,
	{ campaign, skipPushedBefore }: PushSettings,
): Promise<Done> {
	const read = readCampaign(account.client, campaign.id).catch(failedBeforeSending);
	const { status = '' } = await read;
	if (status === ARCHIVED) {
		throw new InvalidInput(
			'The campaign is archived, so nothing was sent',
			"Choose another campaign in 'Campaign'.",
		);
	}
	settleAll(ready, { status: 'ready', reason: '' });
	const about = { phones: ready.map(({ phone }) => phone), what: 'ready row' };
	const texts = compact([
		skipPushedBefore &&
			'A push skips the numbers that this workflow pushed to the campaign before.',
		WITH_A_WARNING.includes(status) &&
			`The campaign's status is ${status}, so its contacts can be pushed, but nobody is called until it's active.`,
		...(ready.length === 0 ? [] : await checkAgent(account, campaign.agentUuid, about)),
		"Only a push checks the agent's outbound number, and what the service rejects.",
	]);
	return { check: { campaignStatus: status, texts }, requests: [] };
}

/** The list of *Numbers Pushed Before*. */
const PUSHED_BEFORE: StoreUse = {
	message:
		"n8n can't read or write the list of numbers pushed before, so the remaining rows weren't sent",
	description:
		"In n8n, save the workflow and try again. If that doesn't help, ask your n8n administrator to check the database. Or set 'Numbers Pushed Before' to 'Push Again', and push only new rows.",
};

/** Sends the rows, but on *Retry On Fail* and *Retry* not again what the node pushed or may have pushed. */
async function pushPrepared(
	run: OperationRun,
	{ client }: AccountClient,
	prepared: PreparedRows,
	settings: PushSettings,
): Promise<Done> {
	const { campaign, skipPushedBefore } = settings;
	const signal = cancelSignal(run);
	// The same object in all pushes of this execution to the campaign.
	const name = `pushes to ${campaign.id}`;
	const record: PushRecord = openMemory(run, name, isPushRecord, { numbers: {} });
	const send = async () => {
		const ever = skipPushedBefore ? openTextList(run, 'workflow', PUSHED_BEFORE) : undefined;
		const { length: count } = prepared.rows;
		const claims = new PushClaims(await openClaims(run), ever, record, campaign.id, count);
		return await sendRows(prepared, { ...settings, client, claims, signal });
	};
	// An AI agent may call the tool again while it runs.
	const pushed = await runExclusive(record, send);
	const responses = pushed.requests.map(({ response }) => response);
	addCustomData(run.context, asItems(responses), 'campaign_upload_id');
	return pushed;
}

/** Whether this execution may have pushed anything before. True if n8n's database can't be reached. */
async function mayHavePushed(run: CallerRun): Promise<boolean> {
	const claims = await openClaims(run).catch(() => undefined);
	return claims === undefined || (await claims.mayHaveBegun());
}
