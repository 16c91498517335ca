import difference from 'lodash/difference';
import upperFirst from 'lodash/upperFirst';
import { InvalidInput } from '../../core/service/errors';
import { type Explanation, onScreenOnly } from '../../core/service/resolution';
import { otherCountryBeside } from '../../core/phone/countryBeside';
import { INDIA } from '../../core/phone/india';
import {
	isAccepted,
	isCampaignPhone,
	readCampaignPhone,
	type PhoneReading,
} from '../../core/phone/campaignPhone';
import { isBlank } from '../../core/phone/written';
import { forEachWithPauses, Pauses } from '../../core/values/pauses';
import { hasNoValue, nameIn } from '../../core/values/sheetCells';
import { asText, counted, named, plainText, quoted } from '../../core/values/values';
import {
	ADDED_COLUMNS,
	cellOf,
	type ContactRow,
	PHONE_KEY_COLUMN,
	PUSH_STATUS_COLUMN,
	STATUS_COLUMN,
} from './cells';
import type { Columns } from './columns';
import { forEachVariable, personNameOf } from './contacts';
import {
	nameOf,
	phoneKeyOf,
	type PushInput,
	type Row,
	ROWS_PER_LOOK,
	settle,
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

/** Of rows that an earlier push or check left out. Another row with the number, or the service, may have had it called. */
const DUPLICATE = ['duplicate', 'skipped_duplicate'];
/** Of rows whose number may be in the campaign. */
const MAYBE_SENT = ['unknown', 'sent_before'] as const;
type MaybeSent = (typeof MAYBE_SENT)[number];
const MARKED: Record<MaybeSent, string> = {
	unknown:
		"The status of a row with this number says that an earlier push may have added it to a campaign, so it wasn't pushed. Look for the number there. To push it, empty push_status and rejection_status of that row, and with 'Skip Numbers Pushed Before', use DND List > Forget, too.",
	sent_before:
		"The status of a row with this number says that it was sent before, or may have been, so it wasn't pushed. To push it, empty push_status and rejection_status of that row, and with 'Skip Numbers Pushed Before', use DND List > Forget, too.",
};
export const DUPLICATE_BEFORE =
	"The status of this row says that it was left out before as a duplicate, so it wasn't pushed. To push it, empty its push_status and rejection_status.";

/**
 * Checks every row before any is sent. Rejects unusable rows. Of rows with the same number, keeps the one with the longest
 * name, as the service does (Campaigns, rule 2), and none that an earlier push left out as a duplicate.
 */
export async function prepareRows(input: PushInput, columns: Columns): Promise<PreparedRows> {
	const emptied: PreparedRows['emptied'] = { count: 0, examples: [] };
	const countEmptied = (cell: string) => {
		if (++emptied.count <= MAX_EXAMPLES) emptied.examples.push(cell);
	};
	const usable: UsableRows = { byEnd: new Map(), leftOut: new Set() };
	const marked = new Map<string, MaybeSent>();
	let unusable = 0;
	let example = '';
	const requireFits = (duplicates: number) => {
		if (unusable + duplicates > input.maxOutputRows)
			throw tooManyUnusable(input.maxOutputRows, example);
	};

	const read = (row: Row) => {
		const { json } = row;
		const name = personNameOf(json, columns);
		const reading =
			row.status === undefined ? readRow(json, columns, name) : { reason: row.reason };
		const before = statusesBefore(json);
		const maybeSent = MAYBE_SENT.find((status) => before.includes(status));
		const isDuplicate = before.some((status) => DUPLICATE.includes(status));
		if (isAccepted(reading)) {
			visitEmptied(json, columns, name, countEmptied);
			row.phone = reading.phone;
			const isCorrected = before.length > 0 && hasOtherKey(json, reading.phoneKey);
			const isMarked = maybeSent === 'unknown' || (maybeSent !== undefined && !isCorrected);
			if (isMarked && marked.get(reading.phoneKey) !== 'unknown')
				marked.set(reading.phoneKey, maybeSent);
			const isLeftOut = isDuplicate && !isCorrected;
			addUsable(usable, row, isLeftOut);
			if (isLeftOut) example ||= DUPLICATE_BEFORE;
			return;
		}
		// So that the row isn't pushed as soon as it's corrected.
		const status = maybeSent ?? (isDuplicate ? 'duplicate' : 'rejected');
		settle(row, status, reading.reason);
		unusable++;
		example ||= reading.reason;
		requireFits(0);
	};
	await forEachWithPauses(input.rows, read, ROWS_PER_LOOK);
	const duplicates = await settleDuplicates(usable, columns, requireFits);
	if (marked.size > 0) await forEachWithPauses(input.rows, (row) => settleMarked(row, marked));
	const all = input.rows;
	// Not copied without need, because a push can have a million rows.
	const areAll = unusable + duplicates + marked.size === 0;
	const rows = areAll ? all : all.filter(({ status }) => status === undefined);
	return { input, columns, rows, emptied };
}

/** A number that may be in the campaign isn't pushed in any row. */
function settleMarked(row: Row, marked: ReadonlyMap<string, MaybeSent>): void {
	if (row.status !== undefined) return;
	const status = marked.get(phoneKeyOf(row));
	if (status !== undefined) settle(row, status, MARKED[status]);
}

/** Rows with a number. */
type UsableRows = {
	/**
	 * By the last digits of their numbers, so that duplicates are together. A map of the numbers of a million rows would take
	 * much memory, and halt n8n while it grows.
	 */
	byEnd: Map<string, Row[]>;
	/** Those that an earlier push left out as duplicates. */
	leftOut: Set<Row>;
};

const END_DIGITS = 2;

function addUsable({ byEnd, leftOut }: UsableRows, row: Row, isLeftOut: boolean): void {
	const end = row.phone.slice(-END_DIGITS);
	const known = byEnd.get(end);
	if (known === undefined) byEnd.set(end, [row]);
	else known.push(row);
	if (isLeftOut) leftOut.add(row);
}

/**
 * @param requireFits throws if there are too many duplicates
 * @returns how many there are
 */
async function settleDuplicates(
	{ byEnd, leftOut }: UsableRows,
	columns: Columns,
	requireFits: (duplicates: number) => void,
): Promise<number> {
	let count = 0;
	// A single group is too short for a pause.
	const pauses = new Pauses(ROWS_PER_LOOK);
	const nameIn = ({ json }: Row) => personNameOf(json, columns) ?? '';
	for (const rows of byEnd.values()) {
		const keptRows = new Map<string, Row>();
		const duplicates: Row[] = [];
		for (const row of rows) {
			if (pauses.isDue()) await pauses.take();
			const number = subscriberOf(row);
			const kept = keptRows.get(number);
			// If both names are equally long, the earlier row is kept.
			const isLonger = kept === undefined || nameIn(row).length > nameIn(kept).length;
			const isKept = isLonger && !leftOut.has(row);
			if (isKept) keptRows.set(number, row);
			const other = isKept ? kept : row;
			if (other === undefined) continue;
			duplicates.push(other);
			requireFits(++count);
		}
		for (const row of duplicates) {
			settle(row, 'duplicate', whyDuplicate(keptRows.get(subscriberOf(row)), nameIn));
		}
	}
	return count;
}

/** @param kept undefined if each row with the number was left out before */
function whyDuplicate(kept: Row | undefined, nameIn: (row: Row) => string): string {
	if (kept === undefined) return DUPLICATE_BEFORE;
	const name = nameIn(kept);
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
		resolution: onScreenOnly(
			'Names were sent without these, and other cells empty. Correct the formulas or the export.',
		),
	};
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

const STATUS_COLUMNS = [PUSH_STATUS_COLUMN, STATUS_COLUMN];

/** With which statuses an earlier push of the row, by this node or another one, returned it. */
function statusesBefore(row: ContactRow): string[] {
	// Most rows have none, which is faster to see.
	const columns = STATUS_COLUMNS.filter((name) => Object.hasOwn(row, name));
	return columns.map((name) => plainText(row[name]).trim().toLowerCase());
}

/** The status of an earlier push that leaves a row out of the next one. Undefined if it has none. */
export function statusToKeep(row: ContactRow): string | undefined {
	return statusesBefore(row).find((status) => [...DUPLICATE, ...MAYBE_SENT].includes(status));
}

/** Whether the number of the row was corrected since an earlier push, which wrote the key of the old one into it. */
function hasOtherKey(row: ContactRow, key: string): boolean {
	const before = readCampaignPhone(cellOf(row, { name: PHONE_KEY_COLUMN }));
	return isAccepted(before) && before.phoneKey !== key;
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
