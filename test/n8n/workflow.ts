import { randomUUID } from 'node:crypto';
import type { IConnections, INode, INodeParameters, IPinData } from 'n8n-workflow';

export interface WorkflowJson {
	name: string;
	nodes: INode[];
	connections: IConnections;
	settings?: Record<string, unknown>;
	pinData?: IPinData;
}

export function node(
	name: string,
	type: string,
	typeVersion: number,
	parameters: INodeParameters = {},
	rest: Partial<INode> = {},
): INode {
	return { id: randomUUID(), name, type, typeVersion, position: [0, 0], parameters, ...rest };
}

/** The value of a field that can be selected from a list or entered by ID. */
export const byId = (id: string | number) => ({ __rl: true, mode: 'id', value: String(id) });

/** A webhook that starts the workflow and responds when its last node has run. */
export function webhook(path: string, parameters: INodeParameters = {}): INode {
	return node(
		'Webhook',
		'n8n-nodes-base.webhook',
		2,
		{ path, httpMethod: 'POST', responseMode: 'lastNode', ...parameters },
		{ webhookId: path },
	);
}

export function manualTrigger(): INode {
	return node('Start', 'n8n-nodes-base.manualTrigger', 1);
}

/** The trigger of a sub-workflow, which gets the items of its caller as they are. */
export const subTrigger = (): INode =>
	node('Called', 'n8n-nodes-base.executeWorkflowTrigger', 1.1, { inputSource: 'passthrough' });

/** Runs a sub-workflow once with all items, or once for each item. */
export const executeSub = (id: string, mode: 'once' | 'each' = 'once'): INode =>
	node('Execute', 'n8n-nodes-base.executeWorkflow', 1.2, {
		workflowId: byId(id),
		mode,
		workflowInputs: { mappingMode: 'defineBelow', value: {} },
	});

/** The parameters of an If or Filter node with one condition, or those of a rule of a Switch node. */
export function condition(
	leftValue: string,
	operator: 'is true' | 'is false' | 'equals' | 'is less than',
	rightValue: string | number = '',
): INodeParameters {
	const type = typeof rightValue === 'number' ? 'number' : 'string';
	const operators = {
		'is true': { type: 'boolean', operation: 'true', singleValue: true },
		'is false': { type: 'boolean', operation: 'false', singleValue: true },
		equals: { type, operation: 'equals' },
		'is less than': { type, operation: 'lt' },
	};
	return {
		conditions: {
			options: { version: 2, caseSensitive: true, typeValidation: 'strict' },
			combinator: 'and',
			conditions: [{ id: randomUUID(), leftValue, rightValue, operator: operators[operator] }],
		},
	};
}

/** Work that takes time. */
export function waitNode(seconds: number): INode {
	const parameters = { amount: seconds, unit: 'seconds' };
	return node('Wait', 'n8n-nodes-base.wait', 1.1, parameters, { webhookId: randomUUID() });
}

/** A workflow with its nodes in a row. */
export function chain(name: string, ...nodes: INode[]): WorkflowJson {
	const connections: IConnections = {};
	nodes.forEach((from, index) => {
		const to = nodes[index + 1];
		if (to) connections[from.name] = { main: [[{ node: to.name, type: 'main', index: 0 }]] };
	});
	return { name, nodes, connections };
}

type Link = 'main' | 'ai_tool' | 'ai_languageModel';
/** A connection between two nodes: its type, and the index of the output. */
export type Arrow = [from: string, to: string, type?: Link, output?: number];

export function connect(arrows: Arrow[]): IConnections {
	const connections: IConnections = {};
	for (const [from, to, type = 'main', output = 0] of arrows) {
		const outputs = ((connections[from] ??= {})[type] ??= []);
		while (outputs.length <= output) outputs.push([]);
		outputs[output]?.push({ node: to, type, index: 0 });
	}
	return connections;
}
