import { existsSync } from 'node:fs';
import path from 'node:path';
import Ajv, { type ValidateFunction } from 'ajv';
import { loadOutputSchema, resolveOutputSchemaPath } from 'n8n-core';
import type { INodeTypeDescription } from 'n8n-workflow';
import { z } from 'zod';
import { ROOT } from '../engine/sourceLoader';

const ajv = new Ajv({ allErrors: true });
// A keyword of n8n's schema files.
ajv.addKeyword('version');

/** The key by which n8n finds a schema. A node without operations has one schema. */
export type SchemaKey = {
	node: string;
	version?: number;
	resource?: string | undefined;
	operation?: string | undefined;
};

/** A schema as the editor reads it: with one type, so a value that can be null is `nullable`. */
export type Schema = {
	type: string;
	nullable?: boolean | undefined;
	properties?: { [name: string]: Schema } | undefined;
	items?: Schema | undefined;
	version?: number | undefined;
};

const schemaShape: z.ZodType<Schema> = z
	.object({
		type: z.enum(['object', 'array', 'string', 'integer', 'number', 'boolean']),
		nullable: z.boolean().optional(),
		properties: z.record(z.lazy(() => schemaShape)).optional(),
		items: z.lazy(() => schemaShape).optional(),
		version: z.number().optional(),
	})
	.strict();

/** The path where n8n looks for the schema of an operation. The file may not exist. */
export function schemaPath(key: SchemaKey, nodes = path.join(ROOT, 'nodes')) {
	const folder = `${key.node.charAt(0).toUpperCase()}${key.node.slice(1)}`;
	return resolveOutputSchemaPath(refTo(path.join(nodes, folder), key)) ?? '';
}

export function hasSchema(key: SchemaKey): boolean {
	return existsSync(schemaPath(key));
}

export function readSchema(key: SchemaKey): Schema {
	const file = schemaPath(key);
	const nodeDir = file.slice(0, file.indexOf(`${path.sep}__schema__`));
	return schemaShape.parse(loadOutputSchema(refTo(nodeDir, key)));
}

export const nameOf = ({ node, operation }: SchemaKey) =>
	operation === undefined ? node : `${node} › ${operation}`;

const compiled = new Map<string, ValidateFunction>();

/** The differences between an output item and the schema of its operation. */
export function schemaFaults(key: SchemaKey, json: unknown): string[] {
	const validate = compiled.get(nameOf(key)) ?? ajv.compile(readSchema(key));
	compiled.set(nameOf(key), validate);
	validate(json);
	return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Keys for each operation of each node, and for each node without operations. */
export function keysOf(descriptions: INodeTypeDescription[]): SchemaKey[] {
	return descriptions.flatMap((description) => {
		const node = description.name;
		const version = Number(description.version);
		const lists = description.properties.filter(({ name }) => name === 'operation');
		if (lists.length === 0) return [{ node, version }];
		return lists.flatMap(({ options = [], displayOptions: { show = {} } = {} }) =>
			options.flatMap((option) =>
				'value' in option
					? [
							{
								node,
								version,
								// The last resource, because n8n's human review variant comes first.
								resource: wordOf(show.resource?.at(-1)),
								operation: wordOf(option.value),
							},
						]
					: [],
			),
		);
	});
}

function refTo(nodeDir: string, { version = 1, resource, operation }: SchemaKey) {
	return {
		nodeDir,
		version,
		...(resource !== undefined && { resource }),
		...(operation !== undefined && { operation }),
	};
}

const wordOf = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** Collects the output fields of each operation. */
export class FieldsSeen {
	private readonly fields = new Map<string, Set<string>>();

	add(operation: string, output: object): void {
		const seen = this.fields.get(operation) ?? new Set();
		this.fields.set(operation, seen);
		for (const field of Object.keys(output)) seen.add(field);
	}

	/** Fields of the schema that no output had. A schema must not have them. */
	missing(key: SchemaKey, operation: string): string[] {
		const seen = this.fields.get(operation);
		return Object.keys(readSchema(key).properties ?? {}).filter((field) => !seen?.has(field));
	}
}
