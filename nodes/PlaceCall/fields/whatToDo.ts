import type { INodeProperties } from 'n8n-workflow';
import type { Fields } from '../../shared/n8n/forms/fields';

const CHECK = 'check';

/** A model decides whether to call, so its tool always does. */
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
				"Calls nobody. The output shows whom the node would call, and when, without looking at 'Limit Calls per Person'.",
		},
	],
	default: 'place',
	displayOptions: { hide: { '@tool': [true] } },
};

/** Hides a text about calls if nobody is called. */
export const HIDDEN_IN_CHECK = { [whatToDo.name]: [CHECK] };

export function readChecksOnly(form: Fields): boolean {
	return form.has(whatToDo.name) && form.choice(whatToDo.name, '') === CHECK;
}
