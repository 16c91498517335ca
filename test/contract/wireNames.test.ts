import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { ROOT } from '../engine/sourceLoader';
import { escaped, undocumentedWireNames } from './wireNames';

/** Plain words that the package has for things of its own, and a dialect on the wire. */
const OWN_WORDS = ['cursor', 'hours', 'items', 'rows', 'why'];

const files = globSync('{nodes,credentials}/**/*.ts', { cwd: ROOT });
const names = undocumentedWireNames().filter((name) => !OWN_WORDS.includes(name));

/** Every text in the code: comments, and placeholders with their examples, are left out. */
function textsIn(file: string): string[] {
	const code = readFileSync(path.join(ROOT, file), 'utf8');
	const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true);
	const texts: string[] = [];
	const visit = (node: ts.Node): void => {
		if (ts.isPropertyAssignment(node) && node.name.getText() === 'placeholder') return;
		if (ts.isStringLiteralLike(node)) texts.push(node.text);
		// A lone word is told from a wire name by its underscore.
		if (ts.isIdentifier(node) && node.text.includes('_')) texts.push(node.text);
		ts.forEachChild(node, visit);
	};
	visit(source);
	return texts;
}

/** A name with a mark of its own is found anywhere in a text, a plain word only as the whole of it. */
function holds(text: string, name: string): boolean {
	if (!/[_[\]-]/.test(name)) return text === name;
	return new RegExp(`(?<![\\w[])${escaped(name)}(?!\\w)`).test(text);
}

test('the dialects use many names that the document does not give', () => {
	expect(names.length).toBeGreaterThan(100);
	expect(names).toEqual(
		expect.arrayContaining(['filter[agent]', 'sid', 'agent_id', 'next_cursor', 'resume_ai']),
	);
	expect(names).not.toContain('agent_uuid');
});

test('the search finds a name where it stands, and not in a comment or a placeholder', () => {
	const here = textsIn('test/contract/wireNames.test.ts');
	expect(here.some((text) => holds(text, 'next_cursor'))).toBe(true);
	expect(here.some((text) => text.includes(['A lone', 'word'].join(' ')))).toBe(false);
	const dnd = textsIn('nodes/shared/apiMapping/dnd.ts');
	expect(dnd.some((text) => text.includes('per_page'))).toBe(false);
});

test.each(files)('%s holds no wire name of an open detail', (file) => {
	const texts = textsIn(file);
	expect(names.filter((name) => texts.some((text) => holds(text, name)))).toEqual([]);
});
