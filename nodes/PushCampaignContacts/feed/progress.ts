import type { Additions } from '../../shared/api/endpoints';
import sortBy from 'lodash/sortBy';
import uniq from 'lodash/uniq';
import upperFirst from 'lodash/upperFirst';
import { InvalidInput, OutcomeUnknown } from '../../shared/api/errors';
import { forEveryone, onScreenOnly, readerOf, type Reader } from '../../shared/api/modelAdvice';
import { isAccepted } from '../../shared/phone/campaignPhone';
import type { JsonObject } from '../../shared/json';
import { PhonesByRow, RowsByPhone, type ByRow } from './byRow';
import { cellOf, type Column } from './cells';
import type { Columns } from './columns';
import { reasonOf, type CampaignTarget, type FeedOutcome, type UnsentRow } from './feed';
import { BEGUN_EARLIER, CUT_OFF } from './intake';
import { readPhoneCell, type PreparedFeed } from './prepare';
import {
	emptyRecord,
	feedFingerprint,
	rangesOf,
	rowsIn,
	type FeedRecord,
	type SentRequest,
} from './record';
import type { FeedRows } from './rows';
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
	/** A model may wish again what was skipped or refused, and the same rows with other options. */
	forModel: boolean;
};

export function trySettings(options: TryOptions): TrySettings {
	const { campaign, columns, normalizePhones, removeDuplicates, additions, forModel } = options;
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
		forModel,
		options: optionsFingerprint(campaign, additions),
		fingerprintOf: (contact) => feedFingerprint([...ofAll, contact.toString()]),
	};
}

/** Of what is sent beside the rows. */
export function optionsFingerprint(campaign: CampaignTarget, additions: Additions): string {
	return feedFingerprint([JSON.stringify([campaign, additions])]);
}

/** What becomes of a request that was begun. */
export type BegunRequest = {
	taken: (answer: JsonObject) => void;
	unknown: (error: OutcomeUnknown) => void;
	withoutEffect: () => void;
};

/** What an earlier try leaves to do: `rows` are still to be sent. */
export type Restored = { rows: number[]; outcome: FeedOutcome };

/** `isAll` unless a request of an earlier try had rows that these are not, as in another file. */
export type KnownOutcome = { outcome: FeedOutcome; isAll: boolean };

/** Requests that a long session of a model keeps in this process, beside those whose fate is open. */
const MOST_TAKEN = 1_000;

/** A request with its rows, and by row their numbers as they are now. */
type EarlierRequest = { request: SentRequest; rows: number[]; numbers: PhonesByRow };

export class FeedProgress {
	constructor(readonly record: FeedRecord = emptyRecord()) {}

	/**
	 * Rows are told by their place, and another file, or one that is read in another way, may have others there.
	 *
	 * @throws InvalidInput where it could not be told which rows were sent
	 */
	demandSameReading({ reading }: FeedRows): void {
		const { sent, refused } = this.record;
		if (sent.length + refused.length > 0 && this.record.reading !== reading) throw readOtherwise();
		if (reading !== undefined) this.record.reading = reading;
	}

	/**
	 * Takes over what is settled: a number that was sent to this campaign, or may have been, is not
	 * sent to it again. Rows whose number is another one now are new.
	 */
	async restore(
		feed: FeedRows,
		{ rows, keys, unsentRows, contactsOf }: PreparedFeed,
		settings: TrySettings,
	): Promise<Restored> {
		const outcome: FeedOutcome = {
			received: feed.count,
			pushed: [],
			unsentRows: [...unsentRows],
		};
		const reader = readerOf(settings.forModel);
		const settledRows = new Set<number>();
		const settledNumbers = new RowsByPhone();
		for (const { request, rows: sent, numbers } of await this.requestsOf(feed)) {
			if (request.campaign !== settings.campaign) continue;
			if (settings.forModel && mayBeWishedAgain(request, sent, numbers, settings)) continue;
			const same = sent.filter((row) => keys.at(row) === numbers.at(row));
			for (const row of same) settledRows.add(row);
			for (const row of sent) settledNumbers.set(numbers.at(row), row);
			takeOver(request, same, keys, outcome, reader);
		}
		const refused = this.record.refused
			.filter(({ row, number }) => number === feedFingerprint([keys.at(row)]))
			.sort((one, other) => one.row - other.row);
		const contacts = await contactsOf(refused.map(({ row }) => row));
		for (const [place, { row, reason, settings: under }] of refused.entries()) {
			if (under !== settings.fingerprintOf(contacts.at(place))) continue;
			settledRows.add(row);
			outcome.unsentRows.push({ index: row, status: 'rejected', reason });
		}
		for (const row of this.cutOffRows(keys, settings.campaign)) {
			settledRows.add(row);
			outcome.unsentRows.push({
				index: row,
				status: 'unknown',
				reason: this.reasonOfCutOff(reader),
			});
		}
		if (settledRows.size === 0 && settledNumbers.size === 0) return { rows, outcome };
		const open = rows.filter((row) => !settledRows.has(row));
		if (!settings.removeDuplicates) return { rows: open, outcome };
		const elsewhere = (row: number) => settledNumbers.get(keys.at(row));
		for (const index of open) {
			const other = elsewhere(index);
			if (other === undefined) continue;
			const sent = settings.forModel
				? 'it was sent before'
				: 'an earlier try of this execution sent it';
			const reason = `${upperFirst(feed.names.one(other))} has the same phone number, and ${sent}.`;
			outcome.unsentRows.push({ index, status: 'duplicate', reason });
		}
		return { rows: open.filter((row) => elsewhere(row) === undefined), outcome };
	}

	/** What was done for these rows in any campaign, where there is no more to go by. */
	async known(feed: FeedRows): Promise<KnownOutcome> {
		const outcome: FeedOutcome = { received: feed.count, pushed: [], unsentRows: [] };
		const found = await this.requestsOf(feed);
		for (const { request, rows, numbers } of found)
			takeOver(request, rows, numbers, outcome, 'onScreen');
		const sent = new Set(found.flatMap(({ rows }) => rows));
		for (const index of rowsIn(this.record.cutOff?.rows ?? [])) {
			if (index >= feed.count || sent.has(index)) continue;
			outcome.unsentRows.push({
				index,
				status: 'unknown',
				reason: this.reasonOfCutOff('onScreen'),
			});
		}
		return { outcome, isAll: found.length === this.record.sent.length };
	}

	/** Notes a request before it leaves: whatever happens then, its rows are not sent again. */
	begin(rows: readonly number[], keys: ByRow<string>, settings: TrySettings): BegunRequest {
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

	refuse(
		{ index, reason }: UnsentRow,
		contact: Buffer,
		keys: ByRow<string>,
		settings: TrySettings,
	): void {
		if (settings.forModel) return;
		const number = feedFingerprint([keys.at(index) ?? '']);
		const under = settings.fingerprintOf(contact);
		this.record.refused.push({ settings: under, row: index, number, reason });
	}

	/** Rows that were under way when an earlier run or attempt was cut off, which shows only once. */
	cutOff(unknown: readonly UnsentRow[], keys: ByRow<string>, { campaign }: TrySettings): void {
		const [first] = unknown;
		if (first === undefined) return;
		const before = this.cutOffRows(keys, campaign);
		const rows = sortBy(uniq([...before, ...unknown.map(({ index }) => index)]));
		this.record.cutOff = {
			campaign,
			rows: rangesOf(rows),
			numbers: numbersOf(rows, keys),
			...(Object.values(BEGUN_EARLIER).includes(first.reason) && { byAttempt: true }),
		};
	}

	private reasonOfCutOff(reader: Reader): string {
		return (this.record.cutOff?.byAttempt === true ? BEGUN_EARLIER : CUT_OFF)[reader];
	}

	private cutOffRows(keys: ByRow<string>, campaign: number): number[] {
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
	private async requestsOf(feed: FeedRows): Promise<EarlierRequest[]> {
		const found: EarlierRequest[] = [];
		/** One for each way in which numbers were read. */
		const readings = new Map<string, PhonesByRow>();
		for (const request of this.record.sent) {
			const rows = rowsIn(request.rows);
			if ((rows.at(-1) ?? 0) >= feed.count) continue;
			const { normalized } = request;
			const columns = request.columns?.map((name) => ({ name })) ?? [columnIn(request)];
			const key = JSON.stringify([columns, normalized]);
			const numbers = readings.get(key) ?? new PhonesByRow();
			readings.set(key, numbers);
			await feed.pick(rows, (row, index, _unusable, file = 0) => {
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
	return feedFingerprint(rows.map((row) => keys.at(row) ?? ''));
}

function columnIn({ column: name, path }: SentRequest): Column {
	return path === undefined ? { name } : { name, path };
}

/** Whether the request was another wish of the model, or brought nobody into the campaign. */
function mayBeWishedAgain(
	{ answer, options }: SentRequest,
	rows: readonly number[],
	numbers: ByRow<string>,
	settings: TrySettings,
): boolean {
	if (answer === undefined) return false;
	if (options !== settings.options) return true;
	return pushedRequest(rows, answer, numbers).request.rows.length === 0;
}

/** Puts the rows of an earlier request where they were. */
function takeOver(
	{ answer, unknown }: SentRequest,
	rows: readonly number[],
	keys: ByRow<string>,
	outcome: FeedOutcome,
	reader: Reader,
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
	const reason = reasonOf(stopped, reader);
	for (const index of rows) outcome.unsentRows.push({ index, status: 'unknown', reason });
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
