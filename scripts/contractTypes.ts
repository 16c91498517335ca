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

export async function contractTypes(): Promise<string> {
	const requests = pick(schemas, namesIn(ENDPOINTS.map(({ body }) => body)));
	const nodes = await openapiTS(
		JSON.stringify({ ...OPENAPI, paths: {}, components: { schemas: requests } }),
		{ rootTypes: true, rootTypesNoSchemaPrefix: true, defaultNonNullable: false },
	);
	// The others describe paths and operations.
	const wanted = nodes.filter(
		(node) =>
			(ts.isInterfaceDeclaration(node) && node.name.text === 'components') ||
			(ts.isTypeAliasDeclaration(node) && node.name.text in requests),
	);
	const text = astToString(wanted).replaceAll('[key: string]: unknown', '[key: string]: JsonValue');
	const options = await resolveConfig(TYPES_FILE);
	return await format(HEADER + text, { ...options, filepath: TYPES_FILE });
}

if (require.main === module) {
	void contractTypes().then((text) => {
		writeFileSync(TYPES_FILE, text);
	});
}
