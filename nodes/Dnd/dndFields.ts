import type { INodeProperties } from 'n8n-workflow';
import type { OutcomeUnknown } from '../shared/api/errors';
import { parseAgentUuid } from '../shared/api/parseIds';
import { agentField } from '../shared/n8n/forms/locatorFields';
import { MAY_BE_BLANK, type Fields } from '../shared/n8n/forms/fields';
import {
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField,
	developerSettings,
	readAdditions,
} from '../shared/n8n/forms/options';
import { comparedDigits, parseDndPhone } from './list/phoneMatch';

/** Changes that affect people are sent one after another. */
export const CHANGES_AT_ONCE = 1;

export const dndAgentField: INodeProperties = {
	...agentField,
	description: 'The agent whose do-not-disturb list to use',
	hint: 'Each agent has its own list. Other agents can still call these numbers.',
};

export const phoneField: INodeProperties = {
	displayName: 'Phone',
	name: 'phone',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. +919876543210',
	description:
		'The phone number as your service expects it, preferably with + and country code. Spaces, hyphens, dots, and parentheses are removed.',
};

/** @param verb for the number, such as "add" */
export function changeSettings(verb: string): INodeProperties {
	return developerSettings(
		additionalBodyFields,
		additionalQueryParameters,
		concurrencyField(CHANGES_AT_ONCE, `How many numbers to ${verb} at the same time`),
	);
}

/** What adding and removing a number have in common. They have the same target, because one undoes the other. */
export function readChange(form: Fields) {
	const agentUuid = parseAgentUuid(form.textOrNumber('agentUuid', MAY_BE_BLANK));
	const phone = parseDndPhone(form.textOrNumber('phone', MAY_BE_BLANK));
	return {
		agentUuid,
		phone,
		additions: readAdditions(form.collection('developerSettings')),
		target: ['do-not-disturb list', agentUuid, comparedDigits(phone)],
		modelMayRepeat: 'afterOtherRequest' as const,
		withDetails: (error: OutcomeUnknown) =>
			error.withText({
				message: `${error.message} (${phone})`,
				resolution: {
					onScreen: `The request wasn't sent again. Before you try again, use the Check operation to see whether ${phone} is on the list.`,
					forModel: 'The request was not sent again.',
				},
			}),
	};
}
