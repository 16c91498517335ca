import type { IExecuteFunctions } from 'n8n-workflow';
import { InvalidInput } from '../../api/errors';
import { onScreenOnly } from '../../api/modelAdvice';
import { isJsonObject, type JsonObject } from '../../json';
import { BoundedMap } from '../../boundedMap';
import { agentRunOf, mcpSessionOf, runsAsTool } from '../tools/toolRun';

/** Under this name everything lies in the node's context, which n8n shows in `$node[…].context`. */
const STORE_KEY = 'voiceChatAgent';

type StoreData = { [key: string]: unknown };
type Scope = 'node' | 'workflow';
type Lifetime = 'run' | 'execution';

/**
 * One named record of what a node did in one of its runs, kept by n8n with the execution: it is there
 * again on each try of *Retry On Fail* and, read back from the database, in the execution that *Retry*
 * in the list of executions starts. The next run of a loop has a record of its own. As a tool, one run
 * of the agent, or one session of the MCP client, has one record.
 *
 * It is stored with every execution, so it holds plain JSON and little of it: IDs, ranges and counts,
 * never rows. n8n writes it when the execution ends, or after each node where the workflow saves
 * its progress: what a process does in the moment before it is killed is not in it.
 */
export class ExecutionStore<T extends JsonObject> {
	private readonly data: StoreData;
	private readonly key: string;

	/**
	 * @param name one for each kind of record; a node may keep several
	 * @param isRecord whether what comes back from the database has the form that was written
	 * @param place whose it is: this node's alone, or one for all nodes of the workflow
	 * @param span of one run of the node, or of all its runs in the execution, as in a loop
	 */
	constructor(
		context: IExecuteFunctions,
		name: string,
		private readonly isRecord: (stored: unknown) => stored is T,
		place: Scope = 'node',
		span: Lifetime = 'run',
	) {
		this.data = storeDataOf(context, place);
		this.key = span === 'run' ? `${name}, ${runOf(context)}` : name;
	}

	/**
	 * What was written last, the very object: a change to it is kept as well.
	 *
	 * @throws InvalidInput where something was written that cannot be read, as what was done is then open
	 */
	read(): T | undefined {
		if (!Object.hasOwn(this.data, this.key)) return undefined;
		const stored = this.data[this.key];
		if (this.isRecord(stored)) return stored;
		throw new InvalidInput(
			'What this node did in an earlier try of this execution cannot be read, so nothing was sent',
			onScreenOnly(
				'Look in the service what was already done, and start a new execution with the items that are left.',
			),
		);
	}

	write(record: T): void {
		this.data[this.key] = record;
	}
}

/** Drops all records of a run that ended well: no try of it can follow. */
export function clearRun(context: IExecuteFunctions): void {
	const shelf = storeDataOf(context, 'node');
	const run = runOf(context);
	for (const key of Object.keys(shelf)) {
		if (key.endsWith(`, ${run}`)) Reflect.deleteProperty(shelf, key);
	}
}

/** The same for each try of one run of a node, and for all runs of a tool for one run of its agent. */
function runOf(context: IExecuteFunctions): string {
	if (runsAsTool(context)) return agentRunOf(context);
	const { $runIndex: run } = context.getWorkflowDataProxy(0);
	return `run ${String(run)}`;
}

/** What was done for MCP clients, whose calls belong to no execution: in this process, the newest sessions. */
const sessions = new BoundedMap<StoreData>(500);

/** What was done without an execution to keep it with, as long as n8n holds on to the node's task. */
const tasks = new WeakMap<object, StoreData>();

function storeDataOf(context: IExecuteFunctions, place: Scope): StoreData {
	const session = mcpSessionOf(context);
	if (session === undefined) return dataInExecution(context, place);
	if (session === '') return dataOfTask(context);
	const node = place === 'node' ? context.getNode().id : '';
	const key = JSON.stringify([context.getWorkflow().id, node, session]);
	const shelf = sessions.get(key) ?? {};
	sessions.set(key, shelf);
	return shelf;
}

function dataInExecution(context: IExecuteFunctions, place: Scope): StoreData {
	const kept = context.getContext(place === 'node' ? 'node' : 'flow');
	const shelf: unknown = kept[STORE_KEY];
	if (isJsonObject(shelf)) return shelf;
	const empty: StoreData = {};
	kept[STORE_KEY] = empty;
	return empty;
}

/** Each try of *Retry On Fail* has the same task. */
function dataOfTask(context: IExecuteFunctions): StoreData {
	const task = context.getExecuteData();
	const shelf = tasks.get(task) ?? {};
	tasks.set(task, shelf);
	return shelf;
}
