import mapValues from 'lodash/mapValues';
import memoize from 'lodash/memoize';
import type { INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';
import { dndList, type DndListRequest } from '../../core/dnd/dndList';
import { ListedNumbers } from '../../core/dnd/listedNumbers';
import { digitsIn } from '../../core/phone/written';
import { READS_AT_ONCE } from '../../core/service/limits';
import { readPages } from '../../core/service/paging';
import type { JsonObject } from '../../core/values/json';
import {
	additionalQueryParameters,
	concurrencyField,
	optionsCollection,
	readConcurrency,
} from '../../host/forms/options';
import { forEachItem, withInputIfFailed } from '../../host/run/itemLoop';
import type { Operation, OperationRun } from '../../host/run/operations';
import { earlierError, emptied, emptyCell } from '../../host/run/ownColumns';
import { dndAgentField, phoneField, readNumber } from '../dndFields';

/** The list may have numbers in groups of digits, such as `12 34 56 78`. With more digits, they wouldn't be found. */
const SEARCH_DIGITS = 2;
/** More may be an area code, or a prefix that isn't always dialed. */
const MAX_SEARCH_DIGITS = 6;

export const check: Operation = {
	value: 'check',
	name: 'Check',
	action: 'Check numbers against DND list',
	description: 'Add on_dnd to each item: whether its number is on the list',
	subtitle: 'check numbers',
	fields: [
		dndAgentField,
		{
			...phoneField,
			placeholder: 'e.g. {{ $json.phone }}',
			description:
				"The number of each item. Drag the column here. One that can't be read or compared is reported, and never counts as not listed.",
		},
		optionsCollection(
			additionalQueryParameters,
			concurrencyField(READS_AT_ONCE, 'How many requests to send at the same time'),
		),
	],
	isReadOnly: true,
	toolDescription:
		'Checks whether a phone number is on the do-not-disturb list of an AI agent. The agent must not call listed numbers. Calls nobody and changes nothing.',

	async execute(run) {
		const { parameters, account } = run;
		const rows = rowsOf(run);
		const limiter = pLimit(readConcurrency(parameters, READS_AT_ONCE));
		const read = (index: number) => readNumber(parameters.at(index));
		const numbersOf = memoize(async (request: DndListRequest) => {
			const list = dndList(await account(), { ...request, limiter });
			return new ListedNumbers(await readPages(list, Infinity));
		}, JSON.stringify);
		const entryOf = async (index: number) => {
			const { phone, ...list } = read(index);
			if (rows.length > 1) return (await numbersOf({ ...list, limit: Infinity })).entryOf(phone);
			/** The service returns all numbers that contain these digits. */
			const search = async (digits: string) =>
				(await numbersOf({ ...list, phone: digits })).entryOf(phone);
			// A service may require more digits than two.
			return (
				(await search(phone.slice(-SEARCH_DIGITS))) ??
				(await search(digitsIn(phone).slice(-MAX_SEARCH_DIGITS)))
			);
		};
		const check = async (index: number) => [checked(rows[index], await entryOf(index))];
		// Rows wait for the list, not for each other, so that all rows that can't be compared are reported together.
		const concurrency = Math.max(1, rows.length);
		return completeFailed(run, await forEachItem(run, check, { concurrency, check: read }));
	},
	notBegun: (run, failed) => [completeFailed(run, failed)],
};

/** A model gets the number that it gave, not the row of its agent. */
function rowsOf({ caller, parameters }: OperationRun): INodeExecutionData[] {
	if (caller.kind === 'workflow') return caller.inputRows();
	return [{ json: { phone: parameters.at(0).scalar('phone') } }];
}

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
