import compact from 'lodash/compact';
import type { IExecuteFunctions, ISourceData } from 'n8n-workflow';
import { executionDataOf, toolsOf } from '../caller/agentRun';
import type { Caller } from '../caller/caller';

/**
 * Whether this run of the node came out of an earlier one: in a loop, the nodes between them lead back. n8n also runs a node
 * once for each connected output before it, and these runs don't come out of each other.
 *
 * @param earlier the index of the earlier run, from 0
 */
export function followsRun(context: IExecuteFunctions, earlier: number): boolean {
	const { name } = context.getNode();
	const runData = executionDataOf(context)?.resultData.runData ?? {};
	const sources: Array<ISourceData | null> = [...(context.getExecuteData().source?.main ?? [])];
	const seen = new Set<string>();
	// Grows while it's read.
	for (const source of sources) {
		if (source === null) continue;
		const { previousNode, previousNodeRun = 0 } = source;
		if (previousNode === name && previousNodeRun <= earlier) {
			if (previousNodeRun === earlier) return true;
			continue;
		}
		const run = `${previousNodeRun} ${previousNode}`;
		if (seen.has(run)) continue;
		seen.add(run);
		sources.push(...compact(runData[previousNode]?.[previousNodeRun]?.source));
	}
	return false;
}

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
