import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { ROOT } from '../engine/sourceLoader';
import { escaped } from '../contract/wireNames';
import { endpointsOfDocument, itemsOfDocument } from './document';

/** A field that only a comment names is not known to the code. */
const withoutComments = ts.createPrinter({ removeComments: true });
const code = globSync('{nodes,credentials}/**/*.ts', { cwd: ROOT })
	.map((file) => {
		const text = readFileSync(path.join(ROOT, file), 'utf8');
		return withoutComments.printFile(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
	})
	.join('\n');
const isInCode = (name: string) => new RegExp(`\\b${escaped(name)}\\b`).test(code);

/** What an answer carries and no node reads: it comes out as it is. */
const HANDED_ON = ['account_id', 'active_human', 'idle_seconds'];

/** `retry_config.enabled` is `enabled` of an object; `filter: status` is a filter that is called so. */
const names = itemsOfDocument()
	.map(({ name }) => name.replace(/^[a-z ]+: (?=[a-z_]+$)/, ''))
	.flatMap((name) => name.split('.'))
	.filter((name) => /^[A-Za-z]+(_[A-Za-z]+)+$/.test(name));

test('the document names more than ninety fields, states and codes, and all its endpoints', () => {
	expect(new Set(names).size).toBeGreaterThan(90);
	expect(endpointsOfDocument()).toHaveLength(22);
});

test('the code knows each field, state, event and code that the document names', () => {
	const unknown = [...new Set(names)].filter((name) => !isInCode(name));
	expect(unknown.sort()).toEqual(HANDED_ON);
});
