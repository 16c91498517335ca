import get from 'lodash/get';
import has from 'lodash/has';

/** A value of a column, as n8n's items have it. */
export type Cell = string | number | boolean | object | null | undefined;

/** An input row. */
export type ContactRow = Readonly<Record<string, Cell>>;

/** A column, or a value nested in one: `properties.phone`. */
export type Column = {
	name: string;
	/** The path of a nested value. */
	path?: readonly string[];
};

/** Undefined if the row doesn't have the column. */
export function cellOf(row: ContactRow, { name, path }: Column): unknown {
	if (path === undefined) return Object.hasOwn(row, name) ? row[name] : undefined;
	return has(row, path) ? get(row, path) : undefined;
}

/** Columns that the *Rejected* output adds. */
export const REASON_COLUMN = 'rejection_reason';
export const STATUS_COLUMN = 'rejection_status';

/** Columns that *One Item per Row* adds. */
export const PUSH_STATUS_COLUMN = 'push_status';
export const PHONE_SENT_COLUMN = 'phone_sent';
/** Added with *Check Only*. */
export const PHONE_TO_SEND_COLUMN = 'phone_to_send';
export const PHONE_KEY_COLUMN = 'phone_key';
export const LIST_COLUMN = 'campaign_upload_id';
/** What the service says about the request of the row, such as that the campaign is paused. */
export const WARNINGS_COLUMN = 'push_warnings';

/** Columns added to rows of a file. */
export const SOURCE_FILE_COLUMN = 'source_file';
export const SOURCE_ROW_COLUMN = 'source_row';

/** Not sent if a row is pushed again. */
export const ADDED_COLUMNS = [
	REASON_COLUMN,
	STATUS_COLUMN,
	PUSH_STATUS_COLUMN,
	PHONE_SENT_COLUMN,
	PHONE_TO_SEND_COLUMN,
	PHONE_KEY_COLUMN,
	LIST_COLUMN,
	WARNINGS_COLUMN,
	SOURCE_FILE_COLUMN,
	SOURCE_ROW_COLUMN,
] as const;
