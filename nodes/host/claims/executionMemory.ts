import type { IExecuteFunctions } from 'n8n-workflow';
import { InvalidInput } from '../../core/service/errors';
import { isJsonObject, type JsonObject } from '../../core/values/json';
import type { CallerRun } from '../caller/caller';

/** The key in the node's context, which n8n shows in `$node[…].context`. */
const STORE_KEY = 'voiceChatAgent';

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

export function forgetMemory(context: IExecuteFunctions, name: string): void {
	Reflect.deleteProperty(memoriesOf(context), name);
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
