import mapValues from 'lodash/mapValues';
import pick from 'lodash/pick';
import type { IDataObject } from 'n8n-workflow';
import { ERROR_FIELDS } from '../../core/service/errors';
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
	const empty = emptyCell(row);
	return mapValues(pick(row, columns), () => empty);
}

/**
 * What empties a cell. Google Sheets keeps one that gets null. A database rejects an empty text in a column of another type.
 * Only Google Sheets adds a row number.
 */
export function emptyCell({ row_number: rowNumber }: IDataObject): '' | null {
	return typeof rowNumber === 'number' ? '' : null;
}
