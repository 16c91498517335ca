import { createHash } from 'crypto';
import { OutcomeUnknown, type KeptUnknown } from '../../shared/api/errors';
import { isAccepted } from '../../shared/phone/campaignPhone';
import { isJsonObject, type JsonObject } from '../../shared/json';
import type { FeedItem, FeedOutcome, LeftOutRow, PushedRequest } from './feed';
import type { FirstIndex } from './namedRows';
import { readPhoneCell, type PreparedFeed } from './prepare';
import { rangesOf, rowsIn, type RowRanges } from './rowRanges';
import { skippedRows } from './skippedRows';

/**
 * What a feed has done so far, as plain JSON that is kept with the execution: no row and no number
 * is in it. Rows are told by their place, and a fingerprint of their numbers tells whether the rows
 * at these places are still the same people.
 */
export type FeedRecord = {
	sent: SentRequest[];
	refused: RefusedRow[];
	/** Found out once for the whole feed. */
	firstIndex?: FirstIndex;
};

/** A request that took effect or may have; with neither `answer` nor `unknown` it was cut short. */
type SentRequest = {
	campaign: number;
	rows: RowRanges;
	numbers: string;
	/** How the numbers were read. */
	column: string;
	normalized: boolean;
	/** A fingerprint of what was sent beside the rows. */
	options: string;
	answer?: JsonObject;
	unknown?: KeptUnknown;
};

/** A row that the service refused; `settings` is a fingerprint of the feed’s settings and of what was sent. */
type RefusedRow = { settings: string; row: number; number: string; reason: string };

export type FeedSettings = {
	campaign: number;
	column: string;
	normalized: boolean;
	/** A fingerprint of the settings and of what is sent of a row: a corrected row is another one. */
	fingerprintOf: (row: number) => string;
	/** A fingerprint of what is sent beside the rows: agent, release, additions. */
	options: string;
	removeDuplicates: boolean;
	/** A model may wish again what was skipped or refused, and the same rows with other options. */
	forModel: boolean;
};

/** What an earlier try leaves to do: `rows` are still to be sent. */
export type Restored = { rows: number[]; outcome: FeedOutcome };

/** Requests that a long session of a model keeps in this process, beside those whose fate is open. */
const MOST_TAKEN = 1_000;

type Found = { request: SentRequest; rows: number[]; numbers: string[] };

export function emptyRecord(): FeedRecord {
	return { sent: [], refused: [] };
}

export function fingerprint(parts: readonly string[]): string {
	return createHash('sha256').update(parts.join('\n')).digest('base64url').slice(0, 16);
}

export class FeedProgress {
	constructor(readonly record: FeedRecord = emptyRecord()) {}

	/**
	 * Takes over what is settled: a number that was sent to this campaign, or may have been, is not
	 * sent to it again. Rows whose number is another one now are new.
	 */
	restore(
		items: readonly FeedItem[],
		{ rows, keys, unsentRows }: PreparedFeed,
		settings: FeedSettings,
	): Restored {
		const outcome: FeedOutcome = {
			received: items.length,
			pushed: [],
			unsentRows: [...unsentRows],
		};
		const settledRows = new Set<number>();
		const settledNumbers = new Map<string, number>();
		for (const { request, rows: sent, numbers } of this.requestsOf(items)) {
			if (request.campaign !== settings.campaign) continue;
			if (settings.forModel && mayBeWishedAgain(request, sent, numbers, settings)) continue;
			const same = sent.filter((row, place) => keys[row] === numbers[place]);
			for (const row of same) settledRows.add(row);
			for (const [place, number] of numbers.entries()) {
				settledNumbers.set(number, sent[place] ?? 0);
			}
			settle(request, same, keys, outcome);
		}
		for (const { row, number, reason, settings: under } of this.record.refused) {
			if (number !== fingerprint([keys[row] ?? ''])) continue;
			if (under !== settings.fingerprintOf(row)) continue;
			settledRows.add(row);
			outcome.unsentRows.push({ index: row, status: 'rejected', reason });
		}
		if (settledRows.size === 0 && settledNumbers.size === 0) return { rows, outcome };
		const open = rows.filter((row) => !settledRows.has(row));
		if (!settings.removeDuplicates) return { rows: open, outcome };
		const elsewhere = (row: number) => settledNumbers.get(keys[row] ?? '');
		for (const index of open) {
			const other = elsewhere(index);
			if (other === undefined) continue;
			const reason = `Item ${other} has the same phone number, and an earlier try of this execution sent it.`;
			outcome.unsentRows.push({ index, status: 'duplicate', reason });
		}
		return { rows: open.filter((row) => elsewhere(row) === undefined), outcome };
	}

	/** What was done for these rows in any campaign, where there is no more to go by. */
	known(items: readonly FeedItem[]): FeedOutcome {
		const outcome: FeedOutcome = { received: items.length, pushed: [], unsentRows: [] };
		for (const { request, rows, numbers } of this.requestsOf(items)) {
			settle(request, rows, keysAt(rows, numbers), outcome);
		}
		return outcome;
	}

	/** Notes a request before it leaves: whatever happens then, its rows are not sent again. */
	begin(rows: readonly number[], keys: readonly string[], settings: FeedSettings): Sending {
		const request: SentRequest = {
			campaign: settings.campaign,
			rows: rangesOf(rows),
			numbers: fingerprint(rows.map((row) => keys[row] ?? '')),
			column: settings.column,
			normalized: settings.normalized,
			options: settings.options,
		};
		this.record.sent.push(request);
		return {
			taken: (answer) => {
				request.answer = answer;
				if (settings.forModel) this.forgetOldest();
			},
			unknown: (error) => {
				request.unknown = error.kept();
			},
			withoutEffect: () => {
				this.record.sent = this.record.sent.filter((other) => other !== request);
			},
		};
	}

	refuse({ index, reason }: LeftOutRow, keys: readonly string[], settings: FeedSettings): void {
		if (settings.forModel) return;
		const number = fingerprint([keys[index] ?? '']);
		const under = settings.fingerprintOf(index);
		this.record.refused.push({ settings: under, row: index, number, reason });
	}

	private forgetOldest(): void {
		const taken = this.record.sent.filter(({ answer }) => answer !== undefined);
		const [oldest] = taken;
		if (taken.length <= MOST_TAKEN) return;
		this.record.sent = this.record.sent.filter((other) => other !== oldest);
	}

	/** Requests of earlier tries whose rows are still the same people. */
	private requestsOf(items: readonly FeedItem[]): Found[] {
		return this.record.sent.flatMap((request) => {
			const rows = rowsIn(request.rows);
			const numbers = rows.map((row) => {
				const cell = items[row]?.json[request.column];
				const reading = readPhoneCell(cell, request.normalized);
				return isAccepted(reading) ? reading.key : '';
			});
			return fingerprint(numbers) === request.numbers ? [{ request, rows, numbers }] : [];
		});
	}
}

function keysAt(rows: readonly number[], numbers: readonly string[]): string[] {
	const keys: string[] = [];
	for (const [place, row] of rows.entries()) keys[row] = numbers[place] ?? '';
	return keys;
}

/** What becomes of a request that was begun. */
export type Sending = {
	taken: (answer: JsonObject) => void;
	unknown: (error: OutcomeUnknown) => void;
	withoutEffect: () => void;
};

/** Whether the request was another wish of the model, or brought nobody into the campaign. */
function mayBeWishedAgain(
	{ answer, options }: SentRequest,
	rows: readonly number[],
	numbers: readonly string[],
	settings: FeedSettings,
): boolean {
	if (answer === undefined) return false;
	if (options !== settings.options) return true;
	return pushedRequest(rows, answer, keysAt(rows, numbers)).request.rows.length === 0;
}

/** Puts the rows of an earlier request where they were. */
function settle(
	{ answer, unknown }: SentRequest,
	rows: readonly number[],
	keys: readonly string[],
	outcome: FeedOutcome,
): void {
	if (rows.length === 0) return;
	if (answer !== undefined) {
		const { request, unsentRows } = pushedRequest(rows, answer, keys);
		outcome.pushed.push(request);
		outcome.unsentRows.push(...unsentRows);
		return;
	}
	const stopped = unknown === undefined ? interrupted() : OutcomeUnknown.from(unknown);
	outcome.stopped ??= stopped;
	const reason = `${stopped.message}. ${stopped.advice}`;
	for (const index of rows) outcome.unsentRows.push({ index, status: 'unknown', reason });
}

/** A request that the service took: who can be called, and who was skipped. */
export function pushedRequest(
	rows: readonly number[],
	answer: JsonObject,
	keys: readonly string[],
): { request: PushedRequest; unsentRows: LeftOutRow[] } {
	const { rows: unsentRows, unmatched } = skippedRows(answer, rows, keys);
	const skipped = new Set(unsentRows.map(({ index }) => index));
	const called = skipped.size === 0 ? rows : rows.filter((row) => !skipped.has(row));
	return { request: { rows: called, answer, unmatched }, unsentRows };
}

function interrupted(): OutcomeUnknown {
	return new OutcomeUnknown(
		'An earlier try of this execution was interrupted while the request was under way, so it is not known whether it took effect',
		'It was not sent a second time. Look at the campaign in the service before you push these rows again.',
	);
}

export function isFeedRecord(stored: unknown): stored is FeedRecord {
	if (!isJsonObject(stored)) return false;
	const { sent, refused, firstIndex } = stored;
	return (
		Array.isArray(sent) &&
		sent.every(isSentRequest) &&
		Array.isArray(refused) &&
		refused.every(isRefusedRow) &&
		(firstIndex === undefined || firstIndex === 0 || firstIndex === 1)
	);
}

function isSentRequest(value: unknown): boolean {
	if (!isJsonObject(value)) return false;
	const { campaign, rows, numbers, column, normalized, options, answer, unknown } = value;
	return (
		typeof campaign === 'number' &&
		Array.isArray(rows) &&
		rows.every((row) => typeof row === 'number') &&
		typeof numbers === 'string' &&
		typeof column === 'string' &&
		typeof normalized === 'boolean' &&
		typeof options === 'string' &&
		(answer === undefined || isJsonObject(answer)) &&
		(unknown === undefined || (isJsonObject(unknown) && typeof unknown.message === 'string'))
	);
}

function isRefusedRow(value: unknown): boolean {
	if (!isJsonObject(value)) return false;
	const { settings, row, number, reason } = value;
	const texts = [settings, number, reason];
	return typeof row === 'number' && texts.every((text) => typeof text === 'string');
}
