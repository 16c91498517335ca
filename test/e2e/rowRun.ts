import { randomUUID } from 'node:crypto';
import type { INode, INodeExecutionData } from 'n8n-workflow';
import type { JsonObject } from '../../nodes/shared/json';
import { chain, node, webhook, type WorkflowJson } from '../n8n/workflow';
import type { Account } from './account';

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
