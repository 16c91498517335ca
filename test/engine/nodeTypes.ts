import {
	NodeConnectionTypes,
	NodeHelpers,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type INodeTypes,
	type IVersionedNodeType,
} from 'n8n-workflow';
import { z } from 'zod';
import { loader } from './sourceLoader';

export const PACKAGE = 'n8n-nodes-voice-chat-agent';

/** Returns its input: the start of a workflow, or a node after an output that a test checks. */
class PassThrough implements INodeType {
	readonly description: INodeTypeDescription;

	constructor(name: string, isStart: boolean) {
		this.description = {
			displayName: name,
			name,
			group: [isStart ? 'trigger' : 'transform'],
			version: 1,
			description: '',
			defaults: { name },
			inputs: isStart ? [] : [NodeConnectionTypes.Main],
			outputs: [NodeConnectionTypes.Main],
			properties: [],
		};
	}

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await Promise.resolve([this.getInputData()]);
	}
}

const helpers = new Map<string, INodeType>([
	['test.start', new PassThrough('test.start', true)],
	['test.sink', new PassThrough('test.sink', false)],
	// Only its name matters here. The loops of the e2e tests are real.
	['n8n-nodes-base.splitInBatches', new PassThrough('splitInBatches', false)],
]);

/** A node as a tool, as n8n derives it: it runs the same code, and its name decides what the form shows. */
function toolOf(node: INodeType): INodeType {
	const { description } = node;
	const outputs = [NodeConnectionTypes.AiTool];
	const ofTool = { ...description, name: `${description.name}Tool`, inputs: [], outputs };
	return z.custom<INodeType>().parse(Object.create(node, { description: { value: ofTool } }));
}

export const nodeTypes: INodeTypes = {
	getByName(type): INodeType | IVersionedNodeType {
		const name = type.replace(`${PACKAGE}.`, '').replace(/Tool$/, '');
		return helpers.get(type) ?? loader.getNode(name).type;
	},
	getByNameAndVersion(type, version) {
		const node = NodeHelpers.getVersionedNodeType(this.getByName(type), version);
		return type.endsWith('Tool') ? toolOf(node) : node;
	},
	getKnownTypes: (): IDataObject => ({ ...loader.known.nodes }),
};
