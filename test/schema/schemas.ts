import { existsSync } from 'node:fs';
import path from 'node:path';
import Ajv, { type ValidateFunction } from 'ajv';
import { loadOutputSchema, resolveOutputSchemaPath } from 'n8n-core';
import type { INodeTypeDescription } from 'n8n-workflow';
import { ROOT } from '../engine/sourceLoader';

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
// n8n's own note in its schema files.
ajv.addKeyword('version');

/** What n8n looks a schema up by; a node without operations has one of its own. */
export type SchemaKey = { node: string; operation?: string | undefined };

export function folderOf(node: string): string {
	return path.join(ROOT, 'nodes', `${node.charAt(0).toUpperCase()}${node.slice(1)}`);
}

const place = ({ node, operation }: SchemaKey, nodeDir: string) => ({
	nodeDir,
	version: 1,
	...(operation !== undefined && { operation }),
});

/** Where n8n looks for the schema of an operation, whether or not a file is there. */
export function schemaPath(key: SchemaKey, nodeDir = folderOf(key.node)): string {
	return resolveOutputSchemaPath(place(key, nodeDir)) ?? '';
}

export function hasSchema(key: SchemaKey): boolean {
	return existsSync(schemaPath(key));
}

export function readSchema(key: SchemaKey): object {
	const schema = loadOutputSchema(place(key, folderOf(key.node)));
	if (schema === undefined) throw new Error(`n8n finds no schema at ${schemaPath(key)}`);
	return schema;
}

const compiled = new Map<string, ValidateFunction>();

/** What an output item has against the schema of its operation. */
export function schemaFaults(key: SchemaKey, json: unknown): string[] {
	const name = `${key.node}/${key.operation ?? ''}`;
	const validate = compiled.get(name) ?? ajv.compile(readSchema(key));
	compiled.set(name, validate);
	validate(json);
	return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

export function operationsOf({ properties }: INodeTypeDescription): string[] {
	const field = properties.find(({ name }) => name === 'operation');
	return (field?.options ?? []).flatMap((option) =>
		'value' in option && typeof option.value === 'string' ? [option.value] : [],
	);
}
