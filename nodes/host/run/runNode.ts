import once from 'lodash/once';
import {
	type IExecuteFunctions,
	type INodeExecutionData,
	NodeConnectionTypes,
	NodeOperationError,
} from 'n8n-workflow';
import { createAccountClient } from '../http/accountClient';
import { forgetResults, unlessSent } from '../claims/executionMemory';
import { type Caller, callerOf } from '../caller/caller';
import { isCanceled } from '../execution/cancel';
import { requireItemsOfFields } from './executeOnce';
import { isNodeError, toNodeError } from '../http/nodeErrors';
import { NodeParameters } from '../forms/nodeParameters';
import { addHintsForPerson, RunResult } from '../execution/runResult';
import { NotSent } from '../../core/service/errors';
import type { Explanation } from '../../core/service/explanation';
import { displayText } from '../../core/values/values';
import { executionDataOf } from '../nodeRun';
import { errorItemOf } from './itemLoop';
import type { OnlyOperation, Operation, OperationRun } from './operations';
import { runForModel } from './toolResult';

/** Runs the operation that a person chose. */
export async function runOperation(
	context: IExecuteFunctions,
	operations: Operation[],
): Promise<INodeExecutionData[][]> {
	const chosen: unknown = context.getNodeParameter('operation', 0);
	const operation = operations.find(({ value }) => value === chosen);
	if (operation === undefined) {
		throw new NodeOperationError(context.getNode(), "Choose 'Operation' from the list");
	}
	return await runNode(context, {
		...operation,
		execute: async (run) => [await operation.execute(run)],
	});
}

/** Runs an action node, in a workflow or as a tool. */
export async function runNode(
	context: IExecuteFunctions,
	operation: OnlyOperation,
): Promise<INodeExecutionData[][]> {
	const caller = callerOf(context);
	const { fields, isReadOnly } = operation;
	const result = new RunResult(context);
	if (isReadOnly === true) result.setReadOnly();
	const parameters = new NodeParameters({ context, caller }, fields, isReadOnly);
	// On first use, inside the item loop, so that each item reports an invalid credential.
	const account = once(async () => await createAccountClient(context, caller.deadline));
	const operationRun = { context, caller, result, parameters, account };
	const toOutputs = (failed: INodeExecutionData[]) =>
		operation.notBegun?.(operationRun, failed) ?? [failed];
	const executed = executedInstead(context, caller);
	const instead = executed === undefined ? undefined : notExecuted(context, executed);
	if (instead !== undefined) {
		addHintsForPerson(context, instead);
		if (caller.kind === 'workflow') return toOutputs([]);
	}
	const run = async () => {
		if (instead !== undefined) throw new NotSent(instead.message, instead.resolution);
		requireItemsOfFields(operationRun);
		return await operation.execute(operationRun);
	};
	if (caller.kind === 'model') {
		return await runForModel({ context, caller, result }, run);
	}
	const outputs = await run().catch(async (error: unknown) => {
		// An error of the item loop says what earlier attempts did. Those of a read sent nothing.
		const isComplete = isNodeError(error) || operation.isReadOnly === true;
		const shown = isComplete ? error : await unlessSent(operationRun, error, operation.mayHaveSent);
		return toOutputs(failedRun(operationRun, shown));
	});
	if (!isCanceled(context) && !mayBeRunAgain(context, outputs)) forgetResults(operationRun);
	return outputs;
}

/**
 * The node that a person executes alone in the editor, although n8n runs this node, too: with *Execute previous nodes* of this
 * one, and with *Execute step* of a node on another branch. n8n does so if a form, a chat, or a webhook starts the workflow.
 */
function executedInstead(context: IExecuteFunctions, { kind }: Caller): string | undefined {
	const destination = executionDataOf(context)?.startData?.destinationNode;
	if (destination === undefined) return undefined;
	const { name } = context.getNode();
	const { nodeName, mode } = destination;
	const before = context.getParentNodes(nodeName).map((node) => node.name);
	const selected = mode === 'inclusive' ? [nodeName, ...before] : before;
	if (kind === 'workflow') return selected.includes(name) ? undefined : nodeName;
	// A tool runs with its agent. A test of the tool alone has nothing before it.
	const isUsed = selected.some((user) => toolsOf(context, user).includes(name));
	return isUsed || before.length === 0 ? undefined : nodeName;
}

/** The names of the tools of a node, also of tools that are agents. */
function toolsOf(context: IExecuteFunctions, user: string): string[] {
	const connectionType = NodeConnectionTypes.AiTool;
	try {
		return context.getParentNodes(user, { connectionType }).map(({ name }) => name);
	} catch {
		// A connection leads to a node that doesn't exist.
		return [];
	}
}

/** n8n started this node, although a person executes another one. */
function notExecuted(context: IExecuteFunctions, executed: string): Explanation {
	if (executed === context.getNode().name)
		return {
			message: "You selected 'Execute previous nodes', so this node did nothing",
			resolution: "In n8n, select 'Execute step' to run it.",
		};
	const message = `You executed '${displayText(executed)}', so this node did nothing`;
	return { message, resolution: '' };
}

/**
 * An error of the whole node run, such as an invalid *Concurrency*, fails every item. If *On Error* is set to continue,
 * n8n would otherwise continue with the input, as if the node had succeeded.
 */
function failedRun({ context, caller }: OperationRun, error: unknown): INodeExecutionData[] {
	if (caller.continuesOnFail) {
		const items = context.getInputData();
		// The message names no item, because it's about all.
		return items.map((_item, itemIndex) => errorItemOf(context, error, { itemIndex, of: 1 }));
	}
	throw toNodeError(context.getNode(), error);
}

/**
 * *Retry On Fail* runs a node again if its first item has an error, even an empty one of its row. The next attempt needs what
 * this one did.
 */
function mayBeRunAgain(context: IExecuteFunctions, outputs: INodeExecutionData[][]): boolean {
	return context.getNode().retryOnFail === true && outputs[0]?.[0]?.json.error !== undefined;
}
