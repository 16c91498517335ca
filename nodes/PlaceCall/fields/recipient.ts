import type { INodeProperties } from 'n8n-workflow';
import { agentField } from '../../host/forms/locatorFields';
import { countryField } from '../../host/forms/countryField';
import type { Fields } from '../../host/forms/fields';
import { textInTools } from '../../host/forms/shownWhere';

const CHECK = 'check';
const PLACE = 'place';

const whatToDo: INodeProperties = {
	displayName: 'What to Do',
	name: 'whatToDo',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'Check Only',
			value: CHECK,
			description:
				"Calls nobody. The output shows who would be called, and when, without 'Limit Calls per Person'.",
		},
		{ name: 'Place Calls', value: PLACE },
	],
	default: CHECK,
	description: 'Whether to call, or to see first who would be called',
};

/** Hides a text about calls if nobody is called. */
const HIDDEN_IN_CHECK = { [whatToDo.name]: [CHECK] };

const checkNotice: INodeProperties = {
	displayName:
		'This node checks the items, and calls nobody. Look at the output, and then choose <b>Place Calls</b>.',
	name: 'checkNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: HIDDEN_IN_CHECK },
};

export function readChecksOnly(form: Fields): boolean {
	return form.has(whatToDo.name) && form.choice(whatToDo.name, '') !== PLACE;
}

export const checkFields = [whatToDo, checkNotice];

const callNotice: INodeProperties = {
	displayName:
		'Executing this node places a real phone call for each item. Executing it again can call people again.',
	name: 'callNotice',
	type: 'notice',
	default: '',
	displayOptions: { hide: { '@tool': [true], ...HIDDEN_IN_CHECK } },
};

/** In a tool. */
const modelNotice: INodeProperties = {
	displayName:
		'An AI model decides when this node places real calls. Executing this step places a real call, too.',
	name: 'callNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { '@tool': [true] }, hide: HIDDEN_IN_CHECK },
};

/** The agent, and the person to call. */
export const recipientFields: INodeProperties[] = [
	// At the top, because one click places calls.
	callNotice,
	modelNotice,
	agentField,
	...textInTools(
		{
			...countryField,
			required: true,
			description:
				'The country of the phone number. Type to search. An expression can return the two-letter code or the English name, such as IN or India.',
		},
		{
			placeholder: 'e.g. IN',
			description:
				'The two-letter code of the country that the phone number belongs to, such as IN for India',
		},
	),
	{
		displayName: 'Phone Number',
		name: 'phoneNumber',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. 9876543210',
		description:
			'The number to call, with or without the code of the country. To call the numbers of a column, drag the column here.',
	},
];

export const personName: INodeProperties = {
	displayName: 'Person Name',
	name: 'personName',
	type: 'string',
	default: '',
	placeholder: 'e.g. Asha Rao',
	description: 'The name of the person to call, which the agent can use',
};
