import clamp from 'lodash/clamp';
import mapValues from 'lodash/mapValues';
import sortBy from 'lodash/sortBy';
import type { INodeProperties } from 'n8n-workflow';
import type { Additions } from '../../core/service/endpoints';
import { InvalidInput } from '../../core/service/errors';
import type { Query } from '../../core/service/http';
import type { JsonObject, JsonValue } from '../../core/values/json';
import { enter } from '../../core/service/modelFormats';
import type { Fields } from './fields';
import type { NodeParameters } from './nodeParameters';
import { jsonInTools } from './shownWhere';

/**
 * The 'Options' collection with these members. A switch is on when a person adds it. n8n's AI builder reads its default as
 * the value of a workflow without it.
 */
export function optionsCollection(...members: INodeProperties[]): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: sortBy(members, 'displayName').flatMap((member) => {
			if (member.type === 'json') return jsonInTools(member);
			if (member.type !== 'boolean') return [member];
			const ifOff = { propertyHint: `Off, unless you set ${member.name} to true.` };
			return [{ ...member, builderHint: member.builderHint ?? ifOff }];
		}),
	};
}

/** For undocumented fields, in every action. */
export const additionalBodyFields: INodeProperties = {
	displayName: 'Additional Body Fields',
	name: 'additionalBodyFields',
	type: 'json',
	default: '{}',
	placeholder: 'e.g. { "region": "south" }',
	description:
		'More fields for the body of the request, as a JSON object. Fields that this node sends are never replaced.',
};

export const additionalQueryParameters: INodeProperties = {
	displayName: 'Additional Query Fields',
	name: 'additionalQueryParameters',
	type: 'json',
	default: '{}',
	placeholder: 'e.g. { "locale": "en" }',
	description:
		'More query parameters, as a JSON object. A list sends its parameter once per value. Parameters that this node sends are never replaced.',
};

/** The number of items in flight. */
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

const MAX_CONCURRENCY = 100;

/** *Concurrency*, for the whole node run. */
export function readConcurrency(parameters: NodeParameters, initial: number): number {
	const settings = parameters.at(0).collection('options');
	return clamp(Math.trunc(settings.number('concurrency', initial)), 1, MAX_CONCURRENCY);
}

/** Reads *Additional Body Fields* and *Additional Query Fields* of a collection. */
export function readAdditions(settings: Fields): Required<Additions> {
	const objectOf = (name: string) => (settings.has(name) ? settings.jsonObject(name) : {});
	return {
		body: objectOf(additionalBodyFields.name),
		query: toQuery(objectOf(additionalQueryParameters.name)),
	};
}

function toQuery(values: JsonObject): Query {
	return mapValues(values, (value, name) => {
		if (isQueryValue(value)) return value;
		throw new InvalidInput(
			`"${name}" in 'Additional Query Fields' must be text, a number, true, or false, or a list of such values`,
			enter('Additional Query Fields'),
		);
	});
}

function isQueryValue(value: JsonValue): value is Query[string] {
	return (Array.isArray(value) ? value : [value]).every((one) => typeof one !== 'object');
}
