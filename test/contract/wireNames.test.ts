import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import escapeRegExp from 'lodash/escapeRegExp';
import { ROOT } from '../engine/sourceLoader';
import { SOURCES, syntaxOf, textOf } from '../package/texts';
import { isObject, type JsonObject } from '../simulator/json';

/** Common words, and names of the package's own, which a dialect uses as well. */
const OWN_WORDS = [
	'content-disposition',
	'content-type',
	'cursor',
	'digits',
	'dnd',
	'hex',
	'limit',
	'outcome',
	'release',
	'sha256',
	'why',
];

const isImportOrPlaceholder = ({ type, key }: JsonObject) =>
	type === 'ImportDeclaration' || (isObject(key) && key.value === 'placeholder');

/** Every string in the code, without comments and placeholders. */
const textsIn = (file: string): string[] =>
	syntaxOf(file, isImportOrPlaceholder).flatMap((part) => {
		if (part.type !== 'Identifier') return textOf(part) ?? [];
		// Only names with an underscore, because a single word could be any identifier.
		const name = String(part.value);
		return name.includes('_') ? name : [];
	});

/** Every undocumented name in requests and responses of the dialects. Words with a capital letter are those of the code. */
function undocumentedWireNames(): string[] {
	const document = ['docs/openapi.yaml', 'docs/asyncapi.yaml']
		.map((file) => readFileSync(path.join(ROOT, file), 'utf8'))
		.join('\n');
	const isDocumented = (name: string) =>
		new RegExp(`(?<!\\w)${escapeRegExp(name)}(?!\\w)`).test(document);
	const files = globSync('test/simulator/dialects/*.ts', { cwd: ROOT });
	const names = new Set(files.flatMap(textsIn).flatMap((text) => text.split('.')));
	return [...names]
		.filter((name) => /^(?=.*[a-z])[a-z\d_[\]-]+$/.test(name) && !isDocumented(name))
		.sort();
}

const names = undocumentedWireNames().filter((name) => !OWN_WORDS.includes(name));

/** Finds a name with a special character anywhere in a text, and a plain word only as the whole text. */
const patternOf = (name: string) =>
	/[_[\]-]/.test(name) ? `(?<![\\w[])${escapeRegExp(name)}(?!\\w)` : `^${name}$`;
const anyName = new RegExp(names.map(patternOf).join('|'));

test('the dialects use many undocumented names', () => {
	expect(names.length).toBeGreaterThan(80);
	const samples = ['filter[agent]', 'sid', 'agent_id', 'next_cursor', 'resume_ai'];
	const gone = samples.filter((name) => !names.includes(name));
	expect(
		gone.map((name) => `${name} is documented now, or no dialect has it: choose another sample`),
	).toEqual([]);
	expect(names).not.toContain('agent_uuid');
});

test('no source file contains an undocumented name', () => {
	const texts = SOURCES.flatMap((file) => textsIn(file).map((text) => ({ file, text })));
	expect(texts.length).toBeGreaterThan(3_000);
	expect(texts.filter(({ text }) => anyName.test(text))).toEqual([]);
});
