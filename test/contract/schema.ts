import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { ROOT } from '../engine/sourceLoader';

type Schema = {
	type: string;
	properties?: { [name: string]: Schema } | undefined;
	items?: Schema | undefined;
};

const schemaOf: z.ZodType<Schema> = z.object({
	type: z.string(),
	properties: z.record(z.lazy(() => schemaOf)).optional(),
	items: z.lazy(() => schemaOf).optional(),
});

function readSchema(node: string, operation: string | null): Schema {
	const file = operation === null ? 'v1.0.0.json' : `v1.0.0/${operation}.json`;
	const text = readFileSync(path.join(ROOT, 'nodes', node, '__schema__', file), 'utf8');
	return schemaOf.parse(JSON.parse(text));
}

/** Where an output has another type than its schema says; fields without a value are left out. */
export function schemaMismatches(
	node: string,
	operation: string | null,
	output: unknown,
): string[] {
	return mismatches(readSchema(node, operation), output, '$');
}

function mismatches(schema: Schema, value: unknown, place: string): string[] {
	if (value === undefined || value === null) return [];
	if (typeOf(value) !== schema.type) return [`${place} is ${typeOf(value)}, not ${schema.type}`];
	const { items, properties = {} } = schema;
	if (Array.isArray(value)) {
		return items ? value.flatMap((item, i) => mismatches(items, item, `${place}[${i}]`)) : [];
	}
	const fields = new Map<string, unknown>(Object.entries(value));
	return Object.entries(properties).flatMap(([name, property]) =>
		mismatches(property, fields.get(name), `${place}.${name}`),
	);
}

function typeOf(value: unknown): string {
	if (Array.isArray(value)) return 'array';
	return Number.isInteger(value) ? 'integer' : typeof value;
}

/** Fields of the schema that no output of the list has: a schema must not promise what never comes. */
export function neverSeen(node: string, operation: string | null, outputs: object[]): string[] {
	const { properties = {} } = readSchema(node, operation);
	return Object.keys(properties).filter((name) => !outputs.some((output) => name in output));
}
