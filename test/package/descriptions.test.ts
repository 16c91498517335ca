import type { INodeProperties } from 'n8n-workflow';
import { choicesOf, endsWell, notInTitleCase, parametersIn } from './descriptions';

test.each([
	['Phone Number', []],
	['Put Output File in Field', []],
	['When the Time Limit Passes', []],
	['Live Connection (WebSocket)', []],
	['Côte d’Ivoire', []],
	['Phone number', ['number']],
	['by Name', ['by']],
	['Send By', []],
	['Hand it over', ['it', 'over']],
])('finds the words of "%s" that are not in Title Case', (title, wrong) => {
	expect(notInTitleCase(title)).toEqual(wrong);
});

test.each([
	['The number to call', true],
	['The number to call.', false],
	['The number to call. Digits only.', true],
	['The number to call. Digits only', false],
	['A number such as 3.5 or e.g. 4', true],
])('"%s": has the right period is %p', (description, well) => {
	expect(endsWell(description)).toBe(well);
});

const field = (name: string, overrides: Partial<INodeProperties> = {}): INodeProperties => ({
	displayName: name,
	name,
	type: 'string',
	default: '',
	...overrides,
});

test('finds every parameter, including members of collections, and the parameters that its conditions may use', () => {
	const form = [
		field('A', { type: 'collection', options: [field('B')] }),
		field('C', {
			type: 'fixedCollection',
			options: [{ name: 'd', displayName: 'D', values: [field('E')] }],
		}),
		field('F', { type: 'options', options: [{ name: 'One', value: 1 }] }),
	];
	const found = parametersIn(form, 'Form');
	expect(found.map(({ place }) => place)).toEqual([
		'Form › A',
		'Form › A › B',
		'Form › C',
		'Form › C › D › E',
		'Form › F',
	]);
	expect(found[3]?.visible.map(({ name }) => name)).toEqual(['E', 'A', 'C', 'F']);
	expect(found.map(({ property }) => choicesOf(property).length)).toEqual([0, 0, 0, 0, 1]);
});
