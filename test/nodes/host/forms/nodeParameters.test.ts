import type {
	IDataObject,
	INodeParameters,
	INodeProperties,
	NodePropertyTypes,
} from 'n8n-workflow';
import { callerOf } from '../../../../nodes/host/caller/caller';
import type { Fields } from '../../../../nodes/host/forms/fields';
import { NodeParameters } from '../../../../nodes/host/forms/nodeParameters';
import {
	concurrencyField,
	optionsCollection,
	readConcurrency,
} from '../../../../nodes/host/forms/options';
import { engineHarness, executeContext } from '../../../engine';

const harness = engineHarness();

/** A node with these parameters and rows, in the engine's own execute context. */
const contextOf = (parameters: INodeParameters, rows: IDataObject[]) =>
	executeContext(
		harness.node('placeCall', { parameters }),
		rows.map((json) => ({ json })),
	);

const field = (name: string, type: NodePropertyTypes): INodeProperties => ({
	...{ displayName: 'Field', name, type, default: '' },
});
const pairs = {
	...{ displayName: 'Fields', name: 'fields' },
	values: [field('name', 'json'), field('value', 'json')],
};
const FORM: INodeProperties[] = [
	field('personName', 'json'),
	{
		...field('options', 'collection'),
		options: [
			field('systemPrompt', 'json'),
			{ ...field('additionalDataFields', 'fixedCollection'), options: [pairs] },
		],
	},
];
const valueIn = (name: string) => (form: Fields) => form.jsonRows(name) ?? null;

/** The values of a field, and how often n8n evaluated it. */
function read(
	raw: INodeParameters[string],
	rows: IDataObject[],
	name = 'personName',
	readFrom: (form: Fields) => unknown = valueIn(name),
) {
	const context = contextOf({ [name]: raw }, rows);
	const parameters = new NodeParameters({ context, caller: callerOf(context) }, FORM);
	const evaluate = jest.spyOn(context, 'getNodeParameter');
	const values = rows.map((_row, index) => {
		readFrom(parameters.at(index));
		return readFrom(parameters.at(index));
	});
	const evaluations = evaluate.mock.calls.filter(([, , , options]) => !options?.rawExpressions);
	return { values, evaluations: evaluations.length };
}

test.each<[string, unknown[]]>([
	['={{ $json.phone }}', ['1', '2']],
	['={{ $json.phone + "0" }}', ['10', '20']],
	['={{ $json.phone.length }}', [1, 1]],
	['=Call {{ $json.phone }}', ['Call 1', 'Call 2']],
	['={{ $json.deep }}', [{ phone: 'x' }, { phone: 'y' }]],
	['={{ $itemIndex }}', [0, 1]],
])('%s is evaluated once for each item, however often it is read', (expression, values) => {
	const rows = [
		{ phone: '1', deep: { phone: 'x' } },
		{ phone: '2', deep: { phone: 'y' } },
	];
	expect(read(expression, rows)).toEqual({ values, evaluations: 2 });
});

test('a field without expressions is read once, also with nested values, and beside one with an expression', () => {
	const rows = [{ phone: '1' }, { phone: '2' }, { phone: '3' }];
	expect(read('fixed', rows)).toEqual({ values: ['fixed', 'fixed', 'fixed'], evaluations: 1 });
	const prompt = (form: Fields) => valueIn('systemPrompt')(form.collection('options'));
	expect(read({ systemPrompt: 'b' }, rows, 'options', prompt).evaluations).toBe(1);
	expect(read({ systemPrompt: '={{ $itemIndex }}' }, rows, 'options', prompt).evaluations).toBe(3);
	const fields = [{ name: 'plan', value: '={{ $json.phone }}' }];
	const raw = { additionalDataFields: { fields } };
	const pairsIn = (form: Fields) => {
		const pairsOf = form.collection('options').rows('additionalDataFields');
		return pairsOf.map((row) => [valueIn('name')(row), valueIn('value')(row)]);
	};
	const values = ['1', '2', '3'].map((value) => [['plan', value]]);
	expect(read(raw, rows, 'options', pairsIn)).toEqual({ values, evaluations: 4 });
});

test.each<[number | string | undefined, number]>([
	[undefined, 5],
	['7', 7],
	[2.9, 2],
	[0, 1],
	[-3, 1],
	[100, 100],
	[101, 100],
])('Concurrency %p: %i at the same time', (concurrency, expected) => {
	const settings = concurrency === undefined ? {} : { concurrency };
	const context = contextOf({ options: settings }, [{}]);
	const form = [optionsCollection(concurrencyField(5, ''))];
	expect(readConcurrency(new NodeParameters({ context, caller: callerOf(context) }, form), 5)).toBe(
		expected,
	);
});

test("n8n's AI builder isn't told that a number is off", () => {
	const number = concurrencyField(5, '');
	expect(optionsCollection(number).options).toEqual([number]);
});
