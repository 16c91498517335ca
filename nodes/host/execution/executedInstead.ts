import type { IExecuteFunctions } from 'n8n-workflow';
import { toolsOf } from '../caller/agentRun';
import type { Caller } from '../caller/caller';
import { executionDataOf } from '../nodeRun';

/**
 * The node that a person executes alone in the editor, although n8n runs this node, too: with *Execute previous nodes* of this
 * one, and with *Execute step* of a node on another branch. n8n does so if a form, a chat, or a webhook starts the workflow.
 */
export function executedInstead(context: IExecuteFunctions, { kind }: Caller): string | undefined {
	const destination = executionDataOf(context)?.startData?.destinationNode;
	if (destination === undefined) return undefined;
	const { name } = context.getNode();
	const { nodeName, mode } = destination;
	const before = context.getParentNodes(nodeName).map((node) => node.name);
	const selected = mode === 'inclusive' ? [nodeName, ...before] : before;
	if (kind === 'workflow') return selected.includes(name) ? undefined : nodeName;
	// A tool runs with its agent. A test of the tool alone has nothing before it.
	const isUsed = selected.some((user) => toolsOf(context, user).some((tool) => tool.name === name));
	return isUsed || before.length === 0 ? undefined : nodeName;
}
