import type { IConnections, INode } from 'n8n-workflow';
import { chain, executeSub, node, subTrigger, type WorkflowJson } from '../../n8n/workflow';

export const ARRANGEMENTS = [
	'straight',
	'loop',
	'sub-workflow',
	'sub-workflow for each item',
] as const;

/** The node that runs the writer's sub-workflow. */
export const CALLER = 'Call';

/** How the writer is connected to the node with the items. */
export type Arrangement = (typeof ARRANGEMENTS)[number];

/** Saves and publishes a workflow. Returns its ID. */
export type Publish = (workflow: WorkflowJson) => Promise<string>;

const to = ({ name }: INode) => ({ node: name, type: 'main' as const, index: 0 });

/** The nodes after the one with the items. The first is to be connected to it. */
export async function arrange(
	arrangement: Arrangement,
	writer: INode,
	publish: Publish,
): Promise<{ nodes: INode[]; connections: IConnections }> {
	if (arrangement === 'straight') return { nodes: [writer], connections: {} };
	if (arrangement === 'loop') {
		const loop = node('Loop', 'n8n-nodes-base.splitInBatches', 3, { batchSize: 3 });
		return {
			nodes: [loop, writer],
			connections: {
				[loop.name]: { main: [[], [to(writer)]] },
				// All outputs continue with the next batch.
				[writer.name]: { main: [[to(loop)], [to(loop)], [to(loop)]] },
			},
		};
	}
	const id = await publish(chain('called by another', subTrigger(), writer));
	const call = executeSub(id, arrangement === 'sub-workflow' ? 'once' : 'each');
	return { nodes: [{ ...call, name: CALLER }], connections: {} };
}
