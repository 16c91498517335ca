import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { ROOT } from '../engine/sourceLoader';

type Text = { place: string; text: string };

/** Every text of more than a word in the sources, which is what a person may read. */
function textsOf(file: string): Text[] {
	const source = ts.createSourceFile(
		file,
		readFileSync(path.join(ROOT, file), 'utf8'),
		ts.ScriptTarget.Latest,
		true,
	);
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

const files = globSync('{nodes,credentials}/**/*.ts', { cwd: ROOT }).sort();
const texts = files.flatMap(textsOf);
const saying = (pattern: RegExp, where = /./) =>
	texts.filter(({ place, text }) => where.test(place) && pattern.test(text));

test('there is something to read', () => {
	expect(texts.length).toBeGreaterThan(500);
});

test.each([
	['words of a workshop', /\b(mend\w*|knock\w*|worked (on|off))\b/i],
	['words that frighten and help nobody', /\b(errors?|problems?|failures?|oops|unfortunately)\b/i],
	['the option Concurrency, which not every node has', /\bConcurrency\b/],
])('no message uses %s', (_what, pattern) => {
	expect(saying(pattern)).toEqual([]);
});

test('of the dashboard only what the document says is told: the token is in its settings', () => {
	expect(saying(/dashboard/).filter(({ text }) => !/token.*settings/.test(text))).toEqual([]);
});

test('“this item” is said only where there are items', () => {
	const withoutItems = /Trigger\/|credential|onceEmitter|webhookAnswer|agentList/;
	expect(saying(/\bthis item\b/, withoutItems)).toEqual([]);
});
