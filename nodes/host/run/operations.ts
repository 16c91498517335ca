import once from 'lodash/once';
import pick from 'lodash/pick';
import {
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeProperties,
	NodeOperationError,
} from 'n8n-workflow';
import { type AccountClient, createAccountClient } from '../http/accountClient';
import { requireApprovedRow } from '../ledger/approvedRow';
import { clearRun } from '../ledger/executionMemory';
import { beforeSending } from '../ledger/openLedger';
import { callerOf, type Model } from '../caller/caller';
import { isCanceled } from '../execution/cancel';
import { executedInstead } from '../execution/executionData';
import { requireItemsOfFields } from './executeOnce';
import { isNodeError, toErrorItem, toNodeError } from '../http/nodeErrors';
import { NodeParameters } from '../forms/nodeParameters';
import { shownWhere } from '../forms/shownWhere';
import { addHints, addHintsForPerson } from '../execution/hints';
import { rowAdvice } from '../forms/rowValues';
import { runForModel } from '../tools/toolResult';
import { toolDescriptionFields } from '../tools/toolDescription';
import { NotSent } from '../../core/service/errors';
import { type Explanation, onScreenOnly } from '../../core/service/resolution';
import { displayText } from '../../core/values/values';

/** The inputs of one node run. */
export type OperationRun = {
	context: IExecuteFunctions;
	parameters: NodeParameters;
	account: () => Promise<AccountClient>;
};

type OperationFacts = {
	fields: INodeProperties[];
	/** Set if it changes nothing in the service, so that a model may always repeat it. */
	isReadOnly?: true;
	/** The description of the tool for a model: its effects, and what to be careful with. */
	toolDescription: string;
};

/** An operation of a node: its form and its implementation. */
export type Operation = OperationFacts & {
	value: string;
	name: string;
	action: string;
	description: string;
	/** What the canvas shows below the name of the node, if the node gets it from here (`subtitleOf`). */
	subtitle?: string;
	execute(run: OperationRun): Promise<INodeExecutionData[]>;
};

/** The operation of a node that has one. The form doesn't name it, and the node may have several outputs. */
export type OnlyOperation = OperationFacts & {
	execute(run: OperationRun): Promise<INodeExecutionData[][]>;
	/** The outputs if nothing was sent and the node doesn't fail. By default, the first one has the items. */
	notBegun?(context: IExecuteFunctions, failed: INodeExecutionData[]): INodeExecutionData[][];
};

/** n8n's resource, such as "Call". */
export type Resource = { name: string; value: string; description?: string };

/** A resource and its operations. */
export type ResourceChoice = Resource & { operations: Operation[]; initial: Operation };

/** 'Resource', 'Operation' of each one, and then the fields of each operation. Starts with those above them in a tool. */
export function operationFields(
	resources: ResourceChoice[],
	initial: Resource | undefined = resources[0],
): INodeProperties[] {
	const operations = resources.flatMap((resource) => resource.operations);
	return [
		...operations.flatMap(({ value, toolDescription, fields }) =>
			toolDescriptionFields(toolDescription, fields, { operation: [value] }),
		),
		resourceField(resources, initial),
		...resources.map(
			({ value, operations: choices, initial: { value: first } }): INodeProperties => ({
				displayName: 'Operation',
				name: 'operation',
				type: 'options',
				noDataExpression: true,
				options: choices.map((one) => pick(one, ['name', 'value', 'action', 'description'])),
				default: first,
				displayOptions: { show: { resource: [value] } },
			}),
		),
		// Operation values are unique in a node, across its resources.
		...operations.flatMap(({ value, fields }) =>
			fields.map((field) => shownWhere(field, { operation: [value] })),
		),
	];
}

/** An expression that returns the subtitle of the chosen operation. */
export function subtitleOf(operations: Operation[]): string {
	const subtitles = Object.fromEntries(operations.map(({ value, subtitle }) => [value, subtitle]));
	return `={{ (${JSON.stringify(subtitles)})[$parameter["operation"]] }}`;
}

/**
 * n8n names a node and its tool by the operation's action ("Get call transcript") only if there is a resource, so a node
 * with one resource has a hidden field for it.
 */
function resourceField(resources: Resource[], initial = resources[0]): INodeProperties {
	return {
		displayName: 'Resource',
		name: 'resource',
		type: resources.length === 1 ? 'hidden' : 'options',
		noDataExpression: true,
		options: resources.map((resource) => pick(resource, ['name', 'value', 'description'])),
		default: initial?.value ?? '',
	};
}

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

/** The form of a node with one operation. */
export function onlyOperationFields({ toolDescription, fields }: OnlyOperation): INodeProperties[] {
	return [...toolDescriptionFields(toolDescription, fields), ...fields];
}

/** Runs an action node, in a workflow or as a tool. */
export async function runNode(
	context: IExecuteFunctions,
	operation: OnlyOperation,
): Promise<INodeExecutionData[][]> {
	const caller = callerOf(context);
	if (operation.isReadOnly === true) caller.result.setReadOnly();
	const parameters = new NodeParameters(context, operation.fields);
	const toOutputs = (failed: INodeExecutionData[]) =>
		operation.notBegun?.(context, failed) ?? [failed];
	// On first use, inside the item loop, so that each item reports an invalid credential.
	const account = once(async () => await createAccountClient(context));
	const executed = executedInstead(context);
	const instead = executed === undefined ? undefined : notExecuted(context, executed);
	if (instead !== undefined) {
		addHintsForPerson(context, instead);
		if (caller.kind === 'workflow') return toOutputs([]);
	}
	const run = async () => {
		if (instead !== undefined) throw new NotSent(instead.message, instead.resolution);
		requireItemsOfFields(context);
		return await operation.execute({ context, parameters, account });
	};
	if (caller.kind === 'model') {
		return await runForModel(context, caller, async () => {
			requireApprovedRow(context);
			hintIfUncertain(context, caller);
			return await run();
		});
	}
	const outputs = await run().catch(async (error: unknown) =>
		// An error of the item loop says what earlier attempts did.
		toOutputs(failedRun(context, isNodeError(error) ? error : await beforeSending(context, error))),
	);
	if (!isCanceled(context) && !mayBeRunAgain(outputs)) clearRun(context);
	return outputs;
}

/** n8n started this node, although a person executes another one. */
function notExecuted(context: IExecuteFunctions, executed: string): Explanation {
	if (executed === context.getNode().name)
		return {
			message: "You selected 'Execute previous nodes', so this node did nothing",
			resolution: onScreenOnly("To run it, select 'Execute step'."),
		};
	const message = `You executed '${displayText(executed)}', so this node did nothing`;
	return { message, resolution: onScreenOnly('') };
}

/** Requests of several rows then count as those of one. */
function hintIfUncertain(context: IExecuteFunctions, { agent, result }: Model): void {
	const isRead = result.readSummary !== undefined;
	if (isRead || agent?.row.which !== 'uncertain') return;
	addHints(context, {
		message:
			"n8n doesn't tell this tool which row of the agent's input asks, so all of them count as one",
		resolution: rowAdvice(agent),
	});
}

/**
 * An error of the whole node run, such as an invalid *Concurrency*, fails every item. If *On Error* is set to continue,
 * n8n would otherwise continue with the input, as if the node had succeeded.
 */
function failedRun(context: IExecuteFunctions, error: unknown): INodeExecutionData[] {
	if (callerOf(context).continuesOnFail) {
		const items = context.getInputData();
		// The message names no item, because it's about all.
		return items.map((_item, itemIndex) => toErrorItem(error, { itemIndex, of: 1 }));
	}
	throw toNodeError(context.getNode(), error);
}

/** *Retry On Fail* also runs a node again if its output has errors. Older versions of n8n count `error: null` as well. */
function mayBeRunAgain(outputs: INodeExecutionData[][]): boolean {
	return outputs.flat().some(({ json }) => json.error !== undefined);
}
