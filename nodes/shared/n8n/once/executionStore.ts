import type { IExecuteFunctions } from 'n8n-workflow';
import { InvalidInput } from '../../api/errors';
import { onScreenOnly } from '../../api/resolution';
import { isJsonObject, type JsonObject } from '../../json';
import { BoundedMap } from '../../boundedMap';
import { agentRunOf, mcpSessionOf, runsAsTool } from '../tools/toolRun';

/** The key in the node's context, which n8n shows in `$node[…].context`. */
const STORE_KEY = 'voiceChatAgent';

type StoreData = { [key: string]: unknown };

/**
 * A named record of a node run, which n8n stores with the execution. It's available again to each attempt of
 * *Retry On Fail*, and to the execution that *Retry* starts. Each run of a node in a loop has its own record. As tools, all
 * nodes of the workflow share one in each agent run or MCP session.
 *
 * n8n stores it with every execution, so it must be small, plain JSON: IDs, ranges, and counts, never rows. n8n writes
 * it when the execution ends, or after each node if the workflow saves its progress. If the process is killed before,
 * the latest changes are lost.
 *
 * @param name the kind of record; a node may have several
 * @param isRecord checks a record that was read from the database
 * @param empty the record of a first attempt
 * @param lifetime `execution`: all runs of the node share the record, as in a loop
 * @returns the record, to be changed in place
 * @throws InvalidInput if the stored record is damaged: what earlier attempts did is then unknown
 */
export function openRecord<T extends JsonObject>(
	context: IExecuteFunctions,
	name: string,
	isRecord: (stored: unknown) => stored is T,
	empty: T,
	{ lifetime = 'run' }: { lifetime?: 'run' | 'execution' } = {},
): T {
	const data = storeDataOf(context);
	const key = lifetime === 'run' ? `${name}, ${runOf(context)}` : name;
	if (!Object.hasOwn(data, key)) data[key] = empty;
	const stored = data[key];
	if (isRecord(stored)) return stored;
	throw new InvalidInput(
		"The record of an earlier attempt of this execution can't be read, so nothing was sent",
		onScreenOnly(
			'Check in the service which items were completed, and start a new execution with the others.',
		),
	);
}

/** Removes all records of a node run that succeeded, because no further attempt can follow. Not for tools. */
export function clearRun(context: IExecuteFunctions): void {
	const data = storeDataOf(context);
	const run = runOf(context);
	for (const key of Object.keys(data)) {
		if (key.endsWith(`, ${run}`)) Reflect.deleteProperty(data, key);
	}
}

/** The same for each attempt of a node run, and for all tool requests of one agent run. */
function runOf(context: IExecuteFunctions): string {
	return runsAsTool(context) ? agentRunOf(context) : `run ${runIndexOf(context)}`;
}

/** The run of the node, as in a loop, from 0. */
export function runIndexOf(context: IExecuteFunctions): number {
	return Number(context.getWorkflowDataProxy(0).$runIndex);
}

/** Records of MCP sessions, which have no execution. Only in this process, and only the newest sessions. */
const sessions = new BoundedMap<StoreData>(500);

function storeDataOf(context: IExecuteFunctions): StoreData {
	const session = mcpSessionOf(context);
	// Without a session, the next request is another one.
	if (session === '') return {};
	if (session !== undefined) {
		const key = JSON.stringify([context.getWorkflow().id, session]);
		const data = sessions.get(key) ?? {};
		sessions.set(key, data);
		return data;
	}
	const contextData = context.getContext(runsAsTool(context) ? 'flow' : 'node');
	const data: unknown = contextData[STORE_KEY];
	if (isJsonObject(data)) return data;
	const empty: StoreData = {};
	contextData[STORE_KEY] = empty;
	return empty;
}
