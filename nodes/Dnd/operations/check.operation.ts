import pLimit from 'p-limit';
import { READS_AT_ONCE } from '../../shared/api/limits';
import {
	additionalQueryParameters,
	concurrencyField,
	readConcurrency,
	developerSettings,
} from '../../shared/n8n/forms/options';
import { asItems, forEachItem, withInputIfFailed } from '../../shared/n8n/run/itemLoop';
import type { Operation } from '../../shared/n8n/run/operations';
import { DND_LIST_KEEPS_CHANGING, dndList } from '../list/dndList';
import { readWholeList } from '../../shared/api/paging';
import { ListedNumbers } from '../list/listedNumbers';
import { commonDigits } from '../list/phoneMatch';
import { dndAgentField, phoneField, readNumber } from '../dndFields';

/** The list may have numbers in groups of digits, such as `12 34 56 78`. With more digits, they wouldn't be found. */
const SEARCH_DIGITS = 2;

export const check: Operation = {
	value: 'check',
	name: 'Check',
	action: 'Check number against DND list',
	description: 'Check whether a number is on the list. Numbers are compared digit by digit.',
	fields: [
		dndAgentField,
		phoneField,
		developerSettings(
			additionalQueryParameters,
			concurrencyField(READS_AT_ONCE, 'How many numbers to check at the same time'),
		),
	],
	isReadOnly: true,
	toolDescription:
		'Checks whether a phone number is on the do-not-disturb list of an AI agent. The agent must not call listed numbers. Calls nobody and changes nothing.',

	async execute({ context, parameters, account }) {
		const concurrency = readConcurrency(parameters, READS_AT_ONCE);
		const limiter = pLimit(concurrency);
		const checkOne = async (index: number) => {
			const { client, apiMapping } = await account();
			const { agentUuid, phone, additions } = readNumber(parameters.at(index));
			/** The service returns all numbers that contain these digits. */
			const search = async (searched: string) => {
				const request = { agentUuid, phone: searched, additions, limiter };
				const list = dndList(client, request, apiMapping);
				const { entries } = await readWholeList(list, DND_LIST_KEEPS_CHANGING);
				return new ListedNumbers(entries).entryOf(phone);
			};
			// A service may require more digits than two.
			const entry =
				(await search(phone.slice(-SEARCH_DIGITS))) ?? (await search(commonDigits(phone)));
			return asItems({
				phone,
				agent_uuid: agentUuid,
				on_dnd: entry !== undefined,
				entry: entry ?? null,
			});
		};
		const checked = await forEachItem(context, checkOne, { concurrency });
		// Without it, a number that couldn't be checked would pass a filter for false.
		return checked.map((item) => withInputIfFailed(context, item, () => ({ on_dnd: true })));
	},
};
