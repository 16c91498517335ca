import { randomUUID } from 'node:crypto';
import {
	Workflow,
	type INode,
	type INodeExecutionData,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import { executeContext, makeAdditionalData } from './engine';
import { nodeTypes } from './nodeTypes';

/**
 * Runs a node as n8n's Engine 2.0 does: without workflow settings, records of earlier runs, a cancel signal, and hooks.
 * With Continue On Fail, an error is lost, and the input is the output.
 */
export async function runOnEngine2(
	{ onError, ...rest }: INode,
	items: INodeExecutionData[],
): Promise<INodeExecutionData[][]> {
	const node: INode = { ...rest, continueOnFail: onError === 'continueRegularOutput' };
	const workflow = new Workflow({
		id: 'wf-1',
		nodes: [node],
		connections: {},
		active: false,
		nodeTypes,
	});
	const { hooks: _hooks, ...shared } = makeAdditionalData('webhook');
	const additionalData: IWorkflowExecuteAdditionalData = { ...shared, executionId: randomUUID() };
	const context = executeContext(node, items, { mode: 'webhook', workflow, additionalData });
	try {
		const type = nodeTypes.getByNameAndVersion(node.type, node.typeVersion);
		const outputs = await type.execute?.call(context);
		if (!Array.isArray(outputs)) throw new Error(`${node.type} has no output`);
		return outputs;
	} catch (error) {
		if (node.continueOnFail !== true) throw error;
		return [items];
	}
}
