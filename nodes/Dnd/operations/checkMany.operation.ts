import memoize from 'lodash/memoize';
import type { IDataObject } from 'n8n-workflow';
import pLimit from 'p-limit';
import { readWholeList } from '../../core/service/paging';
import { READS_AT_ONCE } from '../../core/service/limits';
import { forEachItem, withInputIfFailed } from '../../host/run/itemLoop';
import type { Operation } from '../../host/run/operations';
import {
	additionalQueryParameters,
	concurrencyField,
	developerSettings,
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
		developerSettings(
			additionalQueryParameters,
			concurrencyField(READS_AT_ONCE, 'How many requests to send at the same time'),
		),
	],
	isReadOnly: true,
	toolDescription:
		'Checks which phone numbers in the input are on the do-not-disturb list of an AI agent. Calls nobody and changes nothing.',

	async execute(run) {
		const { context, caller, parameters, account } = run;
		const rows = caller.inputRows();
		const limiter = pLimit(readConcurrency(parameters, READS_AT_ONCE));
		const read = (index: number) => readNumber(parameters.at(index));
		const numbersOf = memoize(async (request: DndListRequest) => {
			const list = dndList(await account(), { ...request, limit: Infinity, limiter });
			const { entries } = await readWholeList(list);
			return new ListedNumbers(entries);
		}, JSON.stringify);
		const check = async (index: number) => {
			const { phone, ...request } = read(index);
			const entry = (await numbersOf(request)).entryOf(phone);
			const { json, binary } = rows[index] ?? {};
			return [{ json: checked(json, entry), ...(binary && { binary }) }];
		};
		// Rows wait for the list, not for each other, so that all rows that can't be compared are reported together.
		const concurrency = Math.max(1, rows.length);
		const checkedRows = await forEachItem(run, check, { concurrency, check: read });
		const inputOf = (index: number) => ({ ...rows[index]?.json, ...UNKNOWN });
		return checkedRows.map((row) => withInputIfFailed(context, row, inputOf));
	},
};

/** The added columns of a row that couldn't be checked. Null would pass a filter for false. */
const UNKNOWN = { on_dnd: true, dnd_phone: null, dnd_reason: null, dnd_created_at: null };

function checked(row: IDataObject | undefined, entry: JsonObject | undefined): IDataObject {
	return {
		...row,
		on_dnd: entry !== undefined,
		dnd_phone: entry?.phone ?? null,
		dnd_reason: entry?.reason ?? null,
		dnd_created_at: entry?.created_at ?? null,
	};
}
