import type { IExecuteFunctions } from 'n8n-workflow';
import { InvalidInput } from '../../core/service/errors';
import { onScreenOnly } from '../../core/service/resolution';
import { isJsonObject, type JsonObject } from '../../core/values/json';
import type { CallerRun } from '../caller/caller';
import { runNumberOf } from '../nodeRun';

/** The key in the node's context, which n8n shows in `$node[…].context`. */
const STORE_KEY = 'voiceChatAgent';

type StoreData = { [key: string]: unknown };

/** All runs of the node, in a workflow and as a tool, or one of them. */
type Lifetime = 'node' | 'run';

/**
 * What a node remembers in an execution. It's available again to each attempt of *Retry On Fail*, and to the execution that
 * *Retry* starts.
 *
 * n8n stores it with every execution, so it must be small, plain JSON: IDs, positions, and counts, never rows. n8n writes
 * it when the execution ends, or after each node if the workflow saves its progress. If the process is killed before,
 * the latest changes are lost.
 *
 * @param name a node may have several
 * @param isMemory checks what was read from the database
 * @param empty that of a first attempt
 * @param lifetime what shares it
 * @returns it, to be changed in place
 * @throws InvalidInput if it's damaged: what earlier attempts did is then unknown
 */
export function openMemory<T extends JsonObject>(
	{ context, caller }: CallerRun,
	name: string,
	isMemory: (stored: unknown) => stored is T,
	empty: T,
	lifetime: Lifetime = 'run',
): T {
	// n8n has no execution of an MCP client.
	const data: StoreData = caller.mcpSession === undefined ? storeDataOf(context) : {};
	const key = lifetime === 'node' ? name : `${name}, ${runOf(context)}`;
	if (!Object.hasOwn(data, key)) data[key] = empty;
	const stored = data[key];
	if (isMemory(stored)) return stored;
	throw new InvalidInput(
		"The record of an earlier attempt of this execution can't be read, so nothing was sent",
		onScreenOnly(
			'Check in the service which items were completed, and start a new execution with the others.',
		),
	);
}

/** Removes what is remembered of a node run that succeeded, because no further attempt can follow. Not for tools. */
export function clearRun(context: IExecuteFunctions): void {
	const data = storeDataOf(context);
	const run = runOf(context);
	for (const key of Object.keys(data)) {
		if (key.endsWith(`, ${run}`)) Reflect.deleteProperty(data, key);
	}
}

/** The same for each attempt of a node run. */
function runOf(context: IExecuteFunctions): string {
	return `run ${runNumberOf(context)}`;
}

function storeDataOf(context: IExecuteFunctions): StoreData {
	const contextData = context.getContext('node');
	const data: unknown = contextData[STORE_KEY];
	if (isJsonObject(data)) return data;
	const empty: StoreData = {};
	contextData[STORE_KEY] = empty;
	return empty;
}
