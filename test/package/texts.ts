import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { ROOT } from '../engine/sourceLoader';

type SourceTree = { file: string; source: ts.SourceFile };

/** The syntax tree of each source file. */
export function sourceTrees(): SourceTree[] {
	return globSync('{nodes,credentials}/**/*.ts', { cwd: ROOT })
		.sort()
		.map((file) => {
			const text = readFileSync(path.join(ROOT, file), 'utf8');
			const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
			return { file, source };
		});
}

export type Text = { place: string; text: string };

/** Every text with several words in a source file, because a person may read it. */
function textsOf({ file, source }: SourceTree): Text[] {
	const found: Text[] = [];
	const visit = (node: ts.Node): void => {
		if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
			const { line } = source.getLineAndCharacterOfPosition(node.getStart());
			const text = node.getText().replaceAll(/\$\{[^}]*\}/g, '…');
			found.push({ place: `${file}:${line + 1}`, text: text.slice(1, -1) });
		}
		ts.forEachChild(node, visit);
	};
	visit(source);
	return found.filter(({ text }) => /\s/.test(text.trim()));
}

/** The texts of all source files. */
export const texts = sourceTrees().flatMap(textsOf);
