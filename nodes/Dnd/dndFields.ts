import type { INodeProperties } from 'n8n-workflow';
import { parseDndPhone } from '../core/dnd/listedNumbers';
import type { Additions } from '../core/service/endpoints';
import { parseAgentUuid } from '../core/service/parseIds';
import type { Fields } from '../host/forms/fields';
import { agentField } from '../host/forms/locatorFields';
import { readAdditions } from '../host/forms/options';

export const dndAgentField: INodeProperties = {
	...agentField,
	description: 'The agent whose do-not-disturb list to use',
	hint: "Each agent has its own list, which doesn't apply to other agents",
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

/** The number of an item, and the list for it. */
export type NumberOnList = { agentUuid: string; phone: string; additions: Additions };

export function readNumber(form: Fields): NumberOnList {
	return {
		agentUuid: parseAgentUuid(form.text('agentUuid')),
		phone: parseDndPhone(form.scalar('phone')),
		additions: readAdditions(form.collection('options')),
	};
}
