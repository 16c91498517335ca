import { readAdditions } from '../../shared/n8n/additions';
import { alreadyDone } from '../../shared/n8n/alreadyDone';
import { readConcurrency } from '../../shared/n8n/concurrency';
import {
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField,
} from '../../shared/n8n/fields';
import { asItems, forEachItem } from '../../shared/n8n/itemLoop';
import type { Operation } from '../../shared/n8n/operations';
import { addNumber, valuesToAdd } from '../../shared/service/dnd/dndChange';
import { parseAgentUuid } from '../../shared/service/core/identifiers';
import { parseDndPhone } from '../../shared/service/dnd/phoneMatch';
import { CHANGES_AT_ONCE, dndAgentField, optionsField, phoneField } from '../dndFields';

export const add: Operation = {
	value: 'add',
	name: 'Add',
	action: 'Add a number to a do-not-disturb list',
	description: 'Keep an agent from ever calling a number; calls under way in campaigns included',
	fields: [
		dndAgentField,
		phoneField,
		{
			displayName: 'Reason',
			name: 'reason',
			type: 'string',
			default: '',
			placeholder: 'e.g. asked on the phone',
			description: 'Why the number is on the list. Leave empty if your service takes no reason.',
		},
		optionsField([
			additionalBodyFields,
			additionalQueryParameters,
			concurrencyField(CHANGES_AT_ONCE, 'How many numbers are added at the same time'),
		]),
	],

	async execute({ context, parameters, connection }) {
		const read = (index: number) => ({
			agentUuid: parseAgentUuid(parameters.value('agentUuid', index)),
			phone: parseDndPhone(parameters.value('phone', index)),
			reason: parameters.text('reason', index),
		});
		const addOne = async (index: number) => {
			const { service, openDetails } = await connection();
			const fields = read(index);
			const values = valuesToAdd(openDetails, fields);
			const additions = readAdditions(parameters.record('options', index));
			return asItems(await addNumber(service, fields.phone, values, additions));
		};
		return await forEachItem(context, addOne, {
			concurrency: readConcurrency(parameters, CHANGES_AT_ONCE),
			once: true,
			check: read,
			describeDone: alreadyDone({
				one: 'number was already added',
				several: 'numbers were already added',
			}),
		});
	},
};
