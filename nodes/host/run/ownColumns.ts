import mapValues from 'lodash/mapValues';
import pick from 'lodash/pick';
import type { IDataObject } from 'n8n-workflow';
import { ERROR_FIELDS } from '../../core/service/errors';
import { rowNumberIn } from '../../core/values/sheetCells';
import { isUnset } from '../../core/values/values';

/**
 * The fields that a row has of an item that failed earlier. Without `details` or an own column of the node, they're the user's.
 * In a sheet, rows that never failed have these columns, too, and perhaps a message of the user.
 */
export function earlierError(row: IDataObject, ...ownColumns: string[]): string[] {
	const isOfNode = ['details', ...ownColumns].some((name) => name in row);
	return isOfNode && !isUnset(row.error) ? ERROR_FIELDS.filter((name) => name in row) : [];
}

/** These columns of a row without their values, which are of an earlier execution. */
export function emptied(row: IDataObject, columns: readonly string[]): IDataObject {
	return mapValues(pick(row, columns), (_value, column) => emptyCell(row, column));
}

/** As the service and databases write it. */
const DATE = /^\d{4}-\d{2}-\d{2}/;

/**
 * What empties a cell. Sheets keep one that gets null. A database rejects an empty text in a column of another type. Only Google
 * Sheets adds a row number.
 */
export function emptyCell(row: IDataObject, column: string): '' | null {
	const { [column]: value } = row;
	const isText = typeof value === 'string' && !DATE.test(value);
	return isText || rowNumberIn(row) !== undefined ? '' : null;
}
