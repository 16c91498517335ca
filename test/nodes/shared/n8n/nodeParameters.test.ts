import fc from 'fast-check';
import type { ExecuteContext } from 'n8n-core';
import { type IDataObject, type INodeExecutionData, type INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { parseJsonObject, NodeParameters } from '../../../../nodes/shared/n8n/nodeParameters';
import { engineHarness, executeContext } from '../../../engine';

const harness = engineHarness();

/** A node with these parameters and rows, in the engine's own execute context. */
function contextOf(parameters: INodeParameters, rows: IDataObject[]): ExecuteContext {
	const items: INodeExecutionData[] = rows.map((json) => ({ json }));
	const { credentials } = harness;
	return executeContext(harness.node('placeCall', { parameters }), items, { credentials });
}

function read(raw: INodeParameters[string], rows: IDataObject[], name = 'personName') {
	const context = contextOf({ [name]: raw }, rows);
	const parameters = new NodeParameters(context);
	const evaluate = jest.spyOn(context, 'getNodeParameter');
	const values = rows.map((_row, index) => parameters.value(name, index));
	const evaluations = evaluate.mock.calls.filter(([, , , options]) => !options?.rawExpressions);
	return { values, evaluations: evaluations.length };
}

describe('a plain column is read straight from the item, as n8n would', () => {
	const rows = [{ phone: '1', 'Phone No': 7 }, { phone: null }, { phone: false, 'Phone No': '' }];

	test.each([
		['={{ $json.phone }}', ['1', null, false]],
		['={{$json.phone}}', ['1', null, false]],
		["={{ $json['Phone No'] }}", [7, null, '']],
		['={{ $json["Phone No"] }}', [7, null, '']],
	])('%s', (expression, expected) => {
		expect(read(expression, rows)).toEqual({ values: expected, evaluations: 0 });
	});

	test('a value that n8n would turn into something else goes through its engine', () => {
		const { values, evaluations } = read('={{ $json.when }}', [{ when: { day: 1 } }]);
		expect(values).toEqual([{ day: 1 }]);
		expect(evaluations).toBe(1);
	});
});

test.each([
	[' text ', 'text'],
	[7, '7'],
	[-0.5, '-0.5'],
	['={{ 12345678901234567890n }}', '12345678901234567890'],
	[true, ''],
	[null, ''],
	[{ a: 1 }, ''],
])('%j is the text %j', (raw, text) => {
	expect(new NodeParameters(contextOf({ personName: raw }, [{}])).text('personName', 0)).toBe(text);
});

describe('the shortcut for a column and the engine agree', () => {
	const name = fc.oneof(
		fc.constantFrom(
			'phone',
			'Phone Number',
			'constructor',
			'__proto__',
			'toString',
			'a.b',
			'1',
			'é',
			' x ',
			'}}',
			'a }} b',
			'{{',
		),
		fc.constantFrom(
			'prototype',
			'getPrototypeOf',
			'hasOwnProperty',
			'length',
			'this',
			'new',
			'$json',
		),
		fc.string({ minLength: 1, maxLength: 12 }).filter((text) => !/["'\\]/.test(text)),
	);
	const value = fc.oneof(
		fc.string(),
		fc.constantFrom('={{ 1 }}', '{{ $json.x }}', '=1', ' ', '', 'null'),
		fc.double(),
		fc.integer(),
		fc.boolean(),
		fc.constantFrom(null, undefined, -0, new Date(0)),
		fc.array(fc.integer(), { maxLength: 2 }),
		fc.dictionary(fc.string(), fc.integer(), { maxKeys: 2 }),
	);
	type Spelling = { column: string; quote: string; dotted: boolean; before: string; after: string };
	const spelled: fc.Arbitrary<Spelling> = fc.record({
		column: name,
		quote: fc.constantFrom('"', "'"),
		dotted: fc.boolean(),
		before: fc.constantFrom('', ' ', '\n', '\t '),
		after: fc.constantFrom('', ' ', '\n'),
	});
	const expressionOf = ({ column, quote, dotted, before, after }: Spelling) => {
		const access = dotted ? `.${column}` : `[${quote}${column}${quote}]`;
		return `={{${before}$json${access}${after}}}`;
	};
	const outcomeOf = (read: () => unknown) => {
		try {
			return { value: read() ?? null };
		} catch {
			return { refused: true };
		}
	};

	test('on every column name, spelling and value', () => {
		const property = fc.property(spelled, value, fc.boolean(), (spelling, held, isThere) => {
			const row = isThere ? { [spelling.column]: held } : { other: held };
			const context = contextOf({ personName: expressionOf(spelling) }, [
				z.custom<IDataObject>().parse(row),
			]);
			const read = outcomeOf(() => new NodeParameters(context).value('personName', 0));
			const evaluated = outcomeOf(() => context.getNodeParameter('personName', 0, null));
			expect(read).toEqual(evaluated);
		});
		fc.assert(property, { numRuns: 1_000 });
	});
});

test.each([
	['={{ $json.phone + "0" }}', ['10', '20']],
	['={{ $json.phone }}0', ['10', '20']],
	['={{ $json.deep.phone }}', ['x', 'y']],
	['={{ $itemIndex }}', [0, 1]],
])('%s is evaluated for each item', (expression, expected) => {
	const rows = [
		{ phone: '1', deep: { phone: 'x' } },
		{ phone: '2', deep: { phone: 'y' } },
	];
	expect(read(expression, rows)).toEqual({ values: expected, evaluations: 2 });
});

test('what has no expression is read once, nested values included', () => {
	const rows = [{}, {}, {}];
	expect(read('fixed', rows)).toEqual({ values: ['fixed', 'fixed', 'fixed'], evaluations: 1 });
	expect(read({ systemPrompt: 'b' }, rows, 'options').evaluations).toBe(1);
	expect(read({ systemPrompt: '={{ $itemIndex }}' }, rows, 'options').evaluations).toBe(3);
});

test('a parameter that is not there is null', () => {
	expect(new NodeParameters(contextOf({}, [{}])).value('missing', 0)).toBeNull();
});

describe('JSON parameters', () => {
	test.each([
		['', {}],
		['{ "a": 1 }', { a: 1 }],
		[{ a: 1 }, { a: 1 }],
		[undefined, {}],
	])('%p', (value, expected) => {
		expect(parseJsonObject(value, 'Additional Body Fields')).toEqual(expected);
	});

	test.each<unknown>(['[1]', 'text', '{', '1', [1], 1, false])('%j is refused', (value) => {
		expect(() => parseJsonObject(value, 'Additional Body Fields')).toThrow(
			'Additional Body Fields is not a JSON object',
		);
	});
});
