import { existsSync } from 'node:fs';
import path from 'node:path';
import Ajv, { type ValidateFunction } from 'ajv';
import { loadOutputSchema, resolveOutputSchemaPath } from 'n8n-core';
import type { INodeTypeDescription } from 'n8n-workflow';
import { z } from 'zod';
import { ROOT } from '../engine/sourceLoader';

const ajv = new Ajv({ allErrors: true });
// n8n's own note in its schema files.
ajv.addKeyword('version');

/** What n8n looks a schema up by; a node without operations has one of its own. */
export type SchemaKey = {
	node: string;
	version?: number;
	resource?: string | undefined;
	operation?: string | undefined;
};

/** As n8n's editor reads it: one type each, so that a value that may be missing is `nullable`. */
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

/** Where n8n looks for the schema of an operation, whether or not a file is there. */
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

/** What an output item has against the schema of its operation. */
export function schemaFaults(key: SchemaKey, json: unknown): string[] {
	const validate = compiled.get(nameOf(key)) ?? ajv.compile(readSchema(key));
	compiled.set(nameOf(key), validate);
	validate(json);
	return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Each operation of each node of the package as it is now; a node without operations stands for itself. */
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
								// A resource before it is that of n8n's variant for human review.
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
