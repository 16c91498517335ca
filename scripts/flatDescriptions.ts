import { cp, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { inspect } from 'node:util';
import ts from 'typescript';
import { z } from 'zod';
import { listedFiles, projectFolder } from '../test/n8n/package-install';

const load = createRequire(__filename);

/** The members of a node or credential class that are plain data. */
const FLATTENED = ['description', 'properties'];
/** n8n's rules require these to use n8n's constants in the sources. */
const UNCHANGED = ['inputs', 'outputs', 'credentials'];

/**
 * Copies the sources and replaces each description with its value at runtime. The rules of n8n's verification read
 * only the source text, so they can't check a form that is imported or built by a function.
 */
export async function writeFlatSources(target: string): Promise<void> {
	for (const part of ['nodes', 'credentials', 'package.json']) {
		await cp(join(projectFolder, part), join(target, part), { recursive: true });
	}
	const listed = await listedFiles(projectFolder);
	for (const built of [...listed.nodes, ...listed.credentials]) {
		const source = join(target, built.replace(/^dist\//, '').replace(/\.js$/, '.ts'));
		const exported = z.record(z.string(), z.unknown()).parse(load(join(projectFolder, built)));
		await writeFile(source, flatten(await readFile(source, 'utf8'), exported));
	}
}

/** Replaces the initializers of a class with their values at runtime. */
function flatten(text: string, exported: { [name: string]: unknown }): string {
	const file = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true);
	const edits: Array<{ from: number; to: number; text: string }> = [];
	for (const statement of file.statements) {
		if (!ts.isClassDeclaration(statement) || statement.name === undefined) continue;
		const instance = instantiate(exported[statement.name.text]);
		for (const member of statement.members) {
			if (!ts.isPropertyDeclaration(member) || member.initializer === undefined) continue;
			const name = member.name.getText(file);
			if (!FLATTENED.includes(name)) continue;
			const { initializer } = member;
			edits.push({
				from: initializer.getStart(file),
				to: initializer.getEnd(),
				text: literal(instance[name], writtenParts(initializer, file)),
			});
		}
	}
	if (edits.length === 0) throw new Error('The source has no description');
	return edits.reduceRight(
		(flat, edit) => flat.slice(0, edit.from) + edit.text + flat.slice(edit.to),
		text,
	);
}

function instantiate(exported: unknown): { [name: string]: unknown } {
	const Class = z.custom<new () => object>((value) => typeof value === 'function').parse(exported);
	return { ...new Class() };
}

/** The source text of the parts of a description that stay unchanged. */
function writtenParts(initializer: ts.Expression, file: ts.SourceFile): Map<string, string> {
	const parts = new Map<string, string>();
	if (!ts.isObjectLiteralExpression(initializer)) return parts;
	for (const property of initializer.properties) {
		const name = property.name?.getText(file) ?? '';
		if (ts.isPropertyAssignment(property) && UNCHANGED.includes(name)) {
			parts.set(name, property.initializer.getText(file));
		}
	}
	return parts;
}

function literal(value: unknown, written: Map<string, string>): string {
	if (written.size === 0) return plain(value);
	const fields = Object.entries(z.record(z.string(), z.unknown()).parse(value)).map(
		([name, part]) => `${name}: ${written.get(name) ?? plain(part)},`,
	);
	return `{\n${fields.join('\n')}\n}`;
}

const plain = (value: unknown) =>
	inspect(value, { depth: null, maxArrayLength: null, maxStringLength: null, compact: false });
