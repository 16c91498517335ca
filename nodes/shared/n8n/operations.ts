import {
	NodeOperationError,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeProperties,
} from 'n8n-workflow';
import { connectOnce, type Connection } from './connect';
import { runNode } from './nodeRun';
import { NodeParameters } from './nodeParameters';

/** What an operation works with during one run of its node. */
export type OperationRun = {
	context: IExecuteFunctions;
	parameters: NodeParameters;
	connection: () => Promise<Connection>;
};

/** One operation of a node: what the user sees and what is done, side by side. */
export type Operation = {
	value: string;
	name: string;
	action: string;
	description: string;
	fields: INodeProperties[];
	execute(run: OperationRun): Promise<INodeExecutionData[]>;
};

const OPERATION = {
	displayName: 'Operation',
	name: 'operation',
	type: 'options',
	noDataExpression: true,
	default: '',
} as const;

/** The choice of operation, followed by the fields of each, shown for it alone. */
export function operationFields(operations: Operation[], initial: Operation): INodeProperties[] {
	return [
		{
			...OPERATION,
			options: operations.map(({ name, value, action, description }) => ({
				name,
				value,
				action,
				description,
			})),
			default: initial.value,
		},
		...operations.flatMap(({ value, fields }) => fields.map((field) => shownFor(value, field))),
	];
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
	const parameters = new NodeParameters(context);
	const connection = connectOnce(context);
	return await runNode(context, async () => [
		await operation.execute({ context, parameters, connection }),
	]);
}
