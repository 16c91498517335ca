import type { Additions } from '../../shared/api/endpoints';
import { OutcomeUnknown } from '../../shared/api/errors';
import { isAccepted } from '../../shared/phone/campaignPhone';
import type { JsonObject } from '../../shared/json';
import { cellOf, type Column } from './cells';
import type { Columns } from './columns';
import {
	reasonOf,
	type CampaignTarget,
	type FeedItem,
	type FeedOutcome,
	type UnsentRow,
} from './feed';
import { CUT_OFF } from './intake';
import { readPhoneCell, type PreparedFeed } from './prepare';
import {
	emptyRecord,
	feedFingerprint,
	rangesOf,
	rowsIn,
	type FeedRecord,
	type SentRequest,
} from './record';
import { pushedRequest } from './skippedRows';

/** The part of the options that is compared. */
export type TryOptions = {
	campaign: CampaignTarget;
	columns: Columns;
	normalizePhones: boolean;
	removeDuplicates: boolean;
	additions: Additions;
	/** Whether a model wishes it, who may wish again. */
	forModel: boolean;
};

/** What decides whether a further try wishes the same as an earlier one. */
export type TrySettings = {
	campaign: number;
	column: Column;
	normalized: boolean;
	/** A fingerprint of the settings and of what is sent of a row: a corrected row is another one. */
	fingerprintOf: (row: number) => string;
	/** A fingerprint of what is sent beside the rows: agent, release, additions. */
	options: string;
	removeDuplicates: boolean;
	/** A model may wish again what was skipped or refused, and the same rows with other options. */
	forModel: boolean;
};

export function trySettings(options: TryOptions, { contactOf }: PreparedFeed): TrySettings {
	const { campaign, columns, normalizePhones, removeDuplicates, additions, forModel } = options;
	const ofAll = [
		JSON.stringify([campaign, columns.phone, columns.personName, columns.lastName, columns.others]),
		JSON.stringify([normalizePhones, additions]),
	];
	return {
		campaign: campaign.id,
		column: columns.phone,
		normalized: normalizePhones,
		removeDuplicates,
		forModel,
		options: feedFingerprint([JSON.stringify([campaign, additions])]),
		fingerprintOf: (row) => feedFingerprint([...ofAll, JSON.stringify(contactOf(row))]),
	};
}

/** What becomes of a request that was begun. */
export type BegunRequest = {
	taken: (answer: JsonObject) => void;
	unknown: (error: OutcomeUnknown) => void;
	withoutEffect: () => void;
};

/** What an earlier try leaves to do: `rows` are still to be sent. */
export type Restored = { rows: number[]; outcome: FeedOutcome };

/** Requests that a long session of a model keeps in this process, beside those whose fate is open. */
const MOST_TAKEN = 1_000;

/** A request with its rows, and their numbers as they are now. */
type EarlierRequest = { request: SentRequest; rows: number[]; numbers: string[] };

export class FeedProgress {
	constructor(readonly record: FeedRecord = emptyRecord()) {}

	/**
	 * Takes over what is settled: a number that was sent to this campaign, or may have been, is not
	 * sent to it again. Rows whose number is another one now are new.
	 */
	restore(
		items: readonly FeedItem[],
		{ rows, keys, unsentRows }: PreparedFeed,
		settings: TrySettings,
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
			takeOver(request, same, keys, outcome);
		}
		for (const { row, number, reason, settings: under } of this.record.refused) {
			if (number !== feedFingerprint([keys[row] ?? ''])) continue;
			if (under !== settings.fingerprintOf(row)) continue;
			settledRows.add(row);
			outcome.unsentRows.push({ index: row, status: 'rejected', reason });
		}
		for (const row of this.cutOffRows(keys, settings.campaign)) {
			settledRows.add(row);
			outcome.unsentRows.push({ index: row, status: 'unknown', reason: CUT_OFF });
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
			takeOver(request, rows, keysAt(rows, numbers), outcome);
		}
		return outcome;
	}

	/** Notes a request before it leaves: whatever happens then, its rows are not sent again. */
	begin(rows: readonly number[], keys: readonly string[], settings: TrySettings): BegunRequest {
		const request: SentRequest = {
			campaign: settings.campaign,
			rows: rangesOf(rows),
			numbers: numbersOf(rows, keys),
			column: settings.column.name,
			...(settings.column.path !== undefined && { path: [...settings.column.path] }),
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

	refuse({ index, reason }: UnsentRow, keys: readonly string[], settings: TrySettings): void {
		if (settings.forModel) return;
		const number = feedFingerprint([keys[index] ?? '']);
		const under = settings.fingerprintOf(index);
		this.record.refused.push({ settings: under, row: index, number, reason });
	}

	/** Rows that were under way when an earlier run was cut off; the memory of all runs tells it once. */
	cutOff(rows: readonly number[], keys: readonly string[], { campaign }: TrySettings): void {
		if (rows.length === 0) return;
		this.record.cutOff = { campaign, rows: rangesOf(rows), numbers: numbersOf(rows, keys) };
	}

	private cutOffRows(keys: readonly string[], campaign: number): number[] {
		const { cutOff } = this.record;
		if (cutOff?.campaign !== campaign) return [];
		const rows = rowsIn(cutOff.rows);
		return numbersOf(rows, keys) === cutOff.numbers ? rows : [];
	}

	private forgetOldest(): void {
		const taken = this.record.sent.filter(({ answer }) => answer !== undefined);
		const [oldest] = taken;
		if (taken.length <= MOST_TAKEN) return;
		this.record.sent = this.record.sent.filter((other) => other !== oldest);
	}

	/** Requests of earlier tries whose rows are still the same people. */
	private requestsOf(items: readonly FeedItem[]): EarlierRequest[] {
		return this.record.sent.flatMap((request) => {
			const rows = rowsIn(request.rows);
			const numbers = rows.map((row) => {
				const cell = cellOf(items[row]?.json ?? {}, columnIn(request));
				const reading = readPhoneCell(cell, request.normalized);
				return isAccepted(reading) ? reading.key : '';
			});
			return feedFingerprint(numbers) === request.numbers ? [{ request, rows, numbers }] : [];
		});
	}
}

function numbersOf(rows: readonly number[], keys: readonly string[]): string {
	return feedFingerprint(rows.map((row) => keys[row] ?? ''));
}

function columnIn({ column: name, path }: SentRequest): Column {
	return path === undefined ? { name } : { name, path };
}

function keysAt(rows: readonly number[], numbers: readonly string[]): string[] {
	const keys: string[] = [];
	for (const [place, row] of rows.entries()) keys[row] = numbers[place] ?? '';
	return keys;
}

/** Whether the request was another wish of the model, or brought nobody into the campaign. */
function mayBeWishedAgain(
	{ answer, options }: SentRequest,
	rows: readonly number[],
	numbers: readonly string[],
	settings: TrySettings,
): boolean {
	if (answer === undefined) return false;
	if (options !== settings.options) return true;
	return pushedRequest(rows, answer, keysAt(rows, numbers)).request.rows.length === 0;
}

/** Puts the rows of an earlier request where they were. */
function takeOver(
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
	const reason = reasonOf(stopped);
	for (const index of rows) outcome.unsentRows.push({ index, status: 'unknown', reason });
}

function interrupted(): OutcomeUnknown {
	return new OutcomeUnknown(
		'An earlier try of this execution was interrupted while the request was under way, so it is not known whether it took effect',
		'It was not sent a second time. Look at the campaign in the service before you push these rows again.',
	);
}
