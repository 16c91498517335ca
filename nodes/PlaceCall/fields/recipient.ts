import type { INodeProperties } from 'n8n-workflow';
import { checkAgentUuid } from '../../shared/api/parseIds';
import { agentField } from '../../shared/n8n/forms/locatorFields';
import { countryField } from '../../shared/n8n/forms/countryField';
import { MAY_BE_BLANK } from '../../shared/n8n/forms/fields';
import { textInTools } from '../../shared/n8n/tools/textInTools';
import { phoneKey } from '../../shared/phone/phoneKey';
import { phoneNumber } from '../../shared/phone/callPhone';
import { countryCode } from '../../shared/phone/countries';
import { type CallField, propertiesOf } from './callDraft';

/** At the top, because one click places calls. */
const callNotice: INodeProperties = {
	displayName: 'Executing this node places a real phone call for each input item',
	name: 'callNotice',
	type: 'notice',
	default: '',
};

const agent: CallField = {
	properties: [agentField],
	addTo(draft, fields) {
		const value = fields.textOrNumber('agentUuid', MAY_BE_BLANK);
		draft.set('agent_uuid', draft.take(checkAgentUuid(value)));
	},
};

const country: CallField = {
	properties: textInTools(
		{
			...countryField,
			required: true,
			description:
				'The country of the phone number. Type to search. An expression must return the two-letter code, such as IN.',
		},
		{
			placeholder: 'e.g. IN',
			description:
				'The two-letter code of the country that the phone number belongs to, such as IN for India',
		},
	),
	addTo(draft, fields) {
		const value = fields.choiceOrText('countryCode', MAY_BE_BLANK);
		draft.set('country_code', draft.take(countryCode(value)));
	},
};

/** After the country, by which its number is read. */
const phone: CallField = {
	properties: [
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
	],
	addTo(draft, fields) {
		const value = fields.textOrNumber('phoneNumber', MAY_BE_BLANK);
		const { country_code: code } = draft.request;
		draft.set('phone_number', draft.take(phoneNumber(value, code)));
		draft.phoneKey = phoneKey(value, code);
	},
};

/** The agent, and the person to call. */
export const recipient = [agent, country, phone];

export const recipientProperties: INodeProperties[] = [callNotice, ...propertiesOf(...recipient)];

export const personName: CallField = {
	properties: [
		{
			displayName: 'Person Name',
			name: 'personName',
			type: 'string',
			default: '',
			placeholder: 'e.g. Asha Rao',
			description: 'The name of the person to call, which the agent can use',
		},
	],
	addTo(draft, fields) {
		draft.set('person_name', fields.textAsWritten('personName', MAY_BE_BLANK));
	},
};
