/** Columns that the *Rejected* output adds. */
export const REASON_COLUMN = 'rejection_reason';
export const STATUS_COLUMN = 'rejection_status';

/** Columns that *One Item per Row* adds. */
export const PUSH_STATUS_COLUMN = 'push_status';
export const PHONE_SENT_COLUMN = 'phone_sent';
/** Added in a dry run. */
export const PHONE_TO_SEND_COLUMN = 'phone_to_send';
export const PHONE_KEY_COLUMN = 'phone_key';
export const LIST_COLUMN = 'campaign_upload_id';

/** Columns added to rows from files. */
export const SOURCE_FILE_COLUMN = 'source_file';
export const SOURCE_ROW_COLUMN = 'source_row';
/** Added if an item is about several consecutive rows. */
export const LAST_SOURCE_ROW_COLUMN = 'source_row_last';

/** Not sent if a row is pushed again. */
export const ADDED_COLUMNS = [
	REASON_COLUMN,
	STATUS_COLUMN,
	PUSH_STATUS_COLUMN,
	PHONE_SENT_COLUMN,
	PHONE_TO_SEND_COLUMN,
	PHONE_KEY_COLUMN,
	LIST_COLUMN,
	SOURCE_FILE_COLUMN,
	SOURCE_ROW_COLUMN,
	LAST_SOURCE_ROW_COLUMN,
] as const;
