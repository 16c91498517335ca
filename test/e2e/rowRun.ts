import { randomUUID } from 'node:crypto';
import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';
import type { JsonObject } from '../../nodes/core/values/json';
import { chain, manualTrigger, node, webhook, type WorkflowJson } from '../n8n/workflow';
import type { Account } from './account';
import { type Arrow, connect } from './callingAgent';

/** One item per row of a request. */
export const splitRows = (): INode =>
	node('Rows', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.rows' });

/** Runs a node on rows, or on what `read` returns. Returns the ended execution, with what the node returned and shows. */
export async function runOnRows(
	account: Account,
	last: INode,
	rows: readonly JsonObject[],
	...read: INode[]
) {
	const before = read.length > 0 ? read : [splitRows()];
	return await runFlow(account, last.name, rows, (trigger) =>
		chain('rows', trigger, ...before, last),
	);
}

/** The same with any flow after the trigger, and any node of it. */
export async function runFlow(
	{ n8n, publish, executionOf }: Account,
	name: string,
	rows: readonly JsonObject[],
	flowAfter: (trigger: INode) => WorkflowJson,
) {
	const path = randomUUID();
	const workflow = await publish(flowAfter(webhook(path, { responseMode: 'onReceived' })));
	await n8n.webhook(path, { rows });
	const { id, status } = await n8n.finished(await executionOf(workflow));
	const { runData, error } = await n8n.runData(id);
	const { hints = [], data } = runData[name]?.at(-1) ?? {};
	const outputs = (data?.main ?? []).map((items) => jsonOf(items ?? []));
	return { id, status, error, hints: hints.map(({ message }) => message), outputs };
}

const jsonOf = (items: INodeExecutionData[]) => items.map(({ json }) => json);

/** A workflow with Start → one item per row (Rows) → the nodes, as the arrows say. */
export function flowOnRows(rows: IDataObject[], nodes: INode[], arrows: Arrow[]): WorkflowJson {
	return {
		name: 'rows',
		nodes: [
			manualTrigger(),
			node('Sheet', 'n8n-nodes-base.set', 3.4, {
				mode: 'raw',
				jsonOutput: JSON.stringify({ rows }),
			}),
			node('Rows', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'rows' }),
			// n8n runs upper branches first.
			...nodes.map((one, index): INode => ({ ...one, position: [0, 100 * index] })),
		],
		connections: connect([['Start', 'Sheet'], ['Sheet', 'Rows'], ...arrows]),
	};
}

/** Executes a workflow in the editor. Returns the execution, and what each run of a node returned, by output. */
export async function executeFlow({ n8n, create }: Account, flow: WorkflowJson) {
	const workflow = await create(flow);
	const execution = await n8n.runManually(workflow, 'Start');
	const { runData, error } = await n8n.runData(execution.id);
	const runs = (name: string) =>
		(runData[name] ?? []).map(({ data }) => (data?.main ?? []).map((items) => jsonOf(items ?? [])));
	return { ...execution, workflow, error, runs };
}
