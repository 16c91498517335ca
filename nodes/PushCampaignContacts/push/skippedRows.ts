import uniq from 'lodash/uniq';
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json';
import { phoneKey } from '../../shared/phone/phoneKey';
import { plainText } from '../../shared/values';
import type { ByRow } from './phones';
import type { PushedRequest } from './pushTypes';
import type { RejectedRow, RowStatus } from './rejectedRows';
import { RowSet } from './rowSet';

/** Rows of an accepted request that the service won't call, and skipped entries that match no row. */
export type Skipped = { rows: RejectedRow[]; unmatched: JsonValue[] };

/** Campaigns accept Indian numbers only. */
const COUNTRY = 'IN';

/** Limits of the search for a number in an entry, whose shape isn't documented. */
const MAX_DEPTH = 5;
const MAX_VALUES_READ = 200;
const MAX_ENTRY_CHARACTERS = 200;
const NUMBER_IN_TEXT = /\+?\d{10,15}/g;

const SKIPPED_LISTS = [
	{
		field: 'dnd_skipped',
		status: 'do_not_disturb',
		reason:
			'The service skipped this row, because its number is on the do-not-disturb list of the agent.',
	},
	{
		field: 'engine_skipped_duplicates',
		status: 'skipped_duplicate',
		reason: 'The service skipped this row as a duplicate (engine_skipped_duplicates).',
	},
] as const satisfies ReadonlyArray<{ field: string; status: RowStatus; reason: string }>;

/** Splits the rows of an accepted request into those that can be called and those that were skipped. */
export function pushedRequest(
	rows: readonly number[],
	response: JsonObject,
	keys: ByRow<string>,
): { request: PushedRequest; rejectedRows: RejectedRow[] } {
	const { rows: rejectedRows, unmatched } = skippedRows(response, rows, keys);
	const skipped = new Set(rejectedRows.map(({ index }) => index));
	const callable = skipped.size === 0 ? rows : rows.filter((row) => !skipped.has(row));
	return { request: { rows: RowSet.of(callable), response, unmatched }, rejectedRows };
}

/** @param keys by row, a key that is equal for equal numbers in any format */
export function skippedRows(
	response: JsonObject,
	rows: readonly number[],
	keys: ByRow<string>,
): Skipped {
	const skipped = new Map<number, RejectedRow>();
	const unmatched: JsonValue[] = [];
	let rowsWith: Map<string, number[]> | undefined;
	for (const { field, status, reason } of SKIPPED_LISTS) {
		const list = response[field];
		if (!Array.isArray(list) || list.length === 0) continue;
		rowsWith ??= groupByKey(rows, keys);
		for (const entry of list) {
			const found = new Search(rowsWith).numbersIn(entry);
			if (found.length === 0) {
				unmatched.push(entry);
				continue;
			}
			const fullReason = reason + wordsAbout(entry);
			for (const key of found) {
				for (const index of rowsWith.get(key) ?? []) {
					skipped.set(index, { index, status, reason: fullReason });
				}
				// The first entry about a number decides.
				rowsWith.set(key, []);
			}
		}
	}
	return { rows: [...skipped.values()], unmatched };
}

function groupByKey(rows: readonly number[], keys: ByRow<string>): Map<string, number[]> {
	const groups = new Map<string, number[]>();
	for (const row of rows) {
		const key = keys.at(row) ?? '';
		const group = groups.get(key);
		if (group === undefined) groups.set(key, [row]);
		else group.push(row);
	}
	return groups;
}

/** An entry may say more than the number, such as a date. */
function wordsAbout(entry: JsonValue): string {
	if (!isJsonObject(entry)) return '';
	const words = Object.entries(entry)
		.filter(([, value]) => typeof value !== 'object')
		.map(([name, value]) => `${name}: ${plainText(value)}`)
		.join(', ');
	if (words === '') return '';
	return ` The service returned ${words.length > MAX_ENTRY_CHARACTERS ? `${words.slice(0, MAX_ENTRY_CHARACTERS)}...` : `${words}.`}`;
}

/** Searches one entry for numbers of the request. */
class Search {
	private valuesLeft = MAX_VALUES_READ;

	constructor(private readonly rowsWith: ReadonlyMap<string, unknown>) {}

	/** The numbers that the entry is about. Empty if it is ambiguous: it has two numbers that aren't a list. */
	numbersIn(value: JsonValue, depth = 0): string[] {
		if (depth > MAX_DEPTH || this.valuesLeft-- <= 0) return [];
		if (Array.isArray(value)) return uniq(value.flatMap((one) => this.numbersIn(one, depth + 1)));
		if (!isJsonObject(value)) return this.keysOf(value);
		const own = uniq(
			Object.entries(value).flatMap(([name, one]) => [...this.keysOf(name), ...this.keysOf(one)]),
		);
		if (own.length > 0) return own.length === 1 ? own : [];
		const inner = Object.values(value)
			.map((one) => this.numbersIn(one, depth + 1))
			.filter((found) => found.length > 0);
		const [only = [], ...others] = inner;
		return others.every((other) => other.join() === only.join()) ? only : [];
	}

	private keysOf(value: JsonValue): string[] {
		if (typeof value !== 'string' && typeof value !== 'number') return [];
		const whole = this.known(value);
		if (whole.length > 0 || typeof value === 'number') return whole;
		return uniq((value.match(NUMBER_IN_TEXT) ?? []).flatMap((part) => this.known(part)));
	}

	private known(value: string | number): string[] {
		const key = phoneKey(value, COUNTRY);
		return key !== null && this.rowsWith.has(key) ? [key] : [];
	}
}
