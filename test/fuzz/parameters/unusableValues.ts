import type { INodeProperties } from 'n8n-workflow';

export type UnusableValue = { what: string; expression: string; isNothing: boolean };

const given = (what: string, code: string, isNothing = false): UnusableValue => ({
	what,
	expression: `={{ ${code} }}`,
	isNothing,
});

/** Values that an expression can return, which are wrong for most parameters. */
export const UNUSABLE_VALUES: UnusableValue[] = [
	given('null', 'null', true),
	given('a variable that is not there', '$vars.x', true),
	given('a list', '[[1], "a"]'),
	given('an empty text', '""', true),
	given('an object', '({ a: 1 })'),
	given('a column that is not there', '$json.missing', true),
	given('NaN', 'NaN'),
	given('a date of n8n', '$now'),
	given('undefined', 'undefined', true),
	given('true', 'true'),
	given('a JavaScript date', 'new Date()'),
	given('a number', '7'),
	given('some words', '"some words"'),
	given('an invalid date as text', 'DateTime.fromISO("soon").toFormat("d")'),
	{ ...given('an object within text', ''), expression: '=some {{ ({ a: 1 }) }}' },
	{ ...given('an invalid date within text', ''), expression: '=on {{ new Date("soon") }}' },
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

export function isOfItsType(
	{ type, options = [] }: INodeProperties,
	{ what }: UnusableValue,
): boolean {
	if (OF_ITS_TYPE[type]?.includes(what) === true) return true;
	return what === 'true' && options.some((one) => 'value' in one && one.value === true);
}

/** The value of an empty field. */
export function emptied({ type }: INodeProperties): '' | [] {
	return type === 'multiOptions' ? [] : '';
}
