import {
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeProperties,
	NodeOperationError,
} from 'n8n-workflow';
import { InvalidInput } from '../../api/errors';
import { type AccountClient, lazyAccountClient } from '../http/accountClient';
import { clearRun } from '../idempotency/executionStore';
import { toErrorItem, toNodeError } from './nodeErrors';
import { NodeParameters } from '../forms/nodeParameters';
import { runForModel } from '../tools/toolResult';
import { toolDescriptionField } from '../tools/toolDescription';
import { noteReadOnly, runsAsTool } from '../tools/toolRun';

/** What a node works with during one of its runs. */
export type OperationRun = {
	context: IExecuteFunctions;
	parameters: NodeParameters;
	connection: () => Promise<AccountClient>;
};

/** One operation of a node: what the user sees and what is done, side by side. */
export type Operation = {
	value: string;
	name: string;
	action: string;
	description: string;
	fields: INodeProperties[];
	/** Whether it changes nothing in the service, so that a model may always ask for it again. */
	isReadOnly?: true;
	/** What a model is told of it as a tool: what it does in the world, and what to be careful with. */
	toolDescription: string;
	execute(run: OperationRun): Promise<INodeExecutionData[]>;
};

const OPERATION = {
	displayName: 'Operation',
	name: 'operation',
	type: 'options',
	noDataExpression: true,
	default: '',
} as const;

const RESOURCE = {
	displayName: 'Resource',
	name: 'resource',
	type: 'hidden',
	noDataExpression: true,
	default: '',
} as const;

/** The choice of operation, followed by the fields of each, shown for it alone. */
export function operationFields(
	operations: Operation[],
	initial: Operation,
	resource: Resource,
): INodeProperties[] {
	return [
		...aboveOperation(operations),
		...ofResource(resource, operationChoice(operations, initial)),
		...fieldsOf(operations),
	];
}

/** What the operations of a node are about: “Call”. */
export type Resource = { name: string; value: string };

/**
 * The choice of operation of a node that is about one thing alone. n8n names a node and its tool by what an
 * operation does ("Get call transcript") only where there is a resource, so there is one that nobody sees.
 */
export function ofResource(resource: Resource, operation: INodeProperties): INodeProperties[] {
	return [
		{ ...RESOURCE, options: [resource], default: resource.value },
		{ ...operation, displayOptions: { show: { resource: [resource.value] } } },
	];
}

/** What stands above the choice of operation where the node is a tool. */
export function aboveOperation(operations: Operation[]): INodeProperties[] {
	return operations.map(({ value, toolDescription, fields }) =>
		toolDescriptionField(toolDescription, fields, { operation: [value] }),
	);
}

export function operationChoice(operations: Operation[], initial: Operation): INodeProperties {
	return {
		...OPERATION,
		options: operations.map(({ name, value, action, description }) => ({
			name,
			value,
			action,
			description,
		})),
		default: initial.value,
	};
}

/** The fields of each operation, shown for it alone: the values of a node's operations differ, whatever their resource. */
export function fieldsOf(operations: Operation[]): INodeProperties[] {
	return operations.flatMap(({ value, fields }) => fields.map((field) => shownFor(value, field)));
}

function shownFor(operation: string, field: INodeProperties): INodeProperties {
	const { displayOptions } = field;
	const show = { ...displayOptions?.show, operation: [operation] };
	return { ...field, displayOptions: { ...displayOptions, show } };
}

export async function runOperation(
	context: IExecuteFunctions,
	operations: Operation[],
): Promise<INodeExecutionData[][]> {
	const chosen: unknown = context.getNodeParameter('operation', 0);
	const operation = operations.find(({ value }) => value === chosen);
	if (operation === undefined) {
		throw new NodeOperationError(context.getNode(), 'This node has no such operation', {
			description: 'Open the node and choose an operation from the list.',
		});
	}
	if (operation.isReadOnly === true) noteReadOnly(context);
	return await runNode(context, operation.fields, async (run) => [await operation.execute(run)]);
}

/**
 * The run of every action node: what holds for all of them, whoever asked for it.
 *
 * @param form the fields of the node, or of the operation that was chosen
 */
export async function runNode(
	context: IExecuteFunctions,
	form: readonly INodeProperties[],
	execute: (run: OperationRun) => Promise<INodeExecutionData[][]>,
): Promise<INodeExecutionData[][]> {
	const parameters = new NodeParameters(context, form);
	const run = { context, parameters, connection: lazyAccountClient(context) };
	if (runsAsTool(context)) return await runForModel(context, async () => await execute(run));
	const outputs = await execute(run).catch((error: unknown) => [failedSettings(context, error)]);
	if (context.getExecutionCancelSignal()?.aborted !== true && !mayBeRunAgain(outputs)) {
		clearRun(context);
	}
	return outputs;
}

/** A setting of the whole run that can't be used, such as *Concurrency*, fails every item. */
function failedSettings(context: IExecuteFunctions, error: unknown): INodeExecutionData[] {
	if (!(error instanceof InvalidInput)) throw error;
	if (!context.continueOnFail()) throw toNodeError(context.getNode(), error);
	const items = context.getInputData();
	return items.map((_item, itemIndex) => toErrorItem(error, { itemIndex, of: items.length }));
}

/** *Retry On Fail* also runs a node again that handed its errors on; to older versions of n8n `null` is one too. */
function mayBeRunAgain(outputs: INodeExecutionData[][]): boolean {
	return outputs.flat().some(({ json }) => json.error !== undefined);
}
