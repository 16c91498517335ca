import type { INodeProperties } from 'n8n-workflow';
import { agentField } from '../shared/n8n/forms/agentField';
import { textInTools } from '../shared/n8n/tools/textInTools';
import { COUNTRIES, withoutAccents } from './request/countries';

const countryFields = textInTools(
	{
		displayName: 'Country',
		name: 'countryCode',
		type: 'options',
		options: [
			{ name: '(Choose a Country)', value: '' },
			// The editor searches these names, so they also have the code and the spelling without accents.
			...COUNTRIES.map(({ code, name }) => {
				const plain = withoutAccents(name);
				const label = plain === name ? code : `${code}, ${plain}`;
				return { name: `${name} (${label})`, value: code };
			}),
		],
		default: '',
		required: true,
		description:
			'The country of the phone number. Type to search. An expression must return the two-letter code, such as IN.',
	},
	{
		placeholder: 'e.g. IN',
		description:
			'The two-letter code of the country that the phone number belongs to, such as IN for India',
	},
);

/** At the top, because one click places calls. */
const callNotice: INodeProperties = {
	displayName: 'Executing this node places a real phone call for each input item',
	name: 'callNotice',
	type: 'notice',
	default: '',
};

/** The agent, and the person to call. */
export const whoFields: INodeProperties[] = [
	callNotice,
	agentField,
	...countryFields,
	{
		displayName: 'Phone Number',
		name: 'phoneNumber',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. 9876543210',
		description:
			'The number to call. Spaces, hyphens, dots, parentheses, and the code of the chosen country (such as +91 or 0091) are removed. Agents never call numbers on their do-not-disturb list.',
	},
];

export const personNameField: INodeProperties = {
	displayName: 'Person Name',
	name: 'personName',
	type: 'string',
	default: '',
	placeholder: 'e.g. Asha Rao',
	description: 'The name of the person to call, which the agent can use',
};
