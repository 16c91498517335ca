import type { INodeProperties } from 'n8n-workflow';
import type { Additions } from '../../api/endpoints';
import { InvalidInput } from '../../api/errors';
import type { Query, QueryValue } from '../../api/http';
import type { JsonObject, JsonValue } from '../../json';
import { givenAs } from '../../modelForms';
import type { Fields } from './fields';
import type { NodeParameters } from './nodeParameters';
import { jsonInTools } from '../tools/textInTools';

/** The Options collection, with these members. In a tool, JSON is given as text. */
export function optionsCollection(...members: INodeProperties[]): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: members.flatMap((member) => (member.type === 'json' ? jsonInTools(member) : [member])),
	};
}

/** Members of the Options collection that every action offers, for what the document does not name. */
export const additionalBodyFields: INodeProperties = {
	displayName: 'Additional Body Fields',
	name: 'additionalBodyFields',
	type: 'json',
	default: '{}',
	placeholder: 'e.g. { "priority": "high" }',
	description:
		'More fields to send in the body of the request, as a JSON object. Objects with the same name are merged; what this node sends itself is never replaced.',
};

export const additionalQueryParameters: INodeProperties = {
	displayName: 'Additional Query Parameters',
	name: 'additionalQueryParameters',
	type: 'json',
	default: '{}',
	placeholder: 'e.g. { "locale": "en" }',
	description:
		'More query parameters to send with the request, as a JSON object. A list of values sends its name several times. What this node sends itself is never replaced.',
};

/** How many items are under way at once. */
export function concurrencyField(initial: number, description: string): INodeProperties {
	return {
		displayName: 'Concurrency',
		name: 'concurrency',
		type: 'number',
		noDataExpression: true,
		typeOptions: { minValue: 1, maxValue: MAX_CONCURRENCY, numberPrecision: 0 },
		default: initial,
		description,
	};
}

/**
 * What to do about a write whose outcome is unknown.
 *
 * @param lookUp what is looked up, and what counts as found
 */
export function ifUnknownField(lookUp: string, stop: string, description: string): INodeProperties {
	return {
		displayName: 'If the Outcome Is Unknown',
		name: 'ifUnknown',
		type: 'options',
		options: [
			{ name: 'Look It Up', value: 'lookUp', description: lookUp },
			{ name: 'Stop', value: 'fail', description: stop },
		],
		default: 'fail',
		description,
	};
}

const MAX_CONCURRENCY = 100;

/** *Concurrency* of the Options collection; it holds for the whole run. */
export function readConcurrency(parameters: NodeParameters, initial: number): number {
	const options = parameters.at(0).collection('options');
	if (!options.has('concurrency')) return initial;
	return Math.min(MAX_CONCURRENCY, Math.max(1, Math.trunc(options.number('concurrency', initial))));
}

/** Reads *Additional Body Fields* and *Additional Query Parameters* of an Options collection. */
export function readAdditions(options: Fields): Additions {
	const objectOf = (name: string) => (options.has(name) ? options.jsonObject(name) : {});
	return {
		body: objectOf(additionalBodyFields.name),
		query: toQuery(objectOf(additionalQueryParameters.name)),
	};
}

function toQuery(values: JsonObject): Query {
	const query: Query = {};
	for (const [name, value] of Object.entries(values)) {
		const list = Array.isArray(value) ? value : [value];
		const plain = list.filter(isPlain);
		if (plain.length < list.length) {
			throw new InvalidInput(
				`The additional query parameter “${name}” is neither text nor a number`,
				givenAs(
					'Additional Query Parameters',
					'Give every additional query parameter a plain value, or a list of plain values to send its name several times.',
				),
			);
		}
		const [first = ''] = plain;
		query[name] = Array.isArray(value) ? plain : first;
	}
	return query;
}

function isPlain(value: JsonValue): value is QueryValue {
	return typeof value !== 'object';
}
