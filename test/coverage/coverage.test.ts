import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { CREDENTIAL } from '../../nodes/shared/n8n/credential';
import { loader, setupEngine } from '../engine';
import { ROOT } from '../engine/sourceLoader';
import { itemsOfDocument, keyOf } from './document';
import { entries } from './entries';
import { leansOnEvery } from './entry';
import { labelsIn } from './labels';
import { coverageTable, entryOf } from './table';

const items = itemsOfDocument();

beforeAll(async () => {
	await setupEngine();
});

test('the document names more than three hundred things', () => {
	expect(items.length).toBeGreaterThan(300);
});

test('each item of the document has an entry', () => {
	expect(items.filter((item) => entryOf(item) === undefined).map(keyOf)).toEqual([]);
});

test('each entry names something of the document, and each section has one list', () => {
	const sections = entries.map(({ section }) => section);
	expect(sections).toEqual([...new Set(sections)]);
	const named = entries.flatMap((list) => {
		const here = items.filter((item) => item.section === list.section).map(({ name }) => name);
		const strays = Object.keys(list.items ?? {}).filter(
			(key) => !here.some((name) => name === key || name.startsWith(`${key} `)),
		);
		const idle = list.every !== undefined && !here.some((name) => leansOnEvery(list, name));
		return [...strays, ...(idle ? ['every'] : [])].map((name) => `${list.section} › ${name}`);
	});
	expect(named).toEqual([]);
});

test('each named test stands in the file that is named', () => {
	const refs = items.flatMap((item) => entryOf(item)?.tests ?? []);
	expect(refs.length).toBeGreaterThanOrEqual(items.length);
	const wrong = refs.filter(({ file, title }) => {
		const full = path.join(ROOT, file);
		return (
			title.trim().length < 4 || !existsSync(full) || !readFileSync(full, 'utf8').includes(title)
		);
	});
	expect(wrong.map(({ file, title }) => `${file}: ${title}`)).toEqual([]);
});

test('each place exists: a file, or a node with these labels', () => {
	const labels = new Map(
		loader.types.nodes.map((node) => [
			String(node.defaults.name),
			labelsIn(node.properties, node.outputs),
		]),
	);
	labels.set('Credential', labelsIn(loader.getCredential(CREDENTIAL).type.properties));
	const wrong = items.flatMap((item) => {
		const { at = '' } = entryOf(item) ?? {};
		const [file = ''] = at.split(': ');
		if (file.includes('/')) return existsSync(path.join(ROOT, file)) ? [] : [at];
		const [form = '', ...way] = at.split(' → ');
		const known = labels.get(form);
		return known !== undefined &&
			way.every((label) => known.has(label) || /^output(: |$)/.test(label))
			? []
			: [at];
	});
	expect([...new Set(wrong)]).toEqual([]);
});

test('docs/coverage.md is current and has no empty cell', () => {
	const table = coverageTable();
	expect(table).not.toMatch(/\| *\|/);
	expect(readFileSync(path.join(ROOT, 'docs/coverage.md'), 'utf8')).toBe(table);
});
