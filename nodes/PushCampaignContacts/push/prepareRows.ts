import difference from 'lodash/difference';
import upperFirst from 'lodash/upperFirst';
import { otherCountryBeside } from '../../core/phone/countryBeside';
import {
	INDIA,
	isAccepted,
	isCampaignPhone,
	readCampaignPhone,
	type PhoneReading,
} from '../../core/phone/india';
import { isBlank } from '../../core/phone/written';
import { forEachWithPauses } from '../../core/values/pauses';
import { asText, plainText, quoted } from '../../core/values/values';
import { ADDED_COLUMNS, cellOf, type Columns } from './columns';
import { personNameOf } from './contacts';
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

/** Of other numbers of the person, such as `additional_phones`. */
const OF_PHONES = /phone|mobile|mob|tel|cell|whatsapp|number|contact/i;
const NOT_INDIAN =
	', and this campaign calls Indian numbers. If the number is Indian, write it with +91.';

/** The statuses of an earlier push that leave a row out: its number may have been called because of that push. */
const LEFT_OUT = {
	unknown:
		"The status of a row with this number says that an earlier push may have added it to a campaign, so it wasn't pushed. Look for the number there. To push it, empty push_status of that row, and use DND List > Forget, too.",
	sent_before:
		"The status of a row with this number says that it was sent before, or may have been, so it wasn't pushed. To push it, empty push_status of that row, and use DND List > Forget, too.",
	duplicate:
		"The status of this row says that it was left out before as a duplicate, so it wasn't pushed. To push it, empty its push_status.",
};

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
		if (before !== undefined) row.settled = { status: before, reason: LEFT_OUT[before] };
		if (row.phone === '' || before === 'duplicate') return;
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
	const full = isBlank(cell) ? columnWithPhone(row) : undefined;
	const moveIt = full && ` The column ${quoted(full)} has a number. Move it to the phone column.`;
	if (!isAccepted(reading)) return { reason: reading.reason + (moveIt ?? '') };
	const other = otherCountryBeside(row, cell, INDIA);
	if (other !== undefined) return { reason: other + NOT_INDIAN };
	if (personNameOf(row, columns) !== undefined) return reading;
	const name = quoted(columns.personName?.name ?? '');
	return { reason: `The name in column ${name} isn't text. Enter the name as plain text.` };
}

function columnWithPhone(row: ContactRow): string | undefined {
	const names = difference(Object.keys(row), ADDED_COLUMNS).filter((name) => OF_PHONES.test(name));
	return names.find((name) =>
		asText(row[name])
			.split(/[,;|/\n]/)
			.some(isCampaignPhone),
	);
}

/** The status of an earlier push that leaves a row out of the next one. Undefined if it has none. */
export function statusBefore({ push_status: status }: ContactRow) {
	// Most rows have none, which is faster to see.
	if (status === undefined) return undefined;
	const text = plainText(status).trim().toLowerCase();
	return (['unknown', 'sent_before', 'duplicate'] as const).find((one) => one === text);
}
