/** The schemas of outputs for n8n's editor, from the examples in the table of operations. */
import path from 'node:path';
import Ajv, { type ValidateFunction } from 'ajv';
import mapValues from 'lodash/mapValues';
import type { INodeTypeDescription } from 'n8n-workflow';
import type { JsonObject, JsonValue } from '../../nodes/core/values/json';
import { OPERATIONS, TRIGGER_OUTPUTS } from '../operations/operations';

/** The key by which n8n finds a schema. A node without operations has one schema. */
export type SchemaKey = {
	node: string;
	version?: number;
	resource?: string | undefined;
	operation?: string | undefined;
};

type Schema = { type: string; properties?: { [name: string]: Schema }; items?: Schema };

/** What n8n looks for, with the nodes in this folder. */
export function schemaRef({ node, version = 1, resource, operation }: SchemaKey, nodes: string) {
	const folder = `${node.charAt(0).toUpperCase()}${node.slice(1)}`;
	return {
		nodeDir: path.join(nodes, folder),
		version,
		...(resource !== undefined && { resource }),
		...(operation !== undefined && { operation }),
	};
}

export const nameOf = ({ node, operation }: SchemaKey) =>
	operation === undefined ? node : `${node} › ${operation}`;

const outputOf = (key: SchemaKey): JsonObject | undefined =>
	OPERATIONS[nameOf(key)]?.output ?? TRIGGER_OUTPUTS[nameOf(key)];

export const hasSchema = (key: SchemaKey): boolean => outputOf(key) !== undefined;

/** The schema as the editor reads it: each value has one type. Any may be null. */
export function schemaOf(key: SchemaKey): Schema & { version: number } {
	return { ...schemaLike(outputOf(key) ?? {}), version: 1 };
}

function schemaLike(value: JsonValue): Schema {
	if (Array.isArray(value)) {
		const [first] = value;
		return { type: 'array', ...(first !== undefined && { items: schemaLike(first) }) };
	}
	if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'number' };
	if (value === null) throw new Error('An example of an output has null, so its type is unknown');
	if (typeof value !== 'object') return { type: typeof value };
	const isAny = Object.keys(value).length === 0;
	return { type: 'object', ...(!isAny && { properties: mapValues(value, schemaLike) }) };
}

const ajv = new Ajv({ allErrors: true });
const compiled = new Map<string, ValidateFunction>();

const orNull = ({ properties, items, ...schema }: Schema): object => ({
	...schema,
	nullable: true,
	...(properties && { properties: mapValues(properties, orNull) }),
	...(items && { items: orNull(items) }),
});

/** The differences between an output item and the schema of its operation. */
export function schemaFaults(key: SchemaKey, json: unknown): string[] {
	const schema = () => orNull(schemaLike(outputOf(key) ?? {}));
	const validate = compiled.get(nameOf(key)) ?? ajv.compile(schema());
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
								resource: wordOf(show.resource?.[0]),
								operation: wordOf(option.value),
							},
						]
					: [],
			),
		);
	});
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
		return Object.keys(outputOf(key) ?? {}).filter((field) => !seen?.has(field));
	}
}
