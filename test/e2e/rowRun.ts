import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';
import { connect, manualTrigger, node, type Arrow, type WorkflowJson } from '../n8n/workflow';
import type { Account } from './account';

/** Executes a node in the editor, on rows or what other nodes make of them. Returns what its last run returned and shows. */
export async function runOnRows(
	account: Account,
	last: INode,
	rows: IDataObject[],
	...between: INode[]
) {
	const nodes = [...between, last];
	const names = ['Rows', ...nodes.map(({ name }) => name)];
	const arrows = nodes.map(({ name }, index): Arrow => [names[index] ?? '', name]);
	const { runs, ...executed } = await executeFlow(account, flowOnRows(rows, nodes, arrows));
	return { ...executed, outputs: runs(last.name).at(-1) ?? [] };
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
