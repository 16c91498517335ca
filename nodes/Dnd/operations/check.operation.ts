import { READS_AT_ONCE } from '../../shared/api/limits';
import {
	additionalQueryParameters,
	concurrencyField,
	readAdditions,
	readConcurrency,
	optionsCollection,
} from '../../shared/n8n/options';
import { asItems, forEachItem } from '../../shared/n8n/itemLoop';
import type { Operation } from '../../shared/n8n/operations';
import { findEntry, readDndList } from '../list/dndList';
import { parseAgentUuid } from '../../shared/api/identifiers';
import { parseDndPhone, comparedDigits } from '../list/phoneMatch';
import { dndAgentField, phoneField } from '../dndFields';

export const check: Operation = {
	value: 'check',
	name: 'Check',
	action: 'Check number against DND list',
	description: 'Find out whether an agent may call a number. Numbers are compared digit by digit.',
	fields: [
		dndAgentField,
		phoneField,
		optionsCollection(
			additionalQueryParameters,
			concurrencyField(READS_AT_ONCE, 'How many numbers to check at the same time'),
		),
	],
	toolDescription:
		'Tells whether a phone number is on the do-not-disturb list of an AI agent, which means that the agent must not call it. Calls nobody and changes nothing.',

	async execute({ context, parameters, connection }) {
		const checkOne = async (index: number) => {
			const { client, apiMapping } = await connection();
			const agentUuid = parseAgentUuid(parameters.value('agentUuid', index));
			const phone = parseDndPhone(parameters.value('phone', index));
			const additions = readAdditions(parameters.record('options', index));
			// Digits alone are part of the number in whichever form the service keeps it.
			const request = { agentUuid, phone: comparedDigits(phone), limit: Infinity, additions };
			const { listed, entry, similar } = findEntry(
				phone,
				await readDndList(client, request, apiMapping),
			);
			return asItems({ phone, agent_uuid: agentUuid, listed, entry, similar });
		};
		const concurrency = readConcurrency(parameters, READS_AT_ONCE);
		return await forEachItem(context, checkOne, { concurrency });
	},
};
