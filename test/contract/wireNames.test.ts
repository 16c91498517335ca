import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { ROOT } from '../engine/sourceLoader';
import { escaped, undocumentedWireNames } from './wireNames';

/** Common words that both the package and a dialect use. */
const OWN_WORDS = ['cursor', 'hours', 'items', 'rows', 'why'];

const files = globSync('{nodes,credentials}/**/*.ts', { cwd: ROOT });
const names = undocumentedWireNames().filter((name) => !OWN_WORDS.includes(name));

/** Every string in the code, without comments and placeholders. */
function textsIn(file: string): string[] {
	const code = readFileSync(path.join(ROOT, file), 'utf8');
	const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true);
	const texts: string[] = [];
	const visit = (node: ts.Node): void => {
		if (ts.isPropertyAssignment(node) && node.name.getText() === 'placeholder') return;
		if (ts.isStringLiteralLike(node)) texts.push(node.text);
		// Only names with an underscore, because a single word could be any identifier.
		if (ts.isIdentifier(node) && node.text.includes('_')) texts.push(node.text);
		ts.forEachChild(node, visit);
	};
	visit(source);
	return texts;
}

/** Finds a name with a special character anywhere in a text, and a plain word only as the whole text. */
const patternOf = (name: string) =>
	/[_[\]-]/.test(name) ? `(?<![\\w[])${escaped(name)}(?!\\w)` : `^${name}$`;
const anyName = new RegExp(names.map(patternOf).join('|'));

test('the dialects use many undocumented names', () => {
	expect(names.length).toBeGreaterThan(100);
	const samples = ['filter[agent]', 'sid', 'agent_id', 'next_cursor', 'resume_ai'];
	const gone = samples.filter((name) => !names.includes(name));
	expect(
		gone.map((name) => `${name} is documented now, or no dialect has it: choose another sample`),
	).toEqual([]);
	expect(names).not.toContain('agent_uuid');
});

test('the search finds names in strings, but not in comments and placeholders', () => {
	const here = textsIn('test/contract/wireNames.test.ts');
	expect(here.some((text) => anyName.test(text))).toBe(true);
	expect(here.some((text) => text.includes(['Only names with', 'an underscore'].join(' ')))).toBe(
		false,
	);
	const dnd = textsIn('nodes/shared/apiMapping/dnd.ts');
	expect(dnd.some((text) => text.includes('per_page'))).toBe(false);
});

test.each(files)('%s contains no undocumented name', (file) => {
	expect(textsIn(file).filter((text) => anyName.test(text))).toEqual([]);
});
