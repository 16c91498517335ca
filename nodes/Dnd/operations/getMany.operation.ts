import pick from 'lodash/pick';
import type { Limiter } from '../../core/values/keyedMutex';
import type { JsonObject } from '../../core/values/json';
import {
	additionalQueryParameters,
	concurrencyField,
	readAdditions,
	readConcurrency,
	optionsCollection,
} from '../../host/forms/options';
import {
	limitFields,
	limitHint,
	readLimit,
	outputFields,
	readOutput,
	selectOutputs,
} from '../../host/forms/outputFields';
import { forEachList, type ListPlan } from '../../host/run/itemLoop';
import type { Operation } from '../../host/run/operations';
import { quoted } from '../../core/values/values';
import { readPages } from '../../core/service/paging';
import { dndList, requireContained } from '../../core/dnd/dndList';
import { type Explanation } from '../../core/service/explanation';
import { parseAgentUuid } from '../../core/service/parseIds';
import { READS_AT_ONCE } from '../../core/service/limits';
import { withLatinDigits } from '../../core/values/text';
import { dndAgentField } from '../dndFields';

export const getMany: Operation = {
	value: 'getMany',
	name: 'Get Many',
	action: 'Get many numbers from DND list',
	description: 'Get the numbers that an agent never calls, once for items with the same parameters',
	subtitle: 'get many numbers',
	fields: [
		dndAgentField,
		...limitFields,
		{
			displayName: 'Phone Contains',
			name: 'phoneContains',
			type: 'string',
			default: '',
			placeholder: 'e.g. 98765',
			description:
				'Return only numbers that contain these digits. Leave empty to return all numbers.',
		},
		...outputFields('raw', 'The numbers with their reasons', 'phone, created_at'),
		optionsCollection(
			additionalQueryParameters,
			concurrencyField(READS_AT_ONCE, 'How many requests to send at the same time'),
		),
	],
	isReadOnly: true,
	toolDescription:
		'Lists the phone numbers on the do-not-disturb list of an AI agent: the numbers that it never calls. Calls nobody and changes nothing.',

	async execute(run) {
		const { parameters, account, result } = run;
		const plan = async (index: number): Promise<ListPlan> => {
			const service = await account();
			const form = parameters.at(index);
			const output = readOutput(form);
			const limit = readLimit(form);
			const phone = withLatinDigits(form.text('phoneContains'));
			const request = {
				agentUuid: parseAgentUuid(form.text('agentUuid')),
				phone: phone === '' ? undefined : phone,
				limit,
				additions: readAdditions(form.collection('options')),
			};
			const readFor = async (limiter: Limiter): Promise<JsonObject[]> => {
				const list = dndList(service, { ...request, limiter });
				const entries = await readPages(list, limit);
				const { length: count } = entries;
				if (count === 0 && phone !== '') result.addHints(noMatchHint(phone));
				if (count === limit)
					result.addHintsForModel(limitHint(limit, 'number', "'Phone Contains'"));
				requireContained(service, entries, phone);
				return entries;
			};
			return {
				key: { ...request, limit: String(limit), output },
				read: async (limiter) => await selectOutputs(output, await readFor(limiter), simplifyEntry),
			};
		};
		return await forEachList(run, plan, readConcurrency(parameters, READS_AT_ONCE));
	},
};

function noMatchHint(phone: string): Explanation {
	return {
		message: `No number on the list contains ${quoted(phone)}`,
		resolution: 'Fewer digits find more numbers.',
	};
}

const simplifyEntry = (entry: JsonObject) => pick(entry, ['phone', 'reason']);
