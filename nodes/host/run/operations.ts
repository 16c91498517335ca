import pick from 'lodash/pick';
import type { INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { formatOf, hasFormat } from '../../core/service/modelFormats';
import type { CallerRun } from '../caller/caller';
import type { RunResult } from '../execution/runResult';
import type { NodeParameters } from '../forms/nodeParameters';
import { type Show, shownWhere } from '../forms/shownWhere';
import type { AccountClient } from '../http/accountClient';

/** The inputs of one node run. */
export type OperationRun = CallerRun & {
	/** What it did so far. */
	result: RunResult;
	parameters: NodeParameters;
	account: () => Promise<AccountClient>;
};

/** What a model must know of a tool. */
type ToolFacts = {
	/** The form, of which a model may fill in some fields. */
	fields: INodeProperties[];
	/** The description of the tool for a model: its effects, and what to be careful with. */
	toolDescription: string;
	/** The same with *Check Only* in 'What to Do'. */
	toolDescriptionOfCheck?: string;
};

type OperationFacts = ToolFacts & {
	/** It changes nothing in the service, so a model may always repeat it, and its errors say nothing of earlier attempts. */
	isReadOnly?: true;
	/** Whether an earlier attempt may have sent anything. By default, if there's a record or claims of it. */
	mayHaveSent?: (run: CallerRun) => Promise<boolean>;
	/** The outputs if nothing was sent and the node doesn't fail. By default, the first one has the items. */
	notBegun?(run: OperationRun, failed: INodeExecutionData[]): INodeExecutionData[][];
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
		...operations.flatMap((operation) =>
			toolDescriptionFields(operation, { operation: [operation.value] }),
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

/** The form of a node with one operation. */
export function onlyOperationFields(operation: OnlyOperation): INodeProperties[] {
	return [...toolDescriptionFields(operation), ...operation.fields];
}

/** The rules of `host/caller/rows.ts`. */
const OF_THE_ROW =
	'For a column of the row, use {{ $json.column }}. Several rows need AI Agent 3, or Loop Over Items with batch size 1.';

/**
 * The description of the tool for a model, which the user can edit. By default, n8n uses the description of the whole node
 * for every operation. It reads the last field instead, which the form doesn't show. That adds how to write the values
 * that are left to the model: with the button in the editor, a model gets only the labels of these fields.
 */
export function toolDescriptionFields(
	{ fields, toolDescription, toolDescriptionOfCheck }: ToolFacts,
	show: Show = {},
): INodeProperties[] {
	const displayOptions = { show: { ...show, '@tool': [true] } };
	const description: INodeProperties = {
		displayName: 'Tool Description',
		name: 'description',
		type: 'string',
		typeOptions: { rows: 4 },
		default: toolDescription,
		required: true,
		description: 'Tells the model what this tool does and when to use it',
		hint: OF_THE_ROW,
		displayOptions,
	};
	const ofCheck = { whatToDo: ['check'] };
	const descriptions =
		toolDescriptionOfCheck === undefined
			? [description]
			: [
					{ ...description, displayOptions: { ...displayOptions, hide: ofCheck } },
					shownWhere({ ...description, default: toolDescriptionOfCheck }, ofCheck),
				];
	return [
		...descriptions,
		{
			displayName: 'Tool Description With Formats',
			name: 'toolDescription',
			type: 'hidden',
			default: `={{ [$parameter.description, ...${formatsLeftToModel(fields)}].join(" ") }}`,
			displayOptions,
		},
	];
}

/** The code of a list: the formats of the fields that the model fills in, each once. */
function formatsLeftToModel(fields: readonly INodeProperties[]): string {
	const formats = fillable(fields).flatMap(({ path, displayName }) =>
		hasFormat(displayName) ? `[$rawParameter.${path}, ${inExpression(formatOf(displayName))}]` : [],
	);
	const isOfModel = '([value]) => (JSON.stringify(value) ?? "").toLowerCase().includes("$fromai")';
	return `new Set([${formats.join(', ')}].filter(${isOfModel}).map(([, format]) => format))`;
}

/** The fields that n8n's editor lets a model fill in, also in collections. */
function fillable(
	fields: readonly INodeProperties[],
	prefix = '',
): Array<{ path: string; displayName: string }> {
	return fields.flatMap((field) => {
		const { type, name, displayName, noDataExpression = false, options = [] } = field;
		if (field.displayOptions?.hide?.['@tool']?.includes(true) === true) return [];
		const path = `${prefix}${name}`;
		if (type === 'collection') {
			return fillable(
				options.filter((option) => 'type' in option),
				`${path}?.`,
			);
		}
		return type === 'options' || noDataExpression ? [] : [{ path, displayName }];
	});
}

/** A text in an expression. Two closing braces in it would end the expression. */
function inExpression(text: string): string {
	return JSON.stringify(text).replaceAll('}', '\\u007d');
}
