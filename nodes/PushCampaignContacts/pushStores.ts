import sortedIndexOf from 'lodash/sortedIndexOf';
import { NumbersOfExecution } from '../core/ledger/numbersOfExecution';
import { hashOf } from '../core/values/hash';
import type { CallerRun } from '../host/caller/caller';
import { runIndexOf } from '../host/nodeRun';
import { openMemory, openValues } from '../host/ledger/executionMemory';
import { openStore, type StoreUse } from '../host/ledger/openStore';
import { openLedger } from '../host/ledger/openLedger';
import { NumbersPushedBefore } from './push/numbersPushedBefore';
import { isPushMemory, PushedNumbers, type PushMemory } from './push/pushedNumbers';
import type { PartResult } from './push/parts';
import { PUSH_LIMITS } from './push/rows';
import type { PushDeps } from './push/sendRows';
import type { PushSettings } from './pushSettings';

/** The store of *Skip Numbers Pushed Before*. */
const PUSHED_BEFORE_STORE: StoreUse = {
	message:
		"n8n can't read or write the list of numbers pushed before, so the remaining rows weren't sent",
	description:
		"Save the workflow and try again. If that doesn't help, ask your n8n administrator to check the database. Or turn off 'Skip Numbers Pushed Before' and push only new rows.",
};

/** Undefined without *Skip Numbers Pushed Before*. */
export function openPushedBefore(
	run: CallerRun,
	{ campaign, reader, skipPushedBefore }: PushSettings,
): NumbersPushedBefore | undefined {
	if (!skipPushedBefore) return undefined;
	const store = openStore(run, 'workflow', PUSHED_BEFORE_STORE);
	return new NumbersPushedBefore(store, campaign.id, reader);
}

/**
 * What this execution pushed to the campaign. A workflow pushes a number once per execution, a model once per agent run or
 * MCP session, across all tools and rows, but again with other options.
 */
export function openPushedNumbers(
	run: CallerRun,
	{ campaign, additions, reader }: PushSettings,
): PushedNumbers {
	const isModel = reader === 'forModel';
	const options = isModel ? ` ${hashOf([JSON.stringify([campaign, additions])])}` : '';
	const numbers = new NumbersOfExecution({
		done: openValues(run, `numbers of ${campaign.id}${options}`, 'execution'),
		unknown: openValues(run, `unknown numbers of ${campaign.id}`, 'workflow'),
		run: runIndexOf(run.context),
	});
	// A model gives few contacts, and only its numbers show what it pushed.
	const max = isModel ? Infinity : PUSH_LIMITS.numbers;
	return new PushedNumbers(openPushMemory(run), numbers, max);
}

/** The same object in all pushes of an execution. */
export function openPushMemory(run: CallerRun): PushMemory {
	return openMemory(run, 'numbers', isPushMemory, { count: 0, runs: {} }, 'execution');
}

type Stores = Pick<PushDeps, 'ledger' | 'place' | 'pushedNumbers' | 'pushedBefore'>;

/** What n8n stores of a push, so that it sends nothing that it pushed or may have pushed. */
export function openStores(run: CallerRun, settings: PushSettings): Stores {
	const { campaign, reader } = settings;
	const isModel = reader === 'forModel';
	const pushedNumbers = openPushedNumbers(run, settings);
	const { id } = campaign;
	// All pushes of a model count as one.
	const push = isModel
		? 'model'
		: placeAmongPushes(pushedNumbers.memory, id, runIndexOf(run.context));
	return {
		// What a model pushed is known by the numbers.
		ledger: openLedger<PartResult>(run, isModel ? {} : undefined),
		place: ['push', id, push],
		pushedNumbers,
		pushedBefore: openPushedBefore(run, settings),
	};
}

/**
 * Counts the pushes of the execution to the campaign, from 0. After a crash, the runs of the node can have other numbers,
 * and the campaigns can come in another order.
 */
function placeAmongPushes({ runs }: PushMemory, campaign: number, run: number): number {
	const ofCampaign = runs[campaign] ?? [];
	runs[campaign] = ofCampaign;
	const place = sortedIndexOf(ofCampaign, run);
	return place < 0 ? ofCampaign.push(run) - 1 : place;
}
