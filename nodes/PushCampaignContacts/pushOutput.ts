import omit from 'lodash/omit';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { JsonObject, JsonValue } from '../shared/json';
import type { InputRows } from './inputRows';
import type { PhonesByRow } from './push/phones';
import {
	PUSH_STATUS_COLUMN,
	LAST_SOURCE_ROW_COLUMN,
	LIST_COLUMN,
	PHONE_KEY_COLUMN,
	PHONE_SENT_COLUMN,
	PHONE_TO_SEND_COLUMN,
	REASON_COLUMN,
	SOURCE_ROW_COLUMN,
	STATUS_COLUMN,
	type PushOutcome,
} from './push/pushTypes';
import type { RejectedRange, RejectedRows } from './push/rejectedRows';
import type { OutputLimit } from './push/rows';
import { RowSet } from './push/rowSet';
import { countRows, dryRunSummary, pushSummary, summarize } from './push/summary';
import type { Output } from './pushSettings';

/** A push that has ended, with what its output needs. */
export type FinishedPush = {
	outcome: PushOutcome;
	rows: InputRows;
	phones: PhonesByRow;
};

/** The items of the *Pushed* output. */
export async function pushedOutput(
	push: FinishedPush,
	output: Output,
): Promise<INodeExecutionData[]> {
	const { outcome, rows } = push;
	const { ready } = outcome;
	if (output === 'rows') {
		return await (ready === undefined ? pushedRows(push) : readyRows(push, ready));
	}
	if (ready !== undefined) {
		return [{ json: dryRunSummary(outcome), pairedItem: pairedItems(rows, ready) }];
	}
	return output === 'summary' ? [summaryItem(push)] : pushedItems(push);
}

/** The rows that a dry run accepts, with their numbers as a push would send them. */
async function readyRows(
	{ rows, phones }: FinishedPush,
	ready: RowSet,
): Promise<INodeExecutionData[]> {
	return await itemsOf(rows, [...ready], (index) => ({
		...rowColumns('ready', phones, index),
		[PHONE_TO_SEND_COLUMN]: phones.at(index),
	}));
}

/** The rows that can be called. */
async function pushedRows({ outcome, rows, phones }: FinishedPush): Promise<INodeExecutionData[]> {
	const lists = new Map<number, JsonValue>();
	for (const { rows: pushed, response } of outcome.pushed) {
		for (const index of pushed) lists.set(index, response.campaign_upload_id ?? null);
	}
	const inOrder = [...RowSet.union(outcome.pushed.map((request) => request.rows))];
	return await itemsOf(rows, inOrder, (index, row) => {
		const columns: IDataObject = rowColumns('pushed', phones, index, lists.get(index));
		// An earlier push may have rejected the row and added these columns.
		for (const column of [STATUS_COLUMN, REASON_COLUMN]) if (column in row) columns[column] = null;
		return columns;
	});
}

/** The added columns that come first. The table view cuts off the last columns. */
const LEADING_COLUMNS = [STATUS_COLUMN, REASON_COLUMN, PUSH_STATUS_COLUMN] as const;

/** Input rows with added columns: first what happened to the row, then its cells, then the other added columns. */
async function itemsOf(
	rows: InputRows,
	indexes: readonly number[],
	columnsOf: (index: number, row: IDataObject, position: number) => IDataObject,
	withoutCells?: RowSet,
): Promise<INodeExecutionData[]> {
	const found = await rows.output(indexes, withoutCells);
	return indexes.map((index, position) => {
		const row = found[position] ?? {};
		const columns = columnsOf(index, row, position);
		const leading: IDataObject = {};
		for (const name of LEADING_COLUMNS) if (name in columns) leading[name] = columns[name];
		return {
			// Added columns replace columns of the same name in the row.
			json: { ...leading, ...row, ...columns },
			pairedItem: { item: rows.inputOf(index) },
		};
	});
}

/** The numbers of rows with these statuses were not sent. */
const NEVER_SENT = new Set<string>(['duplicate', 'pushed_before', 'not_sent', 'ready']);

/** The same columns for each row, so that they fit a sheet. */
function rowColumns(
	status: string,
	phones: PhonesByRow,
	index: number,
	list: JsonValue = null,
): JsonObject {
	const phone = phones.at(index);
	return {
		[PUSH_STATUS_COLUMN]: status,
		[PHONE_SENT_COLUMN]: phone === '' || NEVER_SENT.has(status) ? null : phone,
		[PHONE_KEY_COLUMN]: phones.keys.at(index) || null,
		[LIST_COLUMN]: list,
	};
}

/** One item for each accepted request: the summary and totals of the push, then the response. */
export function pushedItems({ outcome, rows }: FinishedPush): INodeExecutionData[] {
	const [summary, totals] = [pushSummary(outcome), countRows(outcome)];
	return outcome.pushed.map((request) => ({
		json: { summary, totals, ...omit(request.response, 'summary', 'totals') },
		pairedItem: pairedItems(rows, request.rows),
	}));
}

function summaryItem({ outcome, rows }: FinishedPush): INodeExecutionData {
	const pushed = RowSet.union(outcome.pushed.map((request) => request.rows));
	return { json: summarize(outcome), pairedItem: pairedItems(rows, pushed) };
}

/**
 * Duplicates that *Rejected* lists with their cells. With more of them, a file with a million rows could fill n8n's
 * memory, so they are listed without cells.
 */
export const MAX_DUPLICATES_WITH_CELLS = 100_000;

/** The rows for which nobody is called, with the reason. */
export async function rejectedItems(
	{ outcome, rows, phones }: FinishedPush,
	output: Output,
): Promise<INodeExecutionData[]> {
	const { outputLimit } = rows.source;
	if (outputLimit !== undefined && outcome.rejectedRows.size > outputLimit.maxRows) {
		return await rangeItems(rows, outcome.rejectedRows, outputLimit);
	}
	const rejectedRows = [...outcome.rejectedRows];
	const indexes = rejectedRows.map(({ index }) => index);
	const duplicates = outcome.rejectedRows.rowsWith('duplicate');
	const isCompact = output !== 'rows' && duplicates.size > MAX_DUPLICATES_WITH_CELLS;
	const withoutCells = isCompact ? duplicates : undefined;
	return await itemsOf(
		rows,
		indexes,
		(index, _row, position) => {
			const { status = '', reason = '' } = rejectedRows[position] ?? {};
			return {
				[STATUS_COLUMN]: status,
				[REASON_COLUMN]: reason,
				...(output === 'rows' && rowColumns(status, phones, index)),
			};
		},
		withoutCells,
	);
}

/** One item for consecutive rows with the same reason, because n8n couldn't store an item for each of them. */
async function rangeItems(
	rows: InputRows,
	rejectedRows: RejectedRows,
	{ byFile }: OutputLimit,
): Promise<INodeExecutionData[]> {
	const ranges = joinedRanges(rejectedRows).flatMap(({ first, last, cause }) =>
		byFile(RowSet.ofRanges([first, last]))
			.flatMap((part) => [...part.ranges()])
			.map(([from, to]) => ({ first: from, last: to, cause })),
	);
	const [firsts, lasts] = [ranges.map(({ first }) => first), ranges.map(({ last }) => last)];
	const last = await rows.output(lasts, RowSet.of(lasts));
	return await itemsOf(
		rows,
		firsts,
		(_index, row, position) => {
			const { status = '', reason = '' } = ranges[position]?.cause ?? {};
			const lastRow = last[position]?.[SOURCE_ROW_COLUMN] ?? null;
			return {
				[STATUS_COLUMN]: status,
				[REASON_COLUMN]: reason,
				...row,
				[LAST_SOURCE_ROW_COLUMN]: lastRow,
			};
		},
		RowSet.of(firsts),
	);
}

/** Several requests can fail for the same reason. */
function joinedRanges(rejectedRows: RejectedRows): RejectedRange[] {
	const joined: RejectedRange[] = [];
	for (const range of rejectedRows.ranges()) {
		const before = joined.at(-1);
		if (before?.last === range.first - 1 && isSame(before.cause, range.cause)) {
			before.last = range.last;
		} else joined.push({ ...range });
	}
	return joined;
}

function isSame(one: RejectedRange['cause'], other: RejectedRange['cause']): boolean {
	return one.status === other.status && one.reason === other.reason;
}

/** The input items of a request's rows. */
function pairedItems(input: InputRows, rows: RowSet): Array<{ item: number }> {
	return input.inputsOf(rows).map((item) => ({ item }));
}
