import {
	NodeHelpers,
	type INode,
	type INodeProperties,
	type INodeTypeDescription,
} from 'n8n-workflow';
import get from 'lodash/get';
import { isObject } from '../../engine/isObject';

/** A parameter of a form, and the path of its value in the node's parameters. */
export type ParameterLocation = {
	/** A path for lodash: `options.systemPrompt`, `dataExtraction.points[0].key`. */
	path: string;
	property: INodeProperties;
	/** The collections around it, the outermost first. */
	around: INodeProperties[];
};

/** Parameters that no node reads: texts, fields of n8n, and fields that only decide what the form shows. */
const NOT_READ = ['notice', 'hidden', 'callout'];
const NOT_READ_NAMES = ['description', 'resource', 'pollTimes'];

/**
 * Every parameter that can have a value, including members of collections. A collection itself has no value, because
 * n8n removes everything except its fields.
 */
export function parametersWithPaths(properties: INodeProperties[]): ParameterLocation[] {
	return properties
		.filter(({ type, name }) => !NOT_READ.includes(type) && !NOT_READ_NAMES.includes(name))
		.flatMap((property) => placesOf(property, property.name, []));
}

function placesOf(
	property: INodeProperties,
	path: string,
	around: INodeProperties[],
): ParameterLocation[] {
	const { type, options = [] } = property;
	const inner = [...around, property];
	if (type === 'collection') {
		return options.flatMap((option) =>
			'type' in option ? placesOf(option, `${path}.${option.name}`, inner) : [],
		);
	}
	if (type !== 'fixedCollection') return [{ path, property, around }];
	const row = property.typeOptions?.multipleValues === true ? '[0]' : '';
	return options.flatMap((option) =>
		'values' in option
			? option.values.flatMap((value) =>
					placesOf(value, `${path}.${option.name}${row}.${value.name}`, inner),
				)
			: [],
	);
}

/** Whether n8n's form shows the parameter, given these values of the others. */
export function isShown(
	{ path, property, around }: ParameterLocation,
	node: INode,
	description: INodeTypeDescription,
): boolean {
	const { parameters } = node;
	const shown = (one: INodeProperties, level: unknown) =>
		NodeHelpers.displayParameter(
			isParameters(level) ? level : {},
			one,
			node,
			description,
			parameters,
		);
	const [top, ...others] = [...around, property];
	if (!shown(top, parameters)) return false;
	// Members of a collection are one level below it.
	const parents = path.split('.').slice(0, -1);
	return others.every((one) => shown(one, get(parameters, parents.join('.'))));
}

function isParameters(value: unknown): value is INode['parameters'] {
	return isObject(value);
}
