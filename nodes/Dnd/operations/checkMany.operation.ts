import mapValues from 'lodash/mapValues';
import memoize from 'lodash/memoize';
import type { INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';
import { readPages } from '../../core/service/paging';
import { READS_AT_ONCE } from '../../core/service/limits';
import { forEachItem, withInputIfFailed } from '../../host/run/itemLoop';
import type { Operation, OperationRun } from '../../host/run/operations';
import { earlierError, emptied, emptyCell } from '../../host/run/ownColumns';
import {
	additionalQueryParameters,
	concurrencyField,
	optionsCollection,
	readConcurrency,
} from '../../host/forms/options';
import type { JsonObject } from '../../core/values/json';
import { dndAgentField, phoneField, readNumber } from '../dndFields';
import { dndList, type DndListRequest } from '../../core/dnd/dndList';
import { ListedNumbers } from '../../core/dnd/listedNumbers';

export const checkMany: Operation = {
	value: 'checkMany',
	name: 'Check Many',
	action: 'Check many numbers against DND list',
	description:
		'Add on_dnd to each row: whether its number is on the list, which is read once for all rows',
	subtitle: 'check many numbers',
	fields: [
		dndAgentField,
		{
			...phoneField,
			placeholder: 'e.g. {{ $json.phone }}',
			description:
				"The phone number of each row, preferably with + and country code. Drag the column here. A number that can't be read or compared is reported, and never counts as not listed.",
		},
		optionsCollection(
			additionalQueryParameters,
			concurrencyField(READS_AT_ONCE, 'How many requests to send at the same time'),
		),
	],
	isReadOnly: true,
	toolDescription:
		'Checks which phone numbers in the input are on the do-not-disturb list of an AI agent. Calls nobody and changes nothing.',

	async execute(run) {
		const { caller, parameters, account } = run;
		const rows = caller.inputRows();
		const limiter = pLimit(readConcurrency(parameters, READS_AT_ONCE));
		const read = (index: number) => readNumber(parameters.at(index));
		const numbersOf = memoize(async (request: DndListRequest) => {
			const list = dndList(await account(), { ...request, limit: Infinity, limiter });
			return new ListedNumbers(await readPages(list, Infinity));
		}, JSON.stringify);
		const check = async (index: number) => {
			const { phone, ...request } = read(index);
			const entry = (await numbersOf(request)).entryOf(phone);
			return [checked(rows[index], entry)];
		};
		// Rows wait for the list, not for each other, so that all rows that can't be compared are reported together.
		const concurrency = Math.max(1, rows.length);
		return completeFailed(run, await forEachItem(run, check, { concurrency, check: read }));
	},
	notBegun: (run, failed) => [completeFailed(run, failed)],
};

/** A row that couldn't be checked counts as listed, because null would pass a filter for false. */
function completeFailed(
	{ context, caller }: OperationRun,
	items: INodeExecutionData[],
): INodeExecutionData[] {
	const rows = caller.inputRows();
	const inputOf = (index: number) => checked(rows[index], undefined, true);
	return items.map((item) => withInputIfFailed(context, item, inputOf));
}

/** The added columns, and the fields of the entry that they have. */
const ENTRY_COLUMNS = { dnd_phone: 'phone', dnd_reason: 'reason', dnd_created_at: 'created_at' };

/** A row with its files and the added columns, without those of an earlier check. */
function checked(
	{ json: row, binary }: INodeExecutionData = { json: {} },
	entry?: JsonObject,
	on_dnd = entry !== undefined,
): INodeExecutionData {
	const columns = mapValues(
		ENTRY_COLUMNS,
		(field, column) => entry?.[field] ?? emptyCell(row, column),
	);
	const json = { ...row, ...emptied(row, earlierError(row, 'on_dnd')), on_dnd, ...columns };
	return { json, ...(binary && { binary }) };
}
