import type { IExecuteFunctions } from 'n8n-workflow';
import { InvalidInput } from '../../core/service/errors';
import { onScreenOnly } from '../../core/service/resolution';
import { isJsonObject, type JsonObject } from '../../core/values/json';
import type { Caller, CallerRun } from '../caller/caller';
import { runNumberOf } from '../nodeRun';

/** The key in the node's context, which n8n shows in `$node[…].context`. */
const STORE_KEY = 'voiceChatAgent';

type StoreData = { [key: string]: unknown };

/**
 * - `node`: all runs of the node, in a workflow and as a tool.
 * - `run`: a run of the node. As tools, all nodes of the workflow share it while an agent processes a row.
 */
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
	const isOfNode = lifetime === 'node' || caller.kind !== 'model';
	const data = storeDataOf(context, isOfNode ? 'node' : 'flow', caller.mcpSession);
	const key = lifetime === 'node' ? name : `${name}, ${runOf(context, caller)}`;
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

/** Values by name, which aren't checked. Empty in a first attempt. */
export function openValues(run: CallerRun, name: string): JsonObject {
	return openMemory(run, name, isJsonObject, {});
}

/** Removes what is remembered of a node run that succeeded, because no further attempt can follow. Not for tools. */
export function clearRun(context: IExecuteFunctions): void {
	const data = storeDataOf(context, 'node');
	const run = runOfNode(context);
	for (const key of Object.keys(data)) {
		if (key.endsWith(`, ${run}`)) Reflect.deleteProperty(data, key);
	}
}

/** The same for each attempt of a node run, and for all tool requests of one row in one agent run. */
function runOf(context: IExecuteFunctions, caller: Caller): string {
	if (caller.kind !== 'model') return runOfNode(context);
	const { agent } = caller;
	const key = agent?.row.key;
	// An MCP session counts as one.
	return `${agent?.run ?? 'agent'}${key === undefined ? '' : `, row ${key}`}`;
}

function runOfNode(context: IExecuteFunctions): string {
	return `run ${runNumberOf(context)}`;
}

function storeDataOf(
	context: IExecuteFunctions,
	scope: 'flow' | 'node',
	session?: string,
): StoreData {
	// MCP clients have no execution.
	if (session !== undefined) return {};
	const contextData = context.getContext(scope);
	const data: unknown = contextData[STORE_KEY];
	if (isJsonObject(data)) return data;
	const empty: StoreData = {};
	contextData[STORE_KEY] = empty;
	return empty;
}
