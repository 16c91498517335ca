import type { ExecuteContext } from 'n8n-core';
import type {
	IDataObject,
	INodeExecutionData,
	INodeParameters,
	INodeProperties,
	NodePropertyTypes,
} from 'n8n-workflow';
import type { Fields } from '../../../../../nodes/shared/n8n/forms/fields';
import { NodeParameters } from '../../../../../nodes/shared/n8n/forms/nodeParameters';
import { engineHarness, executeContext } from '../../../../engine';

const harness = engineHarness();

/** A node with these parameters and rows, in the engine's own execute context. */
function contextOf(parameters: INodeParameters, rows: IDataObject[]): ExecuteContext {
	const items: INodeExecutionData[] = rows.map((json) => ({ json }));
	return executeContext(harness.node('placeCall', { parameters }), items);
}

const field = (name: string, type: NodePropertyTypes): INodeProperties => ({
	displayName: 'Field',
	name,
	type,
	default: '',
});
const FORM: INodeProperties[] = [
	field('personName', 'json'),
	{
		...field('additionalDataFields', 'fixedCollection'),
		options: [
			{
				displayName: 'Fields',
				name: 'fields',
				values: [field('name', 'json'), field('value', 'json')],
			},
		],
	},
	{ ...field('options', 'collection'), options: [field('systemPrompt', 'json')] },
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
	const parameters = new NodeParameters(context, FORM);
	const evaluate = jest.spyOn(context, 'getNodeParameter');
	const values = rows.map((_row, index) => readFrom(parameters.at(index)));
	const evaluations = evaluate.mock.calls.filter(([, , , options]) => !options?.rawExpressions);
	return { values, evaluations: evaluations.length };
}

describe('an expression that only picks values of the row is read from the item, with the same result as in n8n', () => {
	const rows = [{ phone: '1', 'Phone No': 7 }, { phone: null }, { phone: false, 'Phone No': '' }];

	test.each([
		['={{ $json.phone }}', ['1', null, false]],
		['={{$json.phone}}', ['1', null, false]],
		["={{ $json['Phone No'] }}", [7, null, null]],
		['={{ $json["Phone No"] }}', [7, null, null]],
	])('%s', (expression, expected) => {
		expect(read(expression, rows)).toEqual({ values: expected, evaluations: 0 });
	});

	test.each(['={{ $json.at["city"] }}', '={{ $json.at.city }}'])('%s', (expression) => {
		const rows = [{ at: { city: 'Pune' } }, { at: { city: null } }];
		expect(read(expression, rows)).toEqual({ values: ['Pune', null], evaluations: 0 });
	});

	test('in a collection with fixed values', () => {
		const raw = { fields: [{ name: 'plan', value: '={{ $json.phone }}' }] };
		const pairs = (form: Fields) =>
			form.rows('additionalDataFields').map((row) => [valueIn('name')(row), valueIn('value')(row)]);
		const values = ['1', null, false].map((value) => [['plan', value]]);
		expect(read(raw, rows, 'additionalDataFields', pairs)).toEqual({ values, evaluations: 1 });
	});

	test('a value that n8n would convert is evaluated by its engine', () => {
		const { values, evaluations } = read('={{ $json.when }}', [{ when: { day: 1 } }]);
		expect(values).toEqual([{ day: 1 }]);
		expect(evaluations).toBe(1);
	});
});

test.each([
	['={{ $json.phone + "0" }}', ['10', '20']],
	['={{ $json.phone.length }}', [1, 1]],
	['=Call {{ $json.phone }}', ['Call 1', 'Call 2']],
	['={{ $json.deep }}', [{ phone: 'x' }, { phone: 'y' }]],
	['={{ $itemIndex }}', [0, 1]],
])('%s is evaluated for each item', (expression, expected) => {
	const rows = [
		{ phone: '1', deep: { phone: 'x' } },
		{ phone: '2', deep: { phone: 'y' } },
	];
	expect(read(expression, rows)).toEqual({ values: expected, evaluations: 2 });
});

test('a field without expressions is read once, also with nested values', () => {
	const rows = [{}, {}, {}];
	expect(read('fixed', rows)).toEqual({ values: ['fixed', 'fixed', 'fixed'], evaluations: 1 });
	const prompt = (form: Fields) => valueIn('systemPrompt')(form.collection('options'));
	expect(read({ systemPrompt: 'b' }, rows, 'options', prompt).evaluations).toBe(1);
	expect(read({ systemPrompt: '={{ $itemIndex }}' }, rows, 'options', prompt).evaluations).toBe(3);
});
