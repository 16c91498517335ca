import { DateTime } from 'luxon';
import type { INodeProperties, NodePropertyTypes } from 'n8n-workflow';
import { Fields, MAY_BE_BLANK } from '../../../../nodes/host/forms/fields';
import { ABSENT } from '../../../../nodes/host/forms/fieldValue';

const property = (name: string, overrides: Partial<INodeProperties> = {}): INodeProperties => ({
	displayName: `The ${name}`,
	name,
	type: 'string',
	default: '',
	...overrides,
});

/** A form with one field that has this value. */
function form(type: NodePropertyTypes, value: unknown, raw: unknown = '={{ $json.x }}'): Fields {
	const isChoice = type === 'options' || type === 'multiOptions';
	return fieldsOf(property('field', { type, ...(isChoice && { options: OPTIONS }) }), raw, value);
}
const OPTIONS = [
	{ name: 'A', value: 'a' },
	{ name: 'Off', value: false },
];
const fixed = (type: NodePropertyTypes, value: unknown) => form(type, value, value);
const fieldsOf = (field: INodeProperties, raw: unknown, value: unknown) =>
	new Fields([field], () => ({ raw, value: () => value }));

type Reader = (fields: Fields) => unknown;
const READERS: Array<[name: string, type: NodePropertyTypes, read: Reader, accepted: unknown[]]> = [
	['switch', 'boolean', (fields) => fields.switch('field', false), [true, ' TRUE ', 'false']],
	['number', 'number', (fields) => fields.number('field', 1), [7, '7', ' 7.5e1 ', '1e10']],
	['text', 'string', (fields) => fields.text('field'), ['a', 7, 12345678901234567890n]],
	['textOrList', 'string', (fields) => fields.textOrList('field'), ['a', 7, ['a', 7], []]],
	['choice', 'options', (fields) => fields.choice('field', 'a'), ['a', false, ' false ']],
	['choices', 'multiOptions', (fields) => fields.choices('field'), ['a', 'a, false', ['a'], []]],
	['scalar', 'string', (fields) => fields.scalar('field'), ['a', 7, true]],
	['time', 'dateTime', (fields) => fields.time('field'), ['a', 7, new Date(0), DateTime.now()]],
	['jsonObject', 'json', (fields) => fields.jsonObject('field'), ['{ "a": 1 }', { a: 1 }]],
];

/** Values that no field accepts, and their names in messages. */
const NO_VALUES: Array<[value: unknown, name: string]> = [
	[undefined, 'nothing'],
	[null, 'nothing'],
	['', 'nothing'],
	[' \n', 'nothing'],
	[NaN, 'NaN'],
	[Infinity, 'Infinity'],
	[[], 'a list'],
	[[{ a: 1 }], 'a list'],
	[[null, ''], 'a list'],
	[{ a: 1 }, 'an object'],
	[new Date(NaN), 'a date'],
	[DateTime.invalid('x'), 'a date'],
];

describe.each(READERS)('%s', (_reader, type, read, accepted) => {
	test.each(accepted.map((value) => [value]))('accepts %p', (value) => {
		expect(() => read(form(type, value))).not.toThrow();
	});

	test('returns the fallback if the form does not show the field', () => {
		expect(() => read(form(type, undefined, ABSENT))).not.toThrow();
	});
});

test.each(NO_VALUES.slice(0, 4))('text is empty if %p is allowed as blank', (value) => {
	expect(form('string', value).text('field', MAY_BE_BLANK)).toBe('');
});

test('a field that is left empty is empty', () => {
	expect(fixed('string', '').text('field')).toBe('');
	expect(fixed('multiOptions', []).choices('field')).toEqual([]);
	expect(fixed('json', '').jsonObject('field')).toEqual({});
	// Its caller rejects an empty one.
	const required = property('field', { required: true });
	expect(fieldsOf(required, '={{ $json.x }}', null).text('field')).toBe('');
});

test('rows are any JSON, or nothing', () => {
	const rowsOf = (value: unknown) => form('json', value).jsonRows('field');
	for (const value of ['{}', 7, true, { a: 1 }, [null], []]) expect(rowsOf(value)).toBe(value);
	for (const value of [undefined, null, ' ']) expect(rowsOf(value)).toBeUndefined();
	for (const value of [NaN, new Date(0)]) expect(() => rowsOf(value)).toThrow('must be JSON');
});

test('a field that a model leaves empty is empty', () => {
	expect(form('string', '', "={{ $fromAI('name') }}").text('field')).toBe('');
	expect(() => form('string', null, "={{ $fromAI('name') }}").text('field')).toThrow('nothing');
});

test.each(['null', 'undefined', ' null ', 'NULL'])(
	'a model that writes %j gives nothing, and everybody else gives that text',
	(word) => {
		const fromModel = form('string', word, "={{ $fromAI('name') }}");
		expect(() => fromModel.text('field')).toThrow('nothing');
		expect(form('string', word).text('field')).toBe(word.trim());
		expect(fixed('string', word).text('field')).toBe(word.trim());
	},
);

test.each([
	[' text ', 'text'],
	[7, '7'],
	[-0.5, '-0.5'],
	[12345678901234567890n, '12345678901234567890'],
])('%p is the text %p', (value, text) => {
	expect(form('string', value).text('field')).toBe(text);
});

test.each(['[1]', 'text', '{', '1', [1], 1, false])('%j is not a JSON object', (value) => {
	expect(() => fixed('json', value).jsonObject('field')).toThrow(
		"'The field' must be a JSON object",
	);
});

test.each(NO_VALUES)('a message names the kind of %p: %s', (value, name) => {
	expect(() => form('string', value).text('field')).toThrow(
		`'The field' must be text or a number (got ${name})`,
	);
});

test('a message shows the value and the location of the field, but never a secret', () => {
	const dryRun = property('dryRun', { type: 'boolean' });
	const options = property('options', { type: 'collection', options: [dryRun] });
	const fields = fieldsOf(options, '={{ $vars.x }}', 'yes');
	expect(() => fields.collection('options').switch('dryRun', false)).toThrow(
		"'The dryRun' in 'The options' must be true or false (got \"yes\")",
	);
	const secret = property('field', { typeOptions: { password: true } });
	expect(() => fieldsOf(secret, '=', ['open sesame']).text('field')).toThrow(
		"'The field' must be text or a number (got a list)",
	);
});

test('a field without expressions has none, and its switch is not the text that n8n compares with true', () => {
	const text = property('field', { noDataExpression: true });
	expect(() => fieldsOf(text, '{{ 1 }}', '{{ 1 }}').text('field')).toThrow(
		"'The field' must be a value without expressions",
	);
	const toggle = property('field', { type: 'boolean', noDataExpression: true });
	expect(() => fieldsOf(toggle, 'true', 'true').switch('field', false)).toThrow(
		'must be true or false',
	);
});

test('reading a field that the form does not declare fails', () => {
	expect(() => form('string', 'a').text('other')).toThrow(TypeError);
});

test('a whole number is within the bounds of its field', () => {
	const field = property('field', { type: 'number', typeOptions: { minValue: 5, maxValue: 120 } });
	const read = (value: unknown) => fieldsOf(field, value, value).wholeNumber('field');
	expect([5, '120', ABSENT].map(read)).toEqual([5, 120, undefined]);
	for (const value of [4, 121, 5.5, -1]) {
		expect(() => read(value)).toThrow(
			`'The field' must be a whole number from 5 to 120 (got ${value})`,
		);
	}
	expect(() => fixed('number', 7).wholeNumber('field')).toThrow('field has no bounds');
});
