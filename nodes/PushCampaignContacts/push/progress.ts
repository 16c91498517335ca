import type { Additions } from '../../shared/api/endpoints';
import sortBy from 'lodash/sortBy';
import uniq from 'lodash/uniq';
import upperFirst from 'lodash/upperFirst';
import { InvalidInput, OutcomeUnknown } from '../../shared/api/errors';
import { forEveryone, onScreenOnly, readerOf, type Reader } from '../../shared/api/modelAdvice';
import { isAccepted } from '../../shared/phone/campaignPhone';
import type { JsonObject } from '../../shared/json';
import { PhonesByRow, RowsByPhone, type ByRow } from './phoneArrays';
import { cellOf, type Column } from './cells';
import type { Columns } from './columns';
import { reasonOf, type CampaignTarget, type PushOutcome, type RejectedRow } from './pushTypes';
import { BEGUN_EARLIER, INTERRUPTED } from './rowQueue';
import { readPhoneCell, type PreparedRows } from './prepareRows';
import {
	emptyCheckpoint,
	rowsFingerprint,
	rangesOf,
	rowsIn,
	type PushCheckpoint,
	type SentRequest,
} from './checkpoint';
import type { RowSource } from './rows';
import { pushedRequest } from './skippedRows';

/** The part of the options that is compared. */
export type AttemptOptions = {
	campaign: CampaignTarget;
	columns: Columns;
	normalizePhones: boolean;
	removeDuplicates: boolean;
	additions: Additions;
	/** Whether a model wishes it, who may wish again. */
	isTool: boolean;
};

/** What decides whether a further try wishes the same as an earlier one. */
export type AttemptSettings = {
	campaign: number;
	column: Column;
	/** Of several files, the name of the column in each. */
	columns?: readonly string[] | undefined;
	normalized: boolean;
	/**
	 * A fingerprint of the settings and of what is sent of a row: a corrected row is another one.
	 *
	 * @param contact as JSON
	 */
	fingerprintOf: (contact: Buffer) => string;
	/** A fingerprint of what is sent beside the rows: agent, release, additions. */
	options: string;
	removeDuplicates: boolean;
	/** A model may wish again what was skipped or rejected, and the same rows with other options. */
	isTool: boolean;
};

export function attemptSettings(options: AttemptOptions): AttemptSettings {
	const { campaign, columns, normalizePhones, removeDuplicates, additions, isTool } = options;
	const ofAll = [
		JSON.stringify([campaign, columns.phone, columns.personName, columns.lastName, columns.others]),
		JSON.stringify([normalizePhones, additions]),
	];
	return {
		campaign: campaign.id,
		column: columns.phone,
		columns: columns.files?.map(({ phone }) => phone.name),
		normalized: normalizePhones,
		removeDuplicates,
		isTool,
		options: optionsFingerprint(campaign, additions),
		fingerprintOf: (contact) => rowsFingerprint([...ofAll, contact.toString()]),
	};
}

/** Of what is sent beside the rows. */
export function optionsFingerprint(campaign: CampaignTarget, additions: Additions): string {
	return rowsFingerprint([JSON.stringify([campaign, additions])]);
}

/** What becomes of a request that was begun. */
export type RequestTracker = {
	taken: (answer: JsonObject) => void;
	unknown: (error: OutcomeUnknown) => void;
	withoutEffect: () => void;
};

/** What an earlier try leaves to do: `rows` are still to be sent. */
export type Restored = { rows: number[]; outcome: PushOutcome };

/** `isAll` unless a request of an earlier try had rows that these are not, as in another file. */
export type KnownOutcome = { outcome: PushOutcome; isAll: boolean };

/** Requests that a long session of a model keeps in this process, beside those whose fate is open. */
const MAX_REQUESTS = 1_000;

/** A request with its rows, and by row their numbers as they are now. */
type EarlierRequest = { request: SentRequest; rows: number[]; numbers: PhonesByRow };

export class PushProgress {
	constructor(readonly record: PushCheckpoint = emptyCheckpoint()) {}

	/**
	 * Rows are told by their place, and another file, or one that is read in another way, may have others there.
	 *
	 * @throws InvalidInput where it could not be told which rows were sent
	 */
	requireSameFile({ reading }: RowSource): void {
		const { sent, rejected } = this.record;
		if (sent.length + rejected.length > 0 && this.record.reading !== reading) throw readOtherwise();
		if (reading !== undefined) this.record.reading = reading;
	}

	/**
	 * Takes over what is settled: a number that was sent to this campaign, or may have been, is not
	 * sent to it again. Rows whose number is another one now are new.
	 */
	async restore(
		source: RowSource,
		{ rows, keys, rejectedRows, contactsOf }: PreparedRows,
		settings: AttemptSettings,
	): Promise<Restored> {
		const outcome: PushOutcome = {
			received: source.count,
			pushed: [],
			rejectedRows: [...rejectedRows],
		};
		const reader = readerOf(settings.isTool);
		const settledRows = new Set<number>();
		const settledNumbers = new RowsByPhone();
		for (const { request, rows: sent, numbers } of await this.requestsOf(source)) {
			if (request.campaign !== settings.campaign) continue;
			if (settings.isTool && mayBeRequestedAgain(request, sent, numbers, settings)) continue;
			const same = sent.filter((row) => keys.at(row) === numbers.at(row));
			for (const row of same) settledRows.add(row);
			for (const row of sent) settledNumbers.set(numbers.at(row), row);
			restoreRequest(request, same, keys, outcome, reader);
		}
		const rejected = this.record.rejected
			.filter(({ row, number }) => number === rowsFingerprint([keys.at(row)]))
			.sort((one, other) => one.row - other.row);
		const contacts = await contactsOf(rejected.map(({ row }) => row));
		for (const [place, { row, reason, settings: under }] of rejected.entries()) {
			if (under !== settings.fingerprintOf(contacts.at(place))) continue;
			settledRows.add(row);
			outcome.rejectedRows.push({ index: row, status: 'rejected', reason });
		}
		for (const row of this.interruptedRows(keys, settings.campaign)) {
			settledRows.add(row);
			outcome.rejectedRows.push({
				index: row,
				status: 'unknown',
				reason: this.interruptedReason(reader),
			});
		}
		if (settledRows.size === 0 && settledNumbers.size === 0) return { rows, outcome };
		const open = rows.filter((row) => !settledRows.has(row));
		if (!settings.removeDuplicates) return { rows: open, outcome };
		const elsewhere = (row: number) => settledNumbers.get(keys.at(row));
		for (const index of open) {
			const other = elsewhere(index);
			if (other === undefined) continue;
			const sent = settings.isTool
				? 'it was sent before'
				: 'an earlier try of this execution sent it';
			const reason = `${upperFirst(source.names.one(other))} has the same phone number, and ${sent}.`;
			outcome.rejectedRows.push({ index, status: 'duplicate', reason });
		}
		return { rows: open.filter((row) => elsewhere(row) === undefined), outcome };
	}

	/** What was done for these rows in any campaign, where there is no more to go by. */
	async known(source: RowSource): Promise<KnownOutcome> {
		const outcome: PushOutcome = { received: source.count, pushed: [], rejectedRows: [] };
		const found = await this.requestsOf(source);
		for (const { request, rows, numbers } of found)
			restoreRequest(request, rows, numbers, outcome, 'onScreen');
		const sent = new Set(found.flatMap(({ rows }) => rows));
		for (const index of rowsIn(this.record.interrupted?.rows ?? [])) {
			if (index >= source.count || sent.has(index)) continue;
			outcome.rejectedRows.push({
				index,
				status: 'unknown',
				reason: this.interruptedReason('onScreen'),
			});
		}
		return { outcome, isAll: found.length === this.record.sent.length };
	}

	/** Notes a request before it leaves: whatever happens then, its rows are not sent again. */
	begin(rows: readonly number[], keys: ByRow<string>, settings: AttemptSettings): RequestTracker {
		const request: SentRequest = {
			campaign: settings.campaign,
			rows: rangesOf(rows),
			numbers: numbersOf(rows, keys),
			column: settings.column.name,
			...(settings.column.path !== undefined && { path: [...settings.column.path] }),
			...(settings.columns !== undefined && { columns: [...settings.columns] }),
			normalized: settings.normalized,
			options: settings.options,
		};
		this.record.sent.push(request);
		return {
			taken: (answer) => {
				request.answer = answer;
				if (settings.isTool) this.evictOldest();
			},
			unknown: (error) => {
				request.unknown = error.toStored();
			},
			withoutEffect: () => {
				this.record.sent = this.record.sent.filter((other) => other !== request);
			},
		};
	}

	reject(
		{ index, reason }: RejectedRow,
		contact: Buffer,
		keys: ByRow<string>,
		settings: AttemptSettings,
	): void {
		if (settings.isTool) return;
		const number = rowsFingerprint([keys.at(index) ?? '']);
		const under = settings.fingerprintOf(contact);
		this.record.rejected.push({ settings: under, row: index, number, reason });
	}

	/** Rows that were under way when an earlier run or attempt was cut off, which shows only once. */
	interrupted(
		unknown: readonly RejectedRow[],
		keys: ByRow<string>,
		{ campaign }: AttemptSettings,
	): void {
		const [first] = unknown;
		if (first === undefined) return;
		const before = this.interruptedRows(keys, campaign);
		const rows = sortBy(uniq([...before, ...unknown.map(({ index }) => index)]));
		this.record.interrupted = {
			campaign,
			rows: rangesOf(rows),
			numbers: numbersOf(rows, keys),
			...(Object.values(BEGUN_EARLIER).includes(first.reason) && { byAttempt: true }),
		};
	}

	private interruptedReason(reader: Reader): string {
		return (this.record.interrupted?.byAttempt === true ? BEGUN_EARLIER : INTERRUPTED)[reader];
	}

	private interruptedRows(keys: ByRow<string>, campaign: number): number[] {
		const { interrupted } = this.record;
		if (interrupted?.campaign !== campaign) return [];
		const rows = rowsIn(interrupted.rows);
		return numbersOf(rows, keys) === interrupted.numbers ? rows : [];
	}

	private evictOldest(): void {
		const taken = this.record.sent.filter(({ answer }) => answer !== undefined);
		const [oldest] = taken;
		if (taken.length <= MAX_REQUESTS) return;
		this.record.sent = this.record.sent.filter((other) => other !== oldest);
	}

	/** Requests of earlier tries whose rows are still the same people. */
	private async requestsOf(source: RowSource): Promise<EarlierRequest[]> {
		const found: EarlierRequest[] = [];
		/** One for each way in which numbers were read. */
		const readings = new Map<string, PhonesByRow>();
		for (const request of this.record.sent) {
			const rows = rowsIn(request.rows);
			if ((rows.at(-1) ?? 0) >= source.count) continue;
			const { normalized } = request;
			const columns = request.columns?.map((name) => ({ name })) ?? [columnIn(request)];
			const key = JSON.stringify([columns, normalized]);
			const numbers = readings.get(key) ?? new PhonesByRow();
			readings.set(key, numbers);
			await source.pick(rows, (row, index, _unusable, file = 0) => {
				const column = columns[file];
				const cell = column === undefined ? undefined : cellOf(row, column);
				const reading = readPhoneCell(cell, normalized);
				numbers.set(index, isAccepted(reading) ? reading.key : '');
			});
			if (numbersOf(rows, numbers) === request.numbers) found.push({ request, rows, numbers });
		}
		return found;
	}
}

function numbersOf(rows: readonly number[], keys: ByRow<string>): string {
	return rowsFingerprint(rows.map((row) => keys.at(row) ?? ''));
}

function columnIn({ column: name, path }: SentRequest): Column {
	return path === undefined ? { name } : { name, path };
}

/** Whether the request was another wish of the model, or brought nobody into the campaign. */
function mayBeRequestedAgain(
	{ answer, options }: SentRequest,
	rows: readonly number[],
	numbers: ByRow<string>,
	settings: AttemptSettings,
): boolean {
	if (answer === undefined) return false;
	if (options !== settings.options) return true;
	return pushedRequest(rows, answer, numbers).request.rows.length === 0;
}

/** Puts the rows of an earlier request where they were. */
function restoreRequest(
	{ answer, unknown }: SentRequest,
	rows: readonly number[],
	keys: ByRow<string>,
	outcome: PushOutcome,
	reader: Reader,
): void {
	if (rows.length === 0) return;
	if (answer !== undefined) {
		const { request, rejectedRows } = pushedRequest(rows, answer, keys);
		outcome.pushed.push(request);
		outcome.rejectedRows.push(...rejectedRows);
		return;
	}
	const stopped = unknown === undefined ? interrupted() : OutcomeUnknown.fromStored(unknown);
	outcome.stopped ??= stopped;
	const reason = reasonOf(stopped, reader);
	for (const index of rows) outcome.rejectedRows.push({ index, status: 'unknown', reason });
}

function readOtherwise(): InvalidInput {
	return new InvalidInput(
		'An earlier try of this execution read the file in another way, so it cannot be told which rows it has sent, and nothing more was sent',
		onScreenOnly(
			'Set Contacts From, Input Binary Field, Delimiter and Encoding back to what they were then, or push the rows that are left in a new execution.',
		),
	);
}

function interrupted(): OutcomeUnknown {
	return new OutcomeUnknown(
		'An earlier try of this execution was interrupted while the request was under way, so it is not known whether it took effect',
		forEveryone(
			'It was not sent a second time. Look at the campaign in the service before you push these rows again.',
		),
	);
}
