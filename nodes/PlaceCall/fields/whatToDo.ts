import type { INodeProperties } from 'n8n-workflow';
import type { Fields } from '../../host/forms/fields';

const CHECK = 'check';

export const whatToDo: INodeProperties = {
	displayName: 'What to Do',
	name: 'whatToDo',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'Place Calls', value: 'place' },
		{
			name: 'Check Only',
			value: CHECK,
			description:
				"Calls nobody. The output shows who would be called, and when, without 'Limit Calls per Person'.",
		},
	],
	default: 'place',
	description: 'Whether to call, or to see first who would be called',
};

/** Hides a text about calls if nobody is called. */
export const HIDDEN_IN_CHECK = { [whatToDo.name]: [CHECK] };

export const checkNotice: INodeProperties = {
	displayName:
		'This node checks the items, and calls nobody. Look at the output, and then choose <b>Place Calls</b>.',
	name: 'checkNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: HIDDEN_IN_CHECK },
};

export function readChecksOnly(form: Fields): boolean {
	return form.has(whatToDo.name) && form.choice(whatToDo.name, '') === CHECK;
}
