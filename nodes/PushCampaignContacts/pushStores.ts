import sortedIndexOf from 'lodash/sortedIndexOf';
import type { IExecuteFunctions } from 'n8n-workflow';
import { isJsonObject } from '../shared/json';
import { openRecord, runIndexOf } from '../shared/n8n/once/executionStore';
import { openRememberedNumbers, type StoreUse } from '../shared/n8n/once/rememberedTexts';
import { mayBeSentBefore, openNotes } from '../shared/n8n/once/openNotes';
import { runsAsTool } from '../shared/n8n/tools/toolRun';
import { isNumbersRecord, NumbersOfExecution, optionsFingerprint } from './push/numbersOfExecution';
import { isPushRecord } from './push/pushRecord';
import type { PushDeps } from './push/pushToCampaign';
import type { PushSettings } from './pushSettings';

/** The name of the record of a push. */
const RECORD = 'push';

/** The store of *Skip Numbers Pushed Before*. */
const PUSHED_NUMBERS_STORE: StoreUse = {
	message:
		"n8n can't read or write the list of numbers pushed before, so the remaining rows weren't sent",
	description:
		"Save the workflow and try again. If that doesn't help, ask your n8n administrator to check the database. Or turn off 'Skip Numbers Pushed Before' and push only new rows.",
};

type Stores = Pick<PushDeps, 'record' | 'note' | 'numbersPushedBefore'> & {
	numbersOfExecution: NumbersOfExecution;
};

/** What n8n stores of a push, so that it sends nothing that it pushed or may have pushed. */
export async function openStores(
	context: IExecuteFunctions,
	settings: Omit<PushSettings, 'columns'>,
): Promise<Stores> {
	return {
		// What a model pushed is known by the numbers.
		record: runsAsTool(context) ? {} : openRecord(context, RECORD, isPushRecord, {}),
		note: await openNotesOfPush(context, settings),
		numbersOfExecution: openNumbersOfExecution(context, settings),
		numbersPushedBefore: settings.skipPushedBefore
			? openRememberedNumbers(context, PUSHED_NUMBERS_STORE)
			: undefined,
	};
}

/** Whether an earlier attempt of this execution may have pushed rows. */
export async function mayBePushedBefore(context: IExecuteFunctions): Promise<boolean> {
	return await mayBeSentBefore(context, RECORD);
}

/** Notes each chunk by its place in one of the pushes to the campaign. All pushes of a model count as one. */
async function openNotesOfPush(
	context: IExecuteFunctions,
	{ campaign }: Pick<PushSettings, 'campaign'>,
): Promise<PushDeps['note']> {
	const notes = await openNotes(context);
	if (notes === undefined) return undefined;
	const push = runsAsTool(context) ? 'model' : placeAmongPushes(context, campaign.id);
	return async (part, fingerprint) =>
		await notes.addPart([RECORD, campaign.id, push, ...part], fingerprint);
}

/**
 * Counts the pushes of the execution to the campaign, from 0. After a crash, the runs of the node can have other numbers,
 * and the campaigns can come in another order.
 */
function placeAmongPushes(context: IExecuteFunctions, campaign: number): number {
	const record = openRecord(context, 'pushes', areRuns, {}, { lifetime: 'execution' });
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
	const sharing = isTool ? {} : ({ lifetime: 'execution' } as const);
	const record = openRecord(context, 'numbers', isNumbersRecord, { count: 0, lists: {} }, sharing);
	const options = isTool ? optionsFingerprint(campaign, additions) : undefined;
	return new NumbersOfExecution(record, campaign.id, options);
}
