import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Parser } from '@asyncapi/parser';
import { ROOT } from '../engine/sourceLoader';

test('docs/asyncapi.yaml is a valid AsyncAPI document', async () => {
	const text = readFileSync(path.join(ROOT, 'docs/asyncapi.yaml'), 'utf8');
	const { document, diagnostics } = await new Parser().parse(text);
	expect(diagnostics).toEqual([]);
	expect(document?.operations().map((operation) => operation.id())).toEqual([
		'sendFrame',
		'receiveEvent',
		'receiveCall',
		'receiveDelivery',
	]);
});
