import fc from 'fast-check';
import { Expression, type IDataObject, type INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { rowReader, UNREAD, mayNameRow } from '../../../../nodes/host/forms/expressions';
import { engineHarness, executeContext } from '../../../engine';
import { anyCharacter } from '../../../fuzz/anyCharacter';
import { RUNS } from '../../../fuzz/runs';

const harness = engineHarness();

const NAMES = [
	...['phone', 'Phone Number', 'a', 'b', '_x9', 'a.b', '1', '0', 'é', 'नाम', ' x '],
	...['constructor', '__proto__', 'prototype', 'toString', 'hasOwnProperty', 'length'],
	...['this', 'new', '$json', '}}', 'a }} b', '{{', 'a\rb', '\u2028'],
];
const name = fc.oneof(
	{ weight: 3, arbitrary: fc.constantFrom('phone', 'a', 'b', 'Phone Number') },
	fc.constantFrom(...NAMES),
	fc.string({ minLength: 1, maxLength: 8 }),
	fc.string({ unit: anyCharacter, minLength: 1, maxLength: 4 }),
);

const simple = fc.oneof(
	fc.string(),
	fc.string({ unit: anyCharacter }),
	fc.constantFrom('={{ 1 }}', '{{ $json.a }}', '=1', ' ', '', 'null', '\\', '\ud800', '\u0000'),
	fc.double(),
	fc.integer(),
	fc.boolean(),
	fc.constantFrom(null, undefined, -0, 1e21, 2 ** 53),
);
const held = fc.letrec((tie) => ({
	value: fc.oneof(
		{ weight: 4, arbitrary: simple },
		fc.constantFrom(new Date(0), new Date(Number.NaN)),
		fc.array(tie('value'), { maxLength: 3 }),
		tie('row'),
	),
	row: fc.dictionary(name, tie('value'), { maxKeys: 4 }),
})).row;

/** Usual and unusual steps of a path. */
const step = fc.oneof(
	fc.tuple(fc.constantFrom('.', '?.', '. ', ' .'), name).map(([dot, to]) => `${dot}${to}`),
	fc
		.tuple(fc.constantFrom('', '?.'), fc.constantFrom('"', "'", '`'), name)
		.map(([dot, quote, to]) => `${dot}[${quote}${to}${quote}]`),
);
const space = fc.constantFrom('', ' ', '\n', '\t ', '\u00a0');
const from = fc.constantFrom('$json', '$json', '$json', '$jso', '$item');
const expression = fc
	.tuple(space, from, fc.array(step, { minLength: 1, maxLength: 3 }), space)
	.map(([before, root, steps, after]) => `={{${before}${root}${steps.join('')}${after}}}`);

/** The value that n8n returns for the parameter. Undefined if it rejects it. */
async function evaluated(raw: unknown, row: unknown): Promise<{ value: unknown } | undefined> {
	const parameters = z.custom<INodeParameters>().parse({ personName: raw });
	const items = [{ json: z.custom<IDataObject>().parse(row) }];
	const context = executeContext(harness.node('placeCall', { parameters }), items);
	return await context.workflow.expression.withIsolate(async () => {
		try {
			return await Promise.resolve({ value: context.getNodeParameter('personName', 0, null) });
		} catch {
			return undefined;
		}
	});
}

describe.each(['legacy', 'vm', 'quickjs'] as const)('with the engine %s of n8n', (engine) => {
	beforeAll(async () => {
		Expression.setExpressionEngine(engine);
		const limits = { poolSize: 1, bridgeTimeout: 5_000, bridgeMemoryLimit: 128 };
		await Expression.initExpressionEngine({ engine, maxCodeCacheSize: 10, ...limits });
	});
	afterAll(async () => {
		await Expression.disposeExpressionEngine();
		Expression.setExpressionEngine('legacy');
	});

	test('a value read from the row equals that of n8n, for any expression and row', async () => {
		expect(Expression.getActiveImplementation()).toBe(engine);
		const property = fc.asyncProperty<[unknown, unknown]>(expression, held, async (raw, row) => {
			// Skip values that n8n evaluates. fast-check fails if it skips too many.
			const read = rowReader(raw);
			fc.pre(read !== undefined);
			const value = read(row);
			fc.pre(value !== UNREAD);
			expect({ value }).toStrictEqual(await evaluated(raw, row));
		});
		await fc.assert(property, { numRuns: engine === 'legacy' ? RUNS : Math.ceil(RUNS / 8) });
	});
});

test('n8n reads half of a surrogate pair', () => {
	expect(rowReader('={{ $json.a }}')?.({ a: 'a\ud800' })).toBe(UNREAD);
	expect(rowReader('={{ $json.a }}')?.({ a: '\u{1f600}' })).toBe('\u{1f600}');
});

test.each([
	...['$json.prototype', '$json.constructorId', '$json.__proto__', '$json["\ud800"]'],
	// n8n's engines reject such a text.
	...['\n', '\r', '\u2028', '\u2029'].map((lineEnd) => `$json["a${lineEnd}b"]`),
])('n8n reads %j', (code) => {
	expect(rowReader(`={{ ${code} }}`)).toBeUndefined();
});

test.each([
	...['', '42', '={{ 40 + 2 }}', '={{ $vars.campaign }}'],
	'={{ $("Settings").last().json["campaign id"].toString() }}',
	'={{ $input.first().json.ids[0] }}',
	'={{ $("A").first()?.json?.campaign }}',
	'=4{{ 2 }}{{ $vars.end }}',
	'={{ { at: $now.toISO(), by: $workflow.name } }}',
	'={{ `${$today.toFormat("yyyy-MM-dd")}-${$execution.id}` }}',
	'={{ $vars.a + $env.B + $runIndex + Math.random() }}',
	'={{ { "price": "$5" } }}',
	"={{ $('Rows').all().length }}",
	'={{ $("Settings").first($runIndex).json.id }}',
	...['={{ $fromAI("id") }}', '={{ $if($vars.a, 1, 2) }}'],
])('%s does not refer to an item', (text) => {
	expect(mayNameRow(text)).toBe(false);
});

test.each([
	...['={{ $json.campaign }}', '={{ $itemIndex }}', '={{ $input.item.json.id }}'],
	...['={{ $("Settings").item.json.id }}', '={{ $("Settings").pairedItem().json.id }}'],
	'={{ $("Settings").all()[$itemIndex].json.id }}',
	'={{ $("a\\").first() + $json.x + (\\"").first() }}',
	'={{ $("Settings").first().json[$json.name] }}',
	'={{ $("Settings").first($itemIndex).json.id }}',
	...['={{ $vars.campaign || $json.campaign }}', '={{ $nowhere }}'],
	...['={{ this.$json.id }}', '={{ ({ a: $json }).a }}', '={{ "a\\" + $json.x + \\"" }}'],
	...['={{ $vars.a }} {{ $json.b }}', '={{ `${$json.a}` }}'],
	// n8n reads a closing bracket after a backslash as a part of the code.
	'={{ "\\}}" + $json.campaign }}',
	...['={{ $ ("Start").item.json.id }}', '={{ $thisItem.json.id }}'],
	...['={{ this["$" + "json"] }}', '={{ `a${this["$" + "json"].id}` }}', '={{ \\u0024json.id }}'],
])('%s may refer to an item', (text) => {
	expect(mayNameRow(text)).toBe(true);
});
