import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { ROOT } from '../engine/sourceLoader';

export const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Every string in the code, without comments and placeholders. */
export function textsIn(file: string): string[] {
	const code = readFileSync(path.join(ROOT, file), 'utf8');
	const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true);
	const texts: string[] = [];
	const visit = (node: ts.Node): void => {
		if (ts.isPropertyAssignment(node) && node.name.getText() === 'placeholder') return;
		if (ts.isImportDeclaration(node)) return;
		if (ts.isStringLiteralLike(node)) texts.push(node.text);
		// Only names with an underscore, because a single word could be any identifier.
		if (ts.isIdentifier(node) && node.text.includes('_')) texts.push(node.text);
		ts.forEachChild(node, visit);
	};
	visit(source);
	return texts;
}

/** Every undocumented name in requests and responses of the dialects. Words with a capital letter are those of the code. */
export function undocumentedWireNames(): string[] {
	const document = ['docs/openapi.yaml', 'docs/asyncapi.yaml']
		.map((file) => readFileSync(path.join(ROOT, file), 'utf8'))
		.join('\n');
	const isDocumented = (name: string) =>
		new RegExp(`(?<!\\w)${escaped(name)}(?!\\w)`).test(document);
	const files = globSync('test/simulator/dialects/*.ts', { cwd: ROOT });
	const names = new Set(files.flatMap(textsIn).flatMap((text) => text.split('.')));
	return [...names]
		.filter((name) => /^(?=.*[a-z])[a-z\d_[\]-]+$/.test(name) && !isDocumented(name))
		.sort();
}
