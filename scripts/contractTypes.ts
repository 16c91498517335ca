/** `npm run contract:types` writes the types of request bodies in docs/openapi.yaml to the nodes. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import pick from 'lodash/pick';
import openapiTS, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';
import { ENDPOINTS, OPENAPI, resolved } from '../test/openapi/openapi';

export const TYPES_FILE = path.join(__dirname, '../nodes/core/service/contractTypes.ts');

const HEADER = `// Written by \`npm run contract:types\` from docs/openapi.yaml.
import type { JsonValue } from '../values/json';

`;

/** Schemas that a node refers to, also through others. */
function namesIn(node: unknown): string[] {
	const refs = [...JSON.stringify(node ?? null).matchAll(/"#\/components\/schemas\/(\w+)"/g)];
	return refs.flatMap(([, name = '']) => [name, ...namesIn(schemas[name])]);
}

const schemas = resolved(resolved(OPENAPI.components).schemas);

/** What a type doesn't need. A property of the same name is an object. */
const TEXTS = ['description', 'examples', 'format', 'default'];
const withoutTexts = (name: string, value: unknown) =>
	TEXTS.includes(name) && (typeof value !== 'object' || Array.isArray(value)) ? undefined : value;

export async function contractTypes(): Promise<string> {
	const requests = pick(schemas, namesIn(ENDPOINTS.map(({ body }) => body)));
	const description = { ...OPENAPI, paths: {}, components: { schemas: requests } };
	const nodes = await openapiTS(JSON.stringify(description, withoutTexts), {
		defaultNonNullable: false,
	});
	const types: string[] = [];
	const visit = (node: ts.Node): void => {
		const isSchema =
			ts.isPropertySignature(node) && node.type !== undefined && ts.isIdentifier(node.name);
		if (isSchema && node.name.text in requests) {
			types.push(`export type ${node.name.text} = ${astToString(node.type)}`);
		} else ts.forEachChild(node, visit);
	};
	nodes.forEach(visit);
	const text = types
		.join('\n')
		.replaceAll('[key: string]: unknown', '[key: string]: JsonValue')
		.replace(/components\["schemas"\]\["(\w+)"\]/g, '$1');
	const options = await resolveConfig(TYPES_FILE);
	return await format(HEADER + text, { ...options, filepath: TYPES_FILE });
}

if (require.main === module) {
	void contractTypes().then((text) => {
		writeFileSync(TYPES_FILE, text);
	});
}
