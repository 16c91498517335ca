/** The README, the docs, and the READMEs of tests: links lead somewhere, and named files exist. */
import { existsSync, globSync } from 'node:fs';
import path from 'node:path';
import { publisherOf, readManifest } from '../../scripts/release/publisher';
import { ROOT } from '../engine/sourceLoader';
import { anchorsOf, pages, textOf } from './anchors';

const REPOSITORY = `${publisherOf(readManifest(ROOT)).repository}/blob/main/`;

/** A constant at the start of a line that begins empty, or an object that changes. */
const CHANGING_VALUE =
	/^(?:export )?(?:let (\w+)|const (\w+)[^=\n]* = (?:pLimit\(|new (?:(?:Weak)?(?:Map|Set)(?:<.*>)?\(\)|(?:BoundedMap|KeyedMutex|ChatConnections)\b)))/gm;

test.each(pages)('%s: every link leads to a file and a heading', (page) => {
	const targets = [...textOf(page).matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, to = '']) => to);
	expect(targets.filter((target) => !leadsSomewhere(page, target))).toEqual([]);
});

test('every image is used on a page, and every image on a page exists', () => {
	const shown = pages.flatMap((page) =>
		[...textOf(page).matchAll(/\(((?:docs\/)?images\/[^)]+)\)/g)].map(([, target = '']) =>
			path.join(path.dirname(page), target),
		),
	);
	expect([...new Set(shown)].sort()).toEqual(globSync('docs/images/*', { cwd: ROOT }).sort());
});

test('the map of the code names files that exist', () => {
	const files = globSync('{nodes,credentials,test}/**/*.ts', { cwd: ROOT });
	const folders = globSync('{nodes,credentials,test}/**/', { cwd: ROOT });
	const named = [...textOf('docs/architecture.md').matchAll(/`((?:[\w-]+\/)+[\w-]+(?:\.ts)?)`/g)];
	const missing = named
		.map(([, name = '']) => name)
		.filter((name) => ![...files, ...folders].some((file) => `/${file}`.endsWith(`/${name}`)));
	expect(named.length).toBeGreaterThan(20);
	expect(missing).toEqual([]);
});

test('every source file that a page or the configuration of lint names exists', () => {
	const files = globSync('{nodes,credentials,test,scripts}/**/*.ts', { cwd: ROOT });
	const named = pages.flatMap((page) =>
		[...textOf(page).matchAll(/`((?:[\w-]+\/)*[\w.-]+\.ts)`/g)].map(([, name = '']) => name),
	);
	const missing = named.filter((name) => !files.some((file) => `/${file}`.endsWith(`/${name}`)));
	// The page about contributing adds this one as an example.
	expect(missing).toEqual(['nodes/GetCall/operations/getCost.operation.ts']);
	const linted = [...textOf('eslint.types.config.mjs').matchAll(/'(nodes\/[^']+\.ts)'/g)];
	expect(linted.length).toBeGreaterThan(5);
	const gone = linted.filter(([, pattern = '']) => globSync(pattern, { cwd: ROOT }).length === 0);
	expect(gone.map(([, pattern]) => pattern)).toEqual([]);
});

test('the architecture page gives a reason for each module-level value that changes', () => {
	const [, table = ''] = textOf('docs/architecture.md').split('## Values that change in a process');
	const [section = ''] = table.split('\n## ');
	const rows = section.split('\n').filter((line) => line.startsWith('| `'));
	const named = rows.flatMap((row) =>
		[...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
	);
	const found = globSync('nodes/**/*.ts', { cwd: ROOT }).flatMap((file) =>
		[...textOf(file).matchAll(CHANGING_VALUE)].map(
			([, variable, constant]) => variable ?? constant ?? '',
		),
	);
	expect(named.sort()).toEqual(found.sort());
});

test('the links of the nodes, of the credential, and of the issue template lead to pages', () => {
	const sources = globSync(['{nodes,credentials}/**/*.{json,ts}', '.github/ISSUE_TEMPLATE/*.yml'], {
		cwd: ROOT,
	}).map(textOf);
	const targets = sources.flatMap((text) => [
		...text.matchAll(new RegExp(`${REPOSITORY.replaceAll('.', '\\.')}([^"'\\s]+)`, 'g')),
	]);
	expect(targets.length).toBeGreaterThan(20);
	const broken = targets.filter(([, target = '']) => !leadsSomewhere('README.md', target));
	expect(broken.map(([link]) => link)).toEqual([]);
});

function leadsSomewhere(page: string, target: string): boolean {
	const [file = '', heading] = target.split('#');
	const found = file === '' ? page : path.join(path.dirname(page), file);
	if (!existsSync(path.join(ROOT, found))) return false;
	return heading === undefined || !found.endsWith('.md') || anchorsOf(found).includes(heading);
}
