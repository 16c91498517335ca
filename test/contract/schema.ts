import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../engine/sourceLoader';

type Schema = {
	type: string;
	properties?: { [name: string]: Schema };
	items?: Schema;
};

/** Where an output has another type than its schema says; fields without a value are left out. */
export function schemaMismatches(
	node: string,
	operation: string | null,
	output: unknown,
): string[] {
	const file = operation === null ? 'v1.0.0.json' : `v1.0.0/${operation}.json`;
	const text = readFileSync(path.join(ROOT, 'nodes', node, '__schema__', file), 'utf8');
	return mismatches(JSON.parse(text) as Schema, output, '$');
}

function mismatches(schema: Schema, value: unknown, place: string): string[] {
	if (value === undefined || value === null) return [];
	if (typeOf(value) !== schema.type && !(schema.type === 'number' && typeOf(value) === 'integer')) {
		return [`${place} is ${typeOf(value)}, not ${schema.type}`];
	}
	if (Array.isArray(value)) {
		const { items } = schema;
		return items ? value.flatMap((item, i) => mismatches(items, item, `${place}[${i}]`)) : [];
	}
	return Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
		mismatches(property, (value as { [name: string]: unknown })[name], `${place}.${name}`),
	);
}

function typeOf(value: unknown): string {
	if (Array.isArray(value)) return 'array';
	return Number.isInteger(value) ? 'integer' : typeof value;
}

/** Fields of the schema that no output of the list has: a schema must not promise what never comes. */
export function neverSeen(node: string, operation: string | null, outputs: object[]): string[] {
	const file = operation === null ? 'v1.0.0.json' : `v1.0.0/${operation}.json`;
	const text = readFileSync(path.join(ROOT, 'nodes', node, '__schema__', file), 'utf8');
	const { properties = {} } = JSON.parse(text) as Schema;
	return Object.keys(properties).filter((name) => !outputs.some((output) => name in output));
}
