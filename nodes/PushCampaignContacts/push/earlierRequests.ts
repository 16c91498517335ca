import { OutcomeUnknown } from '../../shared/api/errors';
import { forEveryone, readerOf, type Reader } from '../../shared/api/resolution';
import { isAccepted, readCampaignPhone } from '../../shared/phone/campaignPhone';
import type { AttemptSettings } from './attemptSettings';
import { cellOf, type Column } from './cells';
import { rowsFingerprint, type SentRequest } from './checkpoint';
import { KeysByRow, PhonesByRow, type ByRow } from './phonesByRow';
import type { PreparedRows } from './prepareRows';
import { reasonOf, type PushOutcome } from './pushTypes';
import type { RowSource } from './rows';
import type { RowsOfSentPhones } from './rowsByPhone';
import { RowSet } from './rowSet';
import { pushedRequest } from './skippedRows';

/** Numbers by row: as sent, and their keys. */
type SentPhones = { phones: PhonesByRow; keys: KeysByRow };

/** A request of an earlier attempt with its rows and their numbers. */
export type EarlierRequest = { request: SentRequest; rows: RowSet; numbers: SentPhones };

/** The requests whose rows still have the same numbers. */
export async function findEarlierRequests(
	sent: readonly SentRequest[],
	source: RowSource,
): Promise<EarlierRequest[]> {
	const found: EarlierRequest[] = [];
	/** By the columns in which the numbers were read. */
	const numbersByColumns = new Map<string, SentPhones>();
	for (const request of sent) {
		const set = RowSet.ofRanges(request.rows);
		const rows = [...set];
		if ((rows.at(-1) ?? 0) >= source.count) continue;
		const columns = request.columns?.map((name) => ({ name })) ?? [columnIn(request)];
		const key = JSON.stringify(columns);
		const numbers = numbersByColumns.get(key) ?? noPhones();
		numbersByColumns.set(key, numbers);
		await source.pick(rows, (row, index, _unusable, file = 0) => {
			const column = columns[file];
			const cell = column === undefined ? undefined : cellOf(row, column);
			const reading = readCampaignPhone(cell);
			if (!isAccepted(reading)) return;
			numbers.phones.set(index, reading.phone);
			numbers.keys.set(index, reading.key);
		});
		if (numbersOf(rows, numbers.keys) !== request.numbers) continue;
		found.push({ request, rows: set, numbers });
	}
	return found;
}

function columnIn({ column: name, path }: SentRequest): Column {
	return path === undefined ? { name } : { name, path };
}

function noPhones(): SentPhones {
	const phones = new PhonesByRow();
	return { phones, keys: new KeysByRow(phones) };
}

/** A fingerprint of the numbers of these rows, in this order. */
export function numbersOf(rows: readonly number[], keys: ByRow<string>): string {
	return rowsFingerprint(rows.map((row) => keys.at(row) ?? ''));
}

/**
 * Adds the rows of requests to this campaign to the outcome.
 *
 * @returns the rows that keep the number that was or may have been sent
 */
export function restoreRequests(
	earlier: readonly EarlierRequest[],
	{ phones, keys }: PreparedRows,
	settings: AttemptSettings,
	sentPhones: RowsOfSentPhones,
	outcome: PushOutcome,
): RowSet {
	const settled: RowSet[] = [];
	for (const { request, rows, numbers } of earlier) {
		if (request.campaign !== settings.campaign) continue;
		if (settings.isTool && mayBeRequestedAgain(request, rows, numbers.keys, settings)) continue;
		const same = rows.filter((row) => {
			const key = keys.at(row);
			// Empty if this attempt rejects the row.
			return key === '' || key === numbers.keys.at(row);
		});
		settled.push(same);
		for (const row of rows) sentPhones.set(numbers.keys.at(row), row);
		for (const row of same) {
			if (phones.numberAt(row) === numbers.phones.numberAt(row)) continue;
			phones.set(row, numbers.phones.at(row));
			keys.set(row, numbers.keys.at(row));
		}
		restoreRequest(request, [...same], keys, outcome, readerOf(settings.isTool));
	}
	return RowSet.union(settled);
}

/** Whether the model's request had other options, or pushed nobody. */
function mayBeRequestedAgain(
	{ response, options }: SentRequest,
	rows: RowSet,
	numbers: ByRow<string>,
	settings: AttemptSettings,
): boolean {
	if (response === undefined) return false;
	if (options !== settings.options) return true;
	return pushedRequest([...rows], response, numbers).request.rows.size === 0;
}

/** Adds the rows of a request to the outcome. */
export function restoreRequest(
	{ response, unknown }: SentRequest,
	rows: readonly number[],
	keys: ByRow<string>,
	outcome: PushOutcome,
	reader: Reader,
): void {
	if (rows.length === 0) return;
	if (response !== undefined) {
		const { request, rejectedRows } = pushedRequest(rows, response, keys);
		outcome.pushed.push(request);
		for (const row of rejectedRows) outcome.rejectedRows.add(row);
		return;
	}
	const stopped = unknown === undefined ? interrupted() : OutcomeUnknown.fromStored(unknown);
	outcome.stopped ??= stopped;
	const reason = reasonOf(stopped, reader);
	for (const index of rows) outcome.rejectedRows.add({ index, status: 'unknown', reason });
}

function interrupted(): OutcomeUnknown {
	return new OutcomeUnknown(
		"An earlier attempt of this execution was interrupted during a request, so it's unknown whether the request took effect",
		forEveryone(
			"The request wasn't sent again. Check the campaign in the service before you push these rows again.",
		),
	);
}
