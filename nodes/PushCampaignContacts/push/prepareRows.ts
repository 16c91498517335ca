import upperFirst from 'lodash/upperFirst';
import { otherCountryBeside } from '../../core/phone/countryBeside';
import { INDIA, isAccepted, readCampaignPhone, type PhoneReading } from '../../core/phone/india';
import { forEachWithPauses } from '../../core/values/pauses';
import { plainText, quoted } from '../../core/values/values';
import { cellOf, type Columns, personNameOf } from './columns';
import {
	type ContactRow,
	nameOf,
	type PushInput,
	type Row,
	ROWS_PER_LOOK,
	subscriberOf,
} from './rows';

export type PreparedRows = {
	/** All rows. */
	input: PushInput;
	columns: Columns;
	/** The rows to send. */
	rows: readonly Row[];
};

const NOT_INDIAN =
	', and this campaign calls Indian numbers. If the number is Indian, write it with +91.';

const LEFT_OUT =
	"A row with this number has a push_status of an earlier push that sent it, or may have, so it wasn't pushed. To push it, empty push_status of that row, and use DND List > Forget, too.";

/** The last digits of a number. Small maps, because one of a million numbers halts n8n while it grows. */
const END_DIGITS = 2;

/**
 * Checks every row before any is sent. Rejects unusable rows, and leaves out those that an earlier push did. Of rows with the
 * same number, keeps the one with the longest name, as the service does (Campaigns, rule 2).
 */
export async function prepareRows(input: PushInput, columns: Columns): Promise<PreparedRows> {
	const byEnd = Array.from({ length: 10 ** END_DIGITS }, () => new Map<string, Row>());
	const keptWith = ({ phone }: Row) => byEnd[Number(phone.slice(-END_DIGITS))];
	const nameLength = (json: ContactRow) => personNameOf(json, columns)?.length ?? 0;
	const read = (row: Row) => {
		const { json } = row;
		// A row of a file can be damaged.
		const reading = row.status === undefined ? readRow(json, columns) : { reason: row.reason };
		const before = statusBefore(json);
		if (isAccepted(reading)) row.phone = reading.phone;
		else row.settled = { status: 'rejected', reason: reading.reason };
		if (before !== undefined) row.settled = { status: before, reason: LEFT_OUT };
		if (row.phone === '') return;
		const kept = keptWith(row);
		const number = subscriberOf(row);
		const other = kept?.get(number);
		// If both names are equally long, the earlier row is kept. One whose number may have been called replaces any.
		const isLonger =
			other?.status === undefined && nameLength(json) > (other ? nameLength(other.json) : -1);
		if (before !== undefined || isLonger) kept?.set(number, row);
	};
	await forEachWithPauses(input.rows, read, ROWS_PER_LOOK);
	let leftOut = 0;
	const leaveOut = (row: Row) => {
		const kept = row.status === undefined ? keptWith(row)?.get(subscriberOf(row)) : undefined;
		if (kept !== undefined && kept !== row)
			row.settled = kept.settled ?? { status: 'duplicate', reason: whyDuplicate(kept, columns) };
		if (row.status !== undefined) leftOut++;
	};
	await forEachWithPauses(input.rows, leaveOut, ROWS_PER_LOOK);
	// Not copied without need, because a push can have a million rows.
	const rows = leftOut === 0 ? input.rows : input.rows.filter(({ status }) => status === undefined);
	return { input, columns, rows };
}

function whyDuplicate(kept: Row, columns: Columns): string {
	const name = personNameOf(kept.json, columns);
	const which = name ? `${name} (${nameOf(kept)})` : upperFirst(nameOf(kept));
	return `${which} has the same number and was kept. The node pushes one row per phone number.`;
}

function readRow(row: ContactRow, columns: Columns): PhoneReading {
	const cell = cellOf(row, columns.phone);
	const reading = readCampaignPhone(cell);
	if (!isAccepted(reading)) return reading;
	const other = otherCountryBeside(row, cell, INDIA);
	if (other !== undefined) return { reason: other + NOT_INDIAN };
	if (personNameOf(row, columns) !== undefined) return reading;
	const name = quoted(columns.personName);
	return { reason: `The name in column ${name} isn't text. Enter the name as plain text.` };
}

/** The status of an earlier push that leaves a row out of the next one. Undefined if it has none. */
export function statusBefore({ push_status: status }: ContactRow) {
	// Most rows have none, which is faster to see.
	if (status === undefined) return undefined;
	const text = plainText(status).trim().toLowerCase();
	return (['unknown', 'sent_before'] as const).find((one) => one === text);
}
