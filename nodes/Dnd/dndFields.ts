import type { INodeProperties } from 'n8n-workflow';
import type { Additions } from '../core/service/endpoints';
import { parseAgentUuid } from '../core/service/parseIds';
import { agentField } from '../host/forms/locatorFields';
import type { Fields } from '../host/forms/fields';
import { readAdditions } from '../host/forms/options';
import { parseDndPhone } from '../core/dnd/phoneMatch';

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

/** The number and the list of an item. */
export type NumberOnList = { agentUuid: string; phone: string; additions: Additions };

/** @param agentUuid if omitted, the selected agent */
export function readNumber(form: Fields, agentUuid = form.text('agentUuid')): NumberOnList {
	return {
		agentUuid: parseAgentUuid(agentUuid),
		phone: parseDndPhone(form.scalar('phone')),
		additions: readAdditions(form.collection('developerSettings')),
	};
}
