import uniq from 'lodash/uniq';
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json';
import { isAccepted, readPhoneAsWritten } from '../../shared/phone/campaignPhone';
import type { ByRow } from './phoneArrays';
import type { RejectedRow, PushedRequest, RowStatus } from './pushTypes';

/** Rows of a request that the service took and will not call, and what it skipped that is no row. */
export type Skipped = { rows: RejectedRow[]; unmatched: JsonValue[] };

/** How deep in an entry a number is looked for, and among how many values: the shape is open. */
const DEEPEST = 5;
const MAX_VALUES_READ = 200;
const SHOWN_OF_ENTRY = 200;
const NUMBER_IN_TEXT = /\+?\d{10,15}/g;

const SKIPPED_LISTS = [
	{
		field: 'dnd_skipped',
		status: 'do_not_disturb',
		reason:
			'The service skipped this row, because its number is on the agent’s do-not-disturb list.',
	},
	{
		field: 'engine_skipped_duplicates',
		status: 'skipped_duplicate',
		reason: 'The service skipped this row as a duplicate (engine_skipped_duplicates).',
	},
] as const satisfies ReadonlyArray<{ field: string; status: RowStatus; reason: string }>;

/** A request that the service took: who can be called, and who was skipped. */
export function pushedRequest(
	rows: readonly number[],
	answer: JsonObject,
	keys: ByRow<string>,
): { request: PushedRequest; rejectedRows: RejectedRow[] } {
	const { rows: rejectedRows, unmatched } = skippedRows(answer, rows, keys);
	const skipped = new Set(rejectedRows.map(({ index }) => index));
	const called = skipped.size === 0 ? rows : rows.filter((row) => !skipped.has(row));
	return { request: { rows: called, answer, unmatched }, rejectedRows };
}

/** @param keys by row, what makes a number the same person's in every form */
export function skippedRows(
	answer: JsonObject,
	rows: readonly number[],
	keys: ByRow<string>,
): Skipped {
	const skipped = new Map<number, RejectedRow>();
	const unmatched: JsonValue[] = [];
	let rowsWith: Map<string, number[]> | undefined;
	for (const { field, status, reason } of SKIPPED_LISTS) {
		const list = answer[field];
		if (!Array.isArray(list) || list.length === 0) continue;
		rowsWith ??= groupByKey(rows, keys);
		for (const entry of list) {
			const found = new Search(rowsWith).numbersIn(entry);
			if (found.length === 0) {
				unmatched.push(entry);
				continue;
			}
			const said = reason + saidAbout(entry);
			for (const key of found) {
				for (const index of rowsWith.get(key) ?? []) {
					skipped.set(index, { index, status, reason: said });
				}
				// A further entry about the number has nothing to say of them.
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

/** What an object tells beside the number, for example since when. */
function saidAbout(entry: JsonValue): string {
	if (!isJsonObject(entry)) return '';
	const text = JSON.stringify(entry);
	return ` It said: ${text.length > SHOWN_OF_ENTRY ? `${text.slice(0, SHOWN_OF_ENTRY)}…` : text}`;
}

/** Looks through one entry for a number of the request, wherever it stands. */
class Search {
	private left = MAX_VALUES_READ;

	constructor(private readonly rowsWith: ReadonlyMap<string, unknown>) {}

	/** The numbers that the entry is about: none where it names two and does not list them. */
	numbersIn(value: JsonValue, depth = 0): string[] {
		if (depth > DEEPEST || this.left-- <= 0) return [];
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
		const reading = readPhoneAsWritten(value);
		return isAccepted(reading) && this.rowsWith.has(reading.key) ? [reading.key] : [];
	}
}
