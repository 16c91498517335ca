import upperFirst from 'lodash/upperFirst';
import { whyNoConsent } from '../../core/calls/consent';
import { InvalidInput } from '../../core/service/errors';
import { type Explanation, onScreenOnly } from '../../core/service/resolution';
import { isAccepted, readCampaignPhone, type PhoneReading } from '../../core/phone/campaignPhone';
import { Pauses } from '../../core/values/pauses';
import { hasNoValue, nameIn } from '../../core/values/sheetCells';
import { counted, named, plainText, quoted } from '../../core/values/values';
import {
	cellOf,
	type ContactRow,
	PHONE_KEY_COLUMN,
	PUSH_STATUS_COLUMN,
	STATUS_COLUMN,
} from './cells';
import type { Columns } from './columns';
import { type ColumnsOf, forEachVariable, nameCell, personNameOf } from './contacts';
import { nameOf, phoneKeyOf, type PushInput, type Row, ROWS_PER_LOOK, settle } from './rows';

export type PreparedRows = {
	/** All rows. */
	input: PushInput;
	columnsOf: ColumnsOf;
	/** The rows to send. */
	rows: Row[];
	/** The phone keys of rows that say that an earlier push of them has an unknown outcome. */
	markedUnknown: ReadonlySet<string>;
	/** Whether any row has a name. */
	hasNames: boolean;
	/** Cells with a word instead of a value, such as `#REF!`. It isn't sent. */
	emptied: { count: number; examples: string[] };
	withoutConsent: number;
};

const MAX_EXAMPLES = 3;
/** Begins the reason of these rows, as Place Call names it. */
const NO_CONSENT = 'no_consent: ';

/** Of rows that an earlier push or check left out. Another row with the number, or the service, may have had it called. */
const DUPLICATE = ['duplicate', 'skipped_duplicate'];
const UNKNOWN = ['unknown', 'unknown_before'];
export const DUPLICATE_BEFORE =
	"The status of this row says that it was left out before as a duplicate, so it wasn't pushed. To push it, empty its push_status and rejection_status.";

/**
 * Checks every row before any is sent. Rejects unusable rows. Of rows with the same number, keeps the one with the longest
 * name, as the service does (Campaigns, rule 2), and none that an earlier push left out as a duplicate.
 *
 * @param skipsPushedBefore whether n8n knows better than `unknown_before` which numbers were pushed
 */
export async function prepareRows(
	input: PushInput,
	columnsOf: ColumnsOf,
	skipsPushedBefore: boolean,
): Promise<PreparedRows> {
	const unknown = skipsPushedBefore ? ['unknown'] : UNKNOWN;
	// By their phone keys, which take less memory as numbers.
	const keptRows = new Map<number, Row>();
	const emptied: PreparedRows['emptied'] = { count: 0, examples: [] };
	const countEmptied = (cell: string) => {
		if (++emptied.count <= MAX_EXAMPLES) emptied.examples.push(cell);
	};
	const markedUnknown = new Set<string>();
	const duplicates: Row[] = [];
	let hasNames = false;
	let unusable = 0;
	let withoutConsent = 0;
	let example = '';

	const pauses = new Pauses(ROWS_PER_LOOK);
	for (const row of input.rows) {
		if (pauses.isDue()) await pauses.take();
		const { json, table } = row;
		const columns = columnsOf(table);
		const name = personNameOf(json, columns);
		hasNames ||= Boolean(name);
		const reading =
			row.status === undefined ? readRow(json, columns, name) : { reason: row.reason };
		const before = statusesBefore(json);
		const isUnknown = before.some((status) => unknown.includes(status));
		const isDuplicate = before.some((status) => DUPLICATE.includes(status));
		if (isAccepted(reading)) {
			visitEmptied(json, columns, countEmptied);
			const key = reading.phoneKey;
			const number = Number(key);
			if (isUnknown) markedUnknown.add(key);
			row.phone = reading.phone;
			const kept = keptRows.get(number);
			const isLeftOut = isDuplicate && !hasOtherKey(json, key);
			if (isLeftOut) example ||= DUPLICATE_BEFORE;
			// If both names are equally long, the earlier row is kept.
			const isKept =
				!isLeftOut && (kept === undefined || lengthOf(name) > lengthOf(nameInRow(kept, columnsOf)));
			if (isKept) keptRows.set(number, row);
			const other = isKept ? kept : row;
			if (other !== undefined) {
				settle(other, 'duplicate', DUPLICATE_BEFORE);
				duplicates.push(other);
			}
		} else {
			// So that the row isn't pushed as soon as it's corrected.
			const status = isUnknown ? 'unknown' : isDuplicate ? 'duplicate' : 'rejected';
			settle(row, status, reading.reason);
			unusable++;
			if (status === 'rejected' && reading.reason.startsWith(NO_CONSENT)) withoutConsent++;
			example ||= reading.reason;
		}
		if (unusable + duplicates.length > input.maxOutputRows) {
			throw tooManyUnusable(input.maxOutputRows, example);
		}
	}
	for (const row of duplicates) {
		const kept = keptRows.get(Number(phoneKeyOf(row)));
		// Then it keeps the status of the earlier push.
		if (kept === undefined) continue;
		const name = nameInRow(kept, columnsOf);
		const which = name ? `${name} (${nameOf(kept)})` : upperFirst(nameOf(kept));
		const reason = `${which} has the same number and was kept. The node pushes one row per phone number.`;
		settle(row, 'duplicate', reason);
	}
	const rows = input.rows.filter(({ status }) => status === undefined);
	return { input, columnsOf, rows, markedUnknown, hasNames, emptied, withoutConsent };
}

/** The hint if cells have a word instead of a value. Undefined if none has. */
export function whyEmptied({
	emptied: { count, examples },
}: PreparedRows): Explanation | undefined {
	if (count === 0) return undefined;
	const have = count === 1 ? 'has' : 'have';
	return {
		message: `${counted(count, 'cell')} ${have} a word that stands for no value, such as ${named(examples, quoted)}`,
		resolution: onScreenOnly("Such words weren't sent. Correct the formulas or the export."),
	};
}

/** The hint if rows were rejected for it. */
export function whyRejected({ withoutConsent: count }: PreparedRows): Explanation | undefined {
	if (count === 0) return undefined;
	const message = `${count.toLocaleString('en-US')} of the rejected rows ${count === 1 ? 'has' : 'have'} no consent`;
	return { message, resolution: onScreenOnly("'Rejected' shows why.") };
}

/** Before anything is sent, because n8n could run out of memory when the push has ended. */
function tooManyUnusable(max: number, example: string): InvalidInput {
	const first = example === '' ? '' : ` The first reason: ${example}`;
	return new InvalidInput(
		`More than ${max.toLocaleString('en-US')} rows can't be pushed or are duplicates, and the 'Rejected' output can't contain that many. Nothing was sent`,
		onScreenOnly(`Remove these rows from the file, or push fewer rows at a time.${first}`),
	);
}

/** @param personName undefined if its cell isn't text */
function readRow(row: ContactRow, columns: Columns, personName: string | undefined): PhoneReading {
	const reading = readCampaignPhone(cellOf(row, columns.phone));
	if (!isAccepted(reading)) return reading;
	const { consent } = columns;
	const noConsent = consent && whyNoConsent(cellOf(row, consent.in), consent);
	if (noConsent !== undefined) return { reason: NO_CONSENT + noConsent };
	if (personName !== undefined) return reading;
	const isFirst = nameCell(row, columns.personName) === undefined;
	const column = isFirst ? columns.personName : columns.lastName;
	const name = quoted(column?.name ?? '');
	return { reason: `The name in column ${name} isn't text. Enter the name as plain text.` };
}

/** With which statuses an earlier push of the row, by this node or another one, returned it. */
function statusesBefore(row: ContactRow): string[] {
	return [PUSH_STATUS_COLUMN, STATUS_COLUMN].map((name) =>
		plainText(cellOf(row, { name })).trim().toLowerCase(),
	);
}

/** The status of an earlier push that leaves a row out of the next one. Undefined if it has none. */
export function statusToKeep(row: ContactRow): string | undefined {
	return statusesBefore(row).find((status) => [...DUPLICATE, ...UNKNOWN].includes(status));
}

/** Whether the number of the row was corrected since an earlier push, which wrote the key of the old one into it. */
function hasOtherKey(row: ContactRow, key: string): boolean {
	const before = readCampaignPhone(cellOf(row, { name: PHONE_KEY_COLUMN }));
	return isAccepted(before) && before.phoneKey !== key;
}

/** Visits the cells with a word instead of a value, which isn't sent. */
function visitEmptied(row: ContactRow, columns: Columns, visit: (cell: string) => void): void {
	for (const column of [columns.personName, columns.lastName]) {
		const cell = column && cellOf(row, column);
		if (typeof cell === 'string' && nameIn(cell) !== cell.trim()) visit(cell.trim());
	}
	forEachVariable(row, columns, (_name, cell) => {
		if (typeof cell === 'string' && hasNoValue(cell)) visit(cell.trim());
	});
}

function lengthOf(name = ''): number {
	return name.length;
}

function nameInRow({ json, table }: Row, columnsOf: ColumnsOf): string | undefined {
	return personNameOf(json, columnsOf(table));
}
