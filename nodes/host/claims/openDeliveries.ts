import once from 'lodash/once';
import type { IExecuteFunctions } from 'n8n-workflow';
import { areResults, Deliveries, isDeliveryRecord } from '../../core/claims/deliveries';
import type { CallerRun } from '../caller/caller';
import { runNumberOf } from '../nodeRun';
import { forgetMemory, openMemory } from './executionMemory';
import { openClaims, unlessSent } from './openClaims';

/**
 * What this node sent in the execution.
 *
 * @throws InvalidInput if what n8n stored of an earlier attempt is damaged
 */
export function openDeliveries(run: CallerRun): Deliveries {
	const record = openMemory(run, 'sent', isDeliveryRecord, {});
	// Those of a tool stay, because its model may repeat a request at any time.
	const name = run.caller.kind === 'model' ? 'results' : resultsOfRun(run.context);
	const results = openMemory(run, name, areResults, {});
	return new Deliveries(
		record,
		results,
		once(async () => await openClaims(run)),
	);
}

function resultsOfRun(context: IExecuteFunctions): string {
	return `results of run ${runNumberOf(context)}`;
}

/** Of a node run that succeeded, because no further attempt can follow. Not for tools. */
export function forgetResults(context: IExecuteFunctions): void {
	forgetMemory(context, resultsOfRun(context));
}

/** Identifies an item in all attempts of its execution, for which n8n passes the same items. */
export function itemId(context: IExecuteFunctions, index: number): string {
	return `${prefixOf(context)}${index}`;
}

function prefixOf(context: IExecuteFunctions): string {
	return `${runNumberOf(context)}#`;
}

/** After an earlier attempt, an error before the first request doesn't show that nothing was sent. */
export async function beforeSending(run: CallerRun, error: unknown): Promise<unknown> {
	return await unlessSent(error, async () => await mayHaveSent(run));
}

/**
 * Whether an earlier attempt of this run of the node may have sent anything, also if the items can't be read now. True if n8n's
 * database can't be reached.
 */
export async function mayHaveSent(run: CallerRun): Promise<boolean> {
	const prefix = prefixOf(run.context);
	try {
		if (openDeliveries(run).has((id) => id.startsWith(prefix))) return true;
		const claims = await openClaims(run);
		return !claims.isFirst && (await claims.mayHaveBegun());
	} catch {
		return true;
	}
}
