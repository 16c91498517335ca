import fc from 'fast-check';
import { Expression, type IDataObject, type INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { rowReader, UNREAD } from '../../../../../nodes/shared/n8n/forms/rowExpression';
import { engineHarness, executeContext } from '../../../../engine';

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
	fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }),
);

const simple = fc.oneof(
	fc.string(),
	fc.string({ unit: 'binary' }),
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
const code = fc
	.tuple(
		space,
		fc.constantFrom('$json', '$json', '$json', '$jso', '$item'),
		fc.array(step, { minLength: 1, maxLength: 3 }),
		space,
	)
	.map(([before, from, steps, after]) => `{{${before}${from}${steps.join('')}${after}}}`);
const expression = code.map((one) => `=${one}`);

type Outcome = { value: unknown } | { rejected: true };

/** The value that n8n returns for the parameter. */
async function evaluated(raw: unknown, row: unknown): Promise<Outcome> {
	const parameters = z.custom<INodeParameters>().parse({ personName: raw });
	const items = [{ json: z.custom<IDataObject>().parse(row) }];
	const context = executeContext(harness.node('placeCall', { parameters }), items);
	return await context.workflow.expression.withIsolate(async () => {
		try {
			return await Promise.resolve({ value: context.getNodeParameter('personName', 0, null) });
		} catch {
			return { rejected: true };
		}
	});
}

describe.each(['legacy', 'vm', 'quickjs'] as const)(
	"a value read from the row equals that of n8n's engine: %s",
	(engine) => {
		beforeAll(async () => {
			Expression.setExpressionEngine(engine);
			const limits = { poolSize: 1, bridgeTimeout: 5_000, bridgeMemoryLimit: 128 };
			await Expression.initExpressionEngine({ engine, maxCodeCacheSize: 10, ...limits });
			expect(Expression.getActiveImplementation()).toBe(engine);
		});
		afterAll(async () => {
			await Expression.disposeExpressionEngine();
			Expression.setExpressionEngine('legacy');
		});

		test('for any expression and row', async () => {
			const property = fc.asyncProperty<[unknown, unknown]>(expression, held, async (raw, row) => {
				// Skip values that n8n evaluates. fast-check fails if it skips too many.
				const read = rowReader(raw);
				fc.pre(read !== undefined);
				const value = read(row);
				fc.pre(value !== UNREAD);
				expect({ value }).toStrictEqual(await evaluated(raw, row));
			});
			await fc.assert(property, { numRuns: engine === 'legacy' ? 30 : 10 });
		});
	},
);

test('the engine reads half of a surrogate pair', () => {
	expect(rowReader('={{ $json.a }}')?.({ a: 'a\ud800' })).toBe(UNREAD);
	expect(rowReader('={{ $json.a }}')?.({ a: '\u{1f600}' })).toBe('\u{1f600}');
	expect(rowReader('={{ $json["\ud800"] }}')).toBeUndefined();
});

test.each(['prototype', 'constructorId', '__proto__'])(
	'the engine reads a field named %s',
	(name) => {
		expect(rowReader(`={{ $json.${name} }}`)).toBeUndefined();
	},
);

// n8n's engines reject such a text.
test.each(['\n', '\r', '\u2028', '\u2029'])('the engine reads a name with %j', (lineEnd) => {
	expect(rowReader(`={{ $json["a${lineEnd}b"] }}`)).toBeUndefined();
});
