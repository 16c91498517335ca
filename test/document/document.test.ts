import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { ROOT } from '../engine/sourceLoader';
import { ENDPOINTS } from '../nodes/shared/api/everyEndpoint';
import { escaped } from '../contract/wireNames';
import { CALL_RECORD_FIELDS } from '../../nodes/shared/calls/callRecord';
import { endpointsOfDocument, itemsOfDocument, sections } from './document';

/** Comments are removed, because a name in a comment doesn't count. */
const withoutComments = ts.createPrinter({ removeComments: true });
const code = globSync('{nodes,credentials}/**/*.ts', { cwd: ROOT })
	.map((file) => {
		const text = readFileSync(path.join(ROOT, file), 'utf8');
		return withoutComments.printFile(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
	})
	.join('\n');
const isInCode = (name: string) => new RegExp(`\\b${escaped(name)}\\b`).test(code);

/** Response fields that no node reads. They are passed through. */
const PASSED_THROUGH = [
	'account_id',
	'active_human',
	'bad_json',
	'bad_payload',
	'color_code',
	'idle_seconds',
	'is_retry_enabled',
	'message_required',
	'retry_delay',
	'retry_threshold',
	'started_at',
	'tool_calls',
	'tool_results',
	'welcome_message',
];

/** Single field names: the parts of `retry_config.enabled`, and the name in `filter: status`. */
const names = itemsOfDocument()
	.map(({ name }) => name.replace(/^[a-z ]+: (?=[a-z_]+$)/, ''))
	.flatMap((name) => name.split('.'))
	.filter((name) => /^[A-Za-z]+(_[A-Za-z]+)+$/.test(name));

test('reads more than 90 fields, states, and codes from the document', () => {
	expect(new Set(names).size).toBeGreaterThan(90);
});

test('the tests of every response include each endpoint of the document', () => {
	const tested = ENDPOINTS.map(({ name }) => name);
	expect(tested.sort()).toEqual(endpointsOfDocument().sort());
});

test('the fields of the call record are those of the document', () => {
	const table = sections().find(({ heading }) => heading.startsWith('Call record'))?.lines ?? [];
	const documented = table.flatMap((line) => /^\| `([a-z_]+)` \|/.exec(line)?.[1] ?? []);
	expect([...CALL_RECORD_FIELDS].sort()).toEqual(documented.sort());
});

test('the code uses each documented field, state, event, and code', () => {
	const unknown = [...new Set(names)].filter((name) => !isInCode(name));
	expect(unknown.sort()).toEqual(PASSED_THROUGH);
});
