import { type IExecuteFunctions, NodeOperationError } from 'n8n-workflow';
import { clock } from '../http/accountClient';
import { canceledError, cancellableSleep, isCanceled } from '../run/cancel';
import { triggerKey } from '../triggers/activeTriggers';
import { areRowsSeparate, NamedRow } from './namedRow';
import { repeatOnStore } from './nodeStore';

/**
 * How long a row stays in n8n's database at least. After it has started, a webhook process keeps the first delivery for two
 * minutes, and a busy worker starts an execution later.
 */
const MIN_MS = 30 * 60_000;

/** For each new event, so that rows don't accumulate. */
const MAX_DELETED = 2;

const HOW_TO_CONTINUE =
	"Look for another execution for the same event that continued after the trigger. If there isn't one, retry this execution.";

/** By trigger: the keys whose rows this process deletes later, oldest first, and since when it has known them. */
const rowsByTrigger = new Map<string, Map<string, number>>();

/**
 * Whether this execution is the first with the key, in all processes: it inserted the row of the key. If n8n runs the
 * execution again, it's still the first.
 *
 * @param minEvents the rows of as many latest events stay, however old they are
 * @param knownKeys whose rows another process may have left
 * @throws NodeOperationError if n8n's database is unavailable, or the execution is stopped
 */
export async function isFirstExecution(
	context: IExecuteFunctions,
	key: string,
	minEvents: number,
	knownKeys: readonly string[],
): Promise<boolean> {
	if (!(await insertRow(context, key))) {
		// With one row for all names, every event would look like a repeat.
		if (await onDatabase(context, async () => await areRowsSeparate(context))) return false;
		// n8n itself compares the keys of the other executions.
		if (context.getMode() !== 'webhook') return true;
		throw rowsNotSeparate(context);
	}
	const trigger = triggerKey(context);
	const rows = rowsByTrigger.get(trigger) ?? rowsOf(knownKeys);
	rows.delete(key);
	rowsByTrigger.set(trigger, rows.set(key, clock.elapsed()));
	deleteOldRows(context, rows, minEvents);
	return true;
}

async function insertRow(context: IExecuteFunctions, key: string): Promise<boolean> {
	const row = rowOf(context, key);
	return await onDatabase(context, async () => await row.insert(context.getExecutionId()));
}

async function onDatabase(
	context: IExecuteFunctions,
	use: () => Promise<boolean>,
): Promise<boolean> {
	const sleep = cancellableSleep(context);
	const { result } = await repeatOnStore(use, async (ms) => await sleep(ms).then(() => true)).catch(
		(error: unknown) => {
			throw isCanceled(context) ? canceledError(context) : databaseUnavailable(context, error);
		},
	);
	return result;
}

function databaseUnavailable(context: IExecuteFunctions, error: unknown): NodeOperationError {
	return new NodeOperationError(
		context.getNode(),
		"n8n's database didn't respond, so the trigger can't check for a repeated event",
		{
			description: `${HOW_TO_CONTINUE} n8n reported: ${String(error)}`,
		},
	);
}

function rowsNotSeparate(context: IExecuteFunctions): NodeOperationError {
	return new NodeOperationError(
		context.getNode(),
		"The trigger can't check for a repeated event with this version of n8n",
		{
			description: `${HOW_TO_CONTINUE} Let all webhook requests of this workflow go to n8n's main process.`,
		},
	);
}

function rowOf(context: IExecuteFunctions, key: string): NamedRow {
	return new NamedRow(context, `event:${key}`);
}

function rowsOf(keys: readonly string[]): Map<string, number> {
	return new Map(keys.map((key) => [key, clock.elapsed()]));
}

/** Doesn't keep the execution waiting. If n8n can't delete a row, a later event tries again. */
function deleteOldRows(
	context: IExecuteFunctions,
	rows: Map<string, number>,
	minEvents: number,
): void {
	const isOld = (since: number) => rows.size > minEvents && clock.elapsed() - since >= MIN_MS;
	let deleted = 0;
	for (const [key, since] of rows) {
		if (deleted++ === MAX_DELETED || !isOld(since)) return;
		rows.delete(key);
		rowOf(context, key)
			.delete()
			.catch(() => rows.set(key, since));
	}
}
