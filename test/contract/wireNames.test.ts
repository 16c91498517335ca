import { globSync } from 'node:fs';
import { ROOT } from '../engine/sourceLoader';
import { escaped, textsIn, undocumentedWireNames } from './wireNames';

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

const files = globSync('{nodes,credentials}/**/*.ts', { cwd: ROOT });
const names = undocumentedWireNames().filter((name) => !OWN_WORDS.includes(name));

/** Finds a name with a special character anywhere in a text, and a plain word only as the whole text. */
const patternOf = (name: string) =>
	/[_[\]-]/.test(name) ? `(?<![\\w[])${escaped(name)}(?!\\w)` : `^${name}$`;
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
	expect(files.flatMap(textsIn).length).toBeGreaterThan(3_000);
	const found = files.flatMap((file) =>
		textsIn(file)
			.filter((text) => anyName.test(text))
			.map((text) => `${file}: ${text}`),
	);
	expect(found).toEqual([]);
});
