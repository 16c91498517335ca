import difference from 'lodash/difference';
import upperFirst from 'lodash/upperFirst';
import type { Explanation } from '../../core/service/resolution';
import { otherCountryBeside } from '../../core/phone/countryBeside';
import { INDIA } from '../../core/phone/india';
import {
	isAccepted,
	isCampaignPhone,
	readCampaignPhone,
	type PhoneReading,
} from '../../core/phone/campaignPhone';
import { isBlank } from '../../core/phone/written';
import { forEachWithPauses } from '../../core/values/pauses';
import { hasNoValue, nameIn } from '../../core/values/sheetCells';
import { asText, counted, named, plainText, quoted } from '../../core/values/values';
import { ADDED_COLUMNS, cellOf, type Columns } from './columns';
import { forEachVariable, personNameOf } from './contacts';
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
	/** Cells with what isn't sent, such as `#REF!`. */
	emptied: { count: number; examples: string[] };
};

const MAX_EXAMPLES = 3;

/** Of other numbers of the person, such as `additional_phones`. */
const OF_PHONES = /phone|mobile|mob|tel|cell|whatsapp|number|contact/i;
const NOT_INDIAN =
	', and this campaign calls Indian numbers. If the number is Indian, write it with +91.';

/** The statuses of an earlier push that leave a row out: its number may have been called because of that push. */
const LEFT_OUT = {
	unknown:
		"The status of a row with this number says that an earlier push may have added it to a campaign, so it wasn't pushed. Look for the number there. To push it, empty push_status of that row, and with 'Skip Numbers Pushed Before', use DND List > Forget, too.",
	sent_before:
		"The status of a row with this number says that it was sent before, or may have been, so it wasn't pushed. To push it, empty push_status of that row, and with 'Skip Numbers Pushed Before', use DND List > Forget, too.",
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
	const emptied: PreparedRows['emptied'] = { count: 0, examples: [] };
	const countEmptied = (cell: string) => {
		if (++emptied.count <= MAX_EXAMPLES) emptied.examples.push(cell);
	};
	const byEnd = Array.from({ length: 10 ** END_DIGITS }, () => new Map<string, Row>());
	const keptWith = ({ phone }: Row) => byEnd[Number(phone.slice(-END_DIGITS))];
	const nameLength = ({ json }: Row) => personNameOf(json, columns)?.length ?? 0;
	const read = (row: Row) => {
		const { json } = row;
		const name = personNameOf(json, columns);
		// A row of a file can be damaged.
		const reading =
			row.status === undefined ? readRow(json, columns, name) : { reason: row.reason };
		const before = statusBefore(json);
		if (isAccepted(reading)) {
			visitEmptied(json, columns, name, countEmptied);
			row.phone = reading.phone;
		} else row.settled = { status: 'rejected', reason: reading.reason };
		if (before !== undefined) row.settled = { status: before, reason: LEFT_OUT[before] };
		if (row.phone === '' || before === 'duplicate') return;
		const kept = keptWith(row);
		const number = subscriberOf(row);
		const other = kept?.get(number);
		// If both names are equally long, the earlier row is kept. One whose number may have been called replaces any.
		const isLonger =
			other?.status === undefined && nameLength(row) > (other ? nameLength(other) : -1);
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
	return { input, columns, rows, emptied };
}

function whyDuplicate(kept: Row, columns: Columns): string {
	const name = personNameOf(kept.json, columns);
	const which = name ? `${name} (${nameOf(kept)})` : upperFirst(nameOf(kept));
	return `${which} has the same number and was kept. The node pushes one row per phone number.`;
}

/** The hint if cells have what isn't sent. Undefined if none has. */
export function whyEmptied({
	emptied: { count, examples },
}: PreparedRows): Explanation | undefined {
	if (count === 0) return undefined;
	const have = count === 1 ? 'has' : 'have';
	return {
		message: `${counted(count, 'cell')} ${have} a word that stands for no value, a placeholder, or single quotes, such as ${named(examples, quoted)}`,
		resolution:
			'Names were sent without these, and other cells empty. Correct the formulas or the export.',
	};
}

/** @param personName undefined if its cell isn't text */
function readRow(row: ContactRow, columns: Columns, personName: string | undefined): PhoneReading {
	const cell = cellOf(row, columns.phone);
	const reading = readCampaignPhone(cell);
	const full = isBlank(cell) ? columnWithPhone(row) : undefined;
	const moveIt = full && ` The column ${quoted(full)} has a number. Move it to the phone column.`;
	if (!isAccepted(reading)) return { reason: reading.reason + (moveIt ?? '') };
	const other = otherCountryBeside(row, cell, INDIA);
	if (other !== undefined) return { reason: other + NOT_INDIAN };
	if (personName !== undefined) return reading;
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

/** Visits the cells with a word, placeholder, or quotes that aren't sent. */
function visitEmptied(
	row: ContactRow,
	columns: Columns,
	personName: string | undefined,
	visit: (cell: string) => void,
): void {
	const cell = columns.personName && cellOf(row, columns.personName);
	// Most cells are the whole name, which is faster to see.
	if (typeof cell === 'string' && cell !== personName && nameIn(cell) !== cell.trim())
		visit(cell.trim());
	forEachVariable(row, columns, (_name, value) => {
		if (typeof value === 'string' && hasNoValue(value)) visit(value.trim());
	});
}
