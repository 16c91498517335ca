import sortedIndexOf from 'lodash/sortedIndexOf';
import type { IExecuteFunctions } from 'n8n-workflow';
import type { DeduplicationStore } from '../core/ledger/store';
import { hashOf } from '../core/values/hash';
import { isJsonObject } from '../core/values/json';
import { openMemory, runIndexOf } from '../host/ledger/executionMemory';
import { openStore, type StoreUse } from '../host/ledger/openStore';
import { openLedger } from '../host/ledger/openLedger';
import { callerOf } from '../host/caller/caller';
import {
	isNumbersMemory,
	type NumberList,
	NumbersOfExecution,
	type NumbersMemory,
} from './push/numbersOfExecution';
import type { PartResult } from './push/parts';
import type { PushDeps } from './push/sendRows';
import type { PushSettings } from './pushSettings';

/** The store of *Skip Numbers Pushed Before*. */
const PUSHED_NUMBERS_STORE: StoreUse = {
	message:
		"n8n can't read or write the list of numbers pushed before, so the remaining rows weren't sent",
	description:
		"Save the workflow and try again. If that doesn't help, ask your n8n administrator to check the database. Or turn off 'Skip Numbers Pushed Before' and push only new rows.",
};

export function openPushedNumbers(context: IExecuteFunctions): DeduplicationStore {
	return openStore(context, 'workflow', PUSHED_NUMBERS_STORE);
}

type Stores = Pick<PushDeps, 'ledger' | 'place' | 'numbersOfExecution' | 'numbersPushedBefore'>;

/** What n8n stores of a push, so that it sends nothing that it pushed or may have pushed. */
export function openStores(
	context: IExecuteFunctions,
	{ campaign, additions, skipPushedBefore }: Omit<PushSettings, 'columns'>,
): Stores {
	const isTool = callerOf(context).kind === 'model';
	// A workflow pushes a number once per execution, a model once per agent run or MCP session, across all tools and rows.
	const lifetime = isTool ? 'agentRun' : 'execution';
	const empty = { count: 0, lists: {}, runs: {} };
	const numbers = openMemory(context, 'numbers', isNumbersMemory, empty, { lifetime });
	const options = isTool ? hashOf([JSON.stringify([campaign, additions])]) : undefined;
	// All pushes of a model count as one.
	const push = isTool ? 'model' : placeAmongPushes(numbers, campaign.id, runIndexOf(context));
	return {
		// What a model pushed is known by the numbers.
		ledger: openLedger<PartResult>(context, isTool ? {} : undefined),
		place: ['push', campaign.id, push],
		numbersOfExecution: new NumbersOfExecution(
			numbers,
			campaign.id,
			options,
			isTool ? undefined : unknownNumbers(context, campaign.id),
		),
		numbersPushedBefore: skipPushedBefore ? openPushedNumbers(context) : undefined,
	};
}

type NumberLists = { [campaign: string]: NumberList };

/** Of all nodes of the workflow: the numbers that may have been pushed to a campaign in this execution. Not for tools. */
export function unknownNumbers(context: IExecuteFunctions, campaign: number): NumberList {
	// n8n stores what this package wrote.
	const areLists = (stored: unknown): stored is NumberLists => isJsonObject(stored);
	const empty: NumberLists = {};
	const lists = openMemory(context, 'unknown contacts', areLists, empty, { lifetime: 'workflow' });
	const known = lists[campaign] ?? {};
	lists[campaign] = known;
	return known;
}

/**
 * Counts the pushes of the execution to the campaign, from 0. After a crash, the runs of the node can have other numbers,
 * and the campaigns can come in another order.
 */
function placeAmongPushes({ runs }: NumbersMemory, campaign: number, run: number): number {
	const ofCampaign = runs[campaign] ?? [];
	runs[campaign] = ofCampaign;
	const place = sortedIndexOf(ofCampaign, run);
	return place < 0 ? ofCampaign.push(run) - 1 : place;
}
