import type { INodeProperties } from 'n8n-workflow';
import { IS_LONG } from '../runs';

export type UnusableValue = { name: string; expression: string; isNothing: boolean };

const value = (name: string, code: string, isNothing = false): UnusableValue => ({
	name,
	expression: `={{ ${code} }}`,
	isNothing,
});

/** Values that an expression can return, which are wrong for most parameters. */
const UNUSABLE_VALUES: UnusableValue[] = [
	value('null', 'null', true),
	value('a variable that is not there', '$vars.x', true),
	value('a list', '[[1], "a"]'),
	value('an empty text', '""', true),
	value('an object', '({ a: 1 })'),
	value('a column that is not there', '$json.missing', true),
	value('NaN', 'NaN'),
	value('a date of n8n', '$now'),
	value('undefined', 'undefined', true),
	value('true', 'true'),
	value('a JavaScript date', 'new Date()'),
	value('a number', '7'),
	value('some words', '"some words"'),
	value('an invalid date as text', 'DateTime.fromISO("soon").toFormat("d")'),
	{ ...value('an object within text', ''), expression: '=some {{ ({ a: 1 }) }}' },
	{ ...value('an invalid date within text', ''), expression: '=on {{ new Date("soon") }}' },
];

const DATES = ['a date of n8n', 'a JavaScript date'];
const TEXTS = ['a number', 'some words'];

/** The values that match each declared type. The node checks whether they are valid for the field. */
const OF_ITS_TYPE: { [type in INodeProperties['type']]?: string[] } = {
	boolean: ['true'],
	number: ['a number'],
	string: TEXTS,
	resourceLocator: TEXTS,
	dateTime: [...DATES, ...TEXTS],
	json: ['an object', 'some words'],
};

function isOfItsType({ type, options = [] }: INodeProperties, { name }: UnusableValue): boolean {
	if (OF_ITS_TYPE[type]?.includes(name) === true) return true;
	return name === 'true' && options.some((one) => 'value' in one && one.value === true);
}

/** Numbers beyond the bounds of a field, which n8n only checks as they're typed. */
function beyondBounds({ typeOptions: { minValue, maxValue } = {} }: INodeProperties) {
	return [
		...(minValue === undefined ? [] : [value('a number that is too small', `${minValue - 1}`)]),
		...(maxValue === undefined ? [] : [value('a number that is too large', `${maxValue + 1}`)]),
	];
}

/**
 * Values of the wrong type for a parameter: all in a long run, otherwise one, which differs with the index. And always the
 * numbers beyond its bounds.
 */
export function wrongValues(property: INodeProperties, index: number): UnusableValue[] {
	const wrong = UNUSABLE_VALUES.filter((given) => !isOfItsType(property, given));
	const at = index % wrong.length;
	return [...(IS_LONG ? wrong : wrong.slice(at, at + 1)), ...beyondBounds(property)];
}

/** The value of an empty field. */
export function emptied({ type }: INodeProperties): '' | [] {
	return type === 'multiOptions' ? [] : '';
}
