/** `npm run build` writes the schemas of outputs to `dist`, from the examples in the table of operations. */
import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { resolveOutputSchemaPath } from 'n8n-core';
import type { INodeType, INodeTypeDescription } from 'n8n-workflow';
import { z } from 'zod';
import { projectFolder } from '../test/n8n/package-install';
import { hasSchema, keysOf, schemaOf, schemaRef } from '../test/schema/schemas';

const load = createRequire(__filename);

const nodeClass = z.custom<new () => INodeType>((value) => typeof value === 'function');

function descriptions(): INodeTypeDescription[] {
	return globSync('nodes/*/*.node.ts', { cwd: projectFolder }).map((file) => {
		const exported = z.record(z.unknown()).parse(load(path.join(projectFolder, file)));
		const Node = nodeClass.parse(exported[path.basename(file, '.node.ts')]);
		return new Node().description;
	});
}

/** Writes each schema to the place where n8n looks for it. */
export function writeSchemas(nodes: string, of = descriptions()): void {
	for (const key of keysOf(of).filter(hasSchema)) {
		const file = z.string().parse(resolveOutputSchemaPath(schemaRef(key, nodes)));
		mkdirSync(path.dirname(file), { recursive: true });
		writeFileSync(file, JSON.stringify(schemaOf(key)));
	}
}

if (require.main === module) writeSchemas(path.join(projectFolder, 'dist/nodes'));
