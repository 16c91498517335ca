import type { INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';
import { READS_AT_ONCE } from '../../core/service/limits';
import {
	additionalQueryParameters,
	concurrencyField,
	readConcurrency,
	optionsCollection,
} from '../../host/forms/options';
import { asItems, forEachItem, withInputIfFailed } from '../../host/run/itemLoop';
import type { Operation, OperationRun } from '../../host/run/operations';
import { dndList } from '../../core/dnd/dndList';
import { readPages } from '../../core/service/paging';
import { ListedNumbers } from '../../core/dnd/listedNumbers';
import { digitsIn } from '../../core/phone/written';
import { dndAgentField, phoneField, readNumber } from '../dndFields';

/** The list may have numbers in groups of digits, such as `12 34 56 78`. With more digits, they wouldn't be found. */
const SEARCH_DIGITS = 2;
/** More may be an area code, or a prefix that isn't always dialed. */
const MAX_SEARCH_DIGITS = 6;

export const check: Operation = {
	value: 'check',
	name: 'Check',
	action: 'Check number against DND list',
	description: 'Check whether a number is on the list. Its last ten digits are compared.',
	subtitle: 'check number',
	fields: [
		dndAgentField,
		phoneField,
		optionsCollection(
			additionalQueryParameters,
			concurrencyField(READS_AT_ONCE, 'How many numbers to check at the same time'),
		),
	],
	isReadOnly: true,
	toolDescription:
		'Checks whether a phone number is on the do-not-disturb list of an AI agent. The agent must not call listed numbers. Calls nobody and changes nothing.',

	async execute(run) {
		const { parameters, account } = run;
		const concurrency = readConcurrency(parameters, READS_AT_ONCE);
		const limiter = pLimit(concurrency);
		const checkOne = async (index: number) => {
			const service = await account();
			const { agentUuid, phone, additions } = readNumber(parameters.at(index));
			/** The service returns all numbers that contain these digits. */
			const search = async (searched: string) => {
				const request = { agentUuid, phone: searched, additions, limiter };
				const pages = dndList(service, request);
				return new ListedNumbers(await readPages(pages, Infinity)).entryOf(phone);
			};
			// A service may require more digits than two.
			const entry =
				(await search(phone.slice(-SEARCH_DIGITS))) ??
				(await search(digitsIn(phone).slice(-MAX_SEARCH_DIGITS)));
			const found = { on_dnd: entry !== undefined, entry: entry ?? null };
			return asItems({ phone, agent_uuid: agentUuid, ...found });
		};
		return completeFailed(run, await forEachItem(run, checkOne, { concurrency }));
	},
	notBegun: (run, failed) => [completeFailed(run, failed)],
};

/** Without on_dnd, a number that couldn't be checked would pass a filter for false. */
function completeFailed(
	{ context }: OperationRun,
	items: INodeExecutionData[],
): INodeExecutionData[] {
	return items.map((item) => withInputIfFailed(context, item, () => ({ json: { on_dnd: true } })));
}
