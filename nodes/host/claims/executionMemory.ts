import once from 'lodash/once';
import type { IExecuteFunctions } from 'n8n-workflow';
import { maybeSentBefore } from '../../core/claims/claims';
import { Deliveries, isDeliveryRecord } from '../../core/claims/deliveries';
import { ExplainedError, InvalidInput } from '../../core/service/errors';
import { isJsonObject, type JsonObject } from '../../core/values/json';
import type { CallerRun } from '../caller/caller';
import { runNumberOf } from '../nodeRun';
import { openClaims } from './openClaims';

/** The key in the node's context, which n8n shows in `$node[…].context`. */
const STORE_KEY = 'voiceChatAgent';
/** The memory of {@link Deliveries}. */
const SENT = 'sent';

/**
 * What a node remembers in an execution, in all its runs. It's available again to each attempt of *Retry On Fail*, and to the
 * execution that *Retry* starts.
 *
 * n8n stores it with every execution, so it must be small, plain JSON: IDs, positions, and counts, never rows. n8n writes
 * it when the execution ends, or after each node if the workflow saves its progress. If the process is killed before,
 * the latest changes are lost.
 *
 * @param name a node may have several
 * @param isMemory checks what was read from the database
 * @param empty that of a first attempt
 * @returns it, to be changed in place
 * @throws InvalidInput if it's damaged: what earlier attempts did is then unknown
 */
export function openMemory<T extends JsonObject>(
	{ context, caller }: CallerRun,
	name: string,
	isMemory: (stored: unknown) => stored is T,
	empty: T,
): T {
	// n8n has no execution of an MCP client.
	const data = caller.mcpSession === undefined ? memoriesOf(context) : {};
	if (!Object.hasOwn(data, name)) data[name] = empty;
	const stored: unknown = data[name];
	if (isMemory(stored)) return stored;
	throw new InvalidInput(
		"The record of an earlier attempt of this execution can't be read, so nothing was sent",
		'Check in the service which items were completed, and start a new execution with the others.',
	);
}

/** By name. */
function memoriesOf(context: IExecuteFunctions): JsonObject {
	const contextData = context.getContext('node');
	const data: unknown = contextData[STORE_KEY];
	if (isJsonObject(data)) return data;
	const empty: JsonObject = {};
	contextData[STORE_KEY] = empty;
	return empty;
}

/** What this node sent in the execution. @throws InvalidInput if what n8n stored of an earlier attempt is damaged */
export function openDeliveries(run: CallerRun): Deliveries {
	const record = openMemory(run, SENT, isDeliveryRecord, {});
	return new Deliveries(
		record,
		once(async () => await openClaims(run)),
	);
}

/** Identifies an item in all attempts of its execution, for which n8n passes the same items. */
export function itemId(context: IExecuteFunctions, index: number): string {
	return `${prefixOf(context)}${index}`;
}

function prefixOf(context: IExecuteFunctions): string {
	return `${runNumberOf(context)}#`;
}

/** What this run of the node has in the record. @throws InvalidInput if it's damaged */
function entriesOf(run: CallerRun) {
	const prefix = prefixOf(run.context);
	const record = openMemory(run, SENT, isDeliveryRecord, {});
	return Object.values(record).filter(({ id }) => id.startsWith(prefix));
}

/**
 * Of a run of the node that succeeded, because no further attempt can follow. Those of tools stay, because a model may repeat
 * a request at any time.
 */
export function forgetResults(run: CallerRun): void {
	if (!isDeliveryRecord(memoriesOf(run.context)[SENT])) return;
	for (const entry of entriesOf(run)) if (entry.done !== undefined) entry.done = [];
}

/**
 * Whether an earlier attempt of this run of the node may have sent anything, also if the items can't be read now. True if n8n's
 * database can't be reached.
 */
export async function mayHaveSent(run: CallerRun): Promise<boolean> {
	try {
		if (entriesOf(run).length > 0) return true;
		const claims = await openClaims(run);
		return !claims.isFirst && (await claims.mayHaveBegun());
	} catch {
		return true;
	}
}

/** After an earlier attempt, an error before the first request doesn't show that nothing was sent. */
export async function unlessSent(
	run: CallerRun,
	error: unknown,
	check = mayHaveSent,
): Promise<unknown> {
	if (!(error instanceof ExplainedError) || error.outcome === 'unknown') return error;
	return (await check(run)) ? maybeSentBefore(error) : error;
}
