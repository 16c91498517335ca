import upperFirst from 'lodash/upperFirst';
import { InvalidInput, type OutcomeUnknown } from '../../shared/api/errors';
import { onScreenOnly, readerOf, type Reader } from '../../shared/api/resolution';
import type { JsonObject } from '../../shared/json';
import type { AttemptSettings } from './attemptSettings';
import type { BegunRows } from './begunRows';
import { PhonesByRow, type ByRow } from './phonesByRow';
import { RowsOfSentPhones } from './rowsByPhone';
import { RejectedRows, type RejectedGroup, type RejectedRow } from './rejectedRows';
import { RowSet } from './rowSet';
import { ROWS_PER_YIELD, type PushOutcome } from './pushTypes';
import { BEGUN_EARLIER } from './rowQueue';
import type { PreparedRows } from './prepareRows';
import {
	emptyCheckpoint,
	rowsFingerprint,
	type PushCheckpoint,
	type RejectedRowRecord,
	type SentRequest,
} from './checkpoint';
import { findEarlierRequests, numbersOf, restoreRequest, restoreRequests } from './earlierRequests';
import type { RowSource } from './rows';

/** Records the result of a request. */
export type RequestTracker = {
	accepted: (response: JsonObject) => void;
	unknown: (error: OutcomeUnknown) => void;
	/** The request had no effect. */
	discard: () => void;
};

/** The results of earlier attempts. `rows` are still to be sent. */
export type Restored = { outcome: PushOutcome; rows: RowSet };

/**
 * `phones` are by row, as sent. `isComplete`: all earlier requests match these rows. False for another file or edited
 * contacts, for example.
 */
export type KnownOutcome = { outcome: PushOutcome; phones: ByRow<string>; isComplete: boolean };

type FindPushed = (rows: readonly number[]) => Promise<readonly number[]>;

/** Accepted requests to keep in a long session of a model. Requests with an unknown outcome are always kept. */
const MAX_REQUESTS = 1_000;

export class PushProgress {
	constructor(readonly record: PushCheckpoint = emptyCheckpoint()) {}

	/**
	 * Rows are stored by index. Another file, or the same one read differently, may have other rows at these indexes.
	 *
	 * @throws InvalidInput if the node couldn't know which rows were sent
	 */
	requireSameFile({ reading }: RowSource): void {
		const { sent, rejected } = this.record;
		if (sent.length + rejected.length > 0 && this.record.reading !== reading) throw readOtherwise();
		if (reading !== undefined) this.record.reading = reading;
	}

	/**
	 * Restores earlier results: a number that was or may have been sent to this campaign isn't sent again. A row with another
	 * usable number is new.
	 *
	 * @param pushedSince which of some rows were pushed since by another execution. These aren't restored.
	 * @throws InvalidInput if the file has other rows, so that the node couldn't know which were sent
	 */
	async restore(
		source: RowSource,
		prepared: PreparedRows,
		settings: AttemptSettings,
		pushedSince?: FindPushed,
	): Promise<Restored> {
		const outcome = nothingKnown(source);
		const sentPhones = new RowsOfSentPhones();
		const earlier = await findEarlierRequests(this.record.sent, source);
		const isComplete = earlier.length === this.record.sent.length;
		if (!isComplete && source.reading !== undefined) throw readOtherwise();
		const sent = restoreRequests(earlier, prepared, settings, sentPhones, outcome);
		for (const row of prepared.rejectedRows.single) {
			if (!sent.has(row.index)) outcome.rejectedRows.add(row);
		}
		const interrupted = RowSet.of(this.interruptedRows(prepared.keys, settings.campaign));
		this.restoreInterrupted(interrupted, outcome, readerOf(settings.isTool));
		const sentOrUnknown = RowSet.union([sent, interrupted]);
		const notPushed = await this.rejectedRows(prepared, sentOrUnknown, settings, pushedSince);
		for (const { row, reason } of notPushed) {
			outcome.rejectedRows.add({ index: row, status: 'rejected', reason });
		}
		const rejected = RowSet.ofRanges(notPushed.flatMap(({ row }) => [row, row]));
		const settled = RowSet.union([sentOrUnknown, rejected]);
		const unsettled = prepared.rows.without(settled);
		if (sentPhones.size === 0) return { rows: unsettled, outcome };
		const unsent = new RowSet();
		let checked = 0;
		for (const index of unsettled) {
			if (checked++ % ROWS_PER_YIELD === 0) await source.yieldToEventLoop();
			const other = sentPhones.get(prepared.keys.at(index));
			if (other === undefined) {
				unsent.add(index);
				continue;
			}
			const when = settings.isTool
				? 'it was sent before'
				: 'an earlier attempt of this execution sent it';
			const reason = `${upperFirst(source.names.one(other))} has the same phone number, and ${when}.`;
			outcome.rejectedRows.add({ index, status: 'duplicate', reason });
		}
		return { rows: unsent, outcome };
	}

	/** The earlier results of these rows in any campaign, if the settings can't be read. */
	async known(source: RowSource): Promise<KnownOutcome> {
		const outcome = nothingKnown(source);
		const phones = new PhonesByRow();
		const found = await findEarlierRequests(this.record.sent, source);
		for (const { request, rows, numbers } of found) {
			restoreRequest(request, [...rows], numbers.keys, outcome, 'onScreen');
			for (const row of rows) phones.set(row, numbers.phones.at(row));
		}
		const sent = RowSet.ofRanges(found.flatMap(({ request }) => request.rows));
		const { rows = [] } = this.record.interrupted ?? {};
		const interrupted = RowSet.ofRanges(rows)
			.within(0, source.count - 1)
			.without(sent);
		this.restoreInterrupted(interrupted, outcome, 'onScreen');
		return { outcome, phones, isComplete: found.length === this.record.sent.length };
	}

	/** Records a request before it is sent, so that its rows aren't sent again if n8n is interrupted. */
	begin(rows: readonly number[], keys: ByRow<string>, settings: AttemptSettings): RequestTracker {
		const request: SentRequest = {
			campaign: settings.campaign,
			rows: RowSet.of(rows).toRanges(),
			numbers: numbersOf(rows, keys),
			column: settings.column.name,
			...(settings.column.path !== undefined && { path: [...settings.column.path] }),
			...(settings.columns !== undefined && { columns: [...settings.columns] }),
			options: settings.options,
		};
		this.record.sent.push(request);
		return {
			accepted: (response) => {
				request.response = response;
				if (settings.isTool) this.evictOldest();
			},
			unknown: (error) => {
				request.unknown = error.toStored();
			},
			discard: () => {
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
		const fingerprint = settings.fingerprintOf(contact);
		this.record.rejected.push({ settings: fingerprint, row: index, number, reason });
	}

	/** Records rows of an interrupted run or attempt, because the store reports them only once. */
	interrupted(unknown: RejectedGroup, keys: ByRow<string>, { campaign }: AttemptSettings): void {
		if (unknown.rows.size === 0) return;
		const before = RowSet.of(this.interruptedRows(keys, campaign));
		const rows = RowSet.union([before, unknown.rows]);
		this.record.interrupted = {
			campaign,
			rows: rows.toRanges(),
			numbers: numbersOf([...rows], keys),
		};
	}

	/** Records the rows that an earlier attempt began. Must not wait, because a later attempt doesn't find them again. */
	addBegun(begun: BegunRows, keys: ByRow<string>, settings: AttemptSettings): void {
		const reason = BEGUN_EARLIER[readerOf(settings.isTool)];
		this.interrupted({ rows: begun.begunRows(), status: 'unknown', reason }, keys, settings);
	}

	/** The rows that the service rejected and that haven't changed. */
	private async rejectedRows(
		{ keys, contactsOf }: PreparedRows,
		sentOrUnknown: RowSet,
		settings: AttemptSettings,
		pushedSince?: FindPushed,
	): Promise<RejectedRowRecord[]> {
		const rejected = this.record.rejected
			.filter(({ row }) => !sentOrUnknown.has(row))
			.filter(({ row, number }) => number === rowsFingerprint([keys.at(row)]))
			.sort((one, other) => one.row - other.row);
		const contacts = await contactsOf(rejected.map(({ row }) => row));
		const same = rejected.filter(
			(entry, position) => entry.settings === settings.fingerprintOf(contacts.at(position)),
		);
		if (same.length === 0 || pushedSince === undefined) return same;
		const pushed = new Set(await pushedSince(same.map(({ row }) => row)));
		return same.filter(({ row }) => !pushed.has(row));
	}

	private restoreInterrupted(rows: RowSet, { rejectedRows }: PushOutcome, reader: Reader): void {
		rejectedRows.addAll({ rows, status: 'unknown', reason: BEGUN_EARLIER[reader] });
	}

	private interruptedRows(keys: ByRow<string>, campaign: number): number[] {
		const { interrupted } = this.record;
		if (interrupted?.campaign !== campaign) return [];
		const rows = [...RowSet.ofRanges(interrupted.rows)];
		return numbersOf(rows, keys) === interrupted.numbers ? rows : [];
	}

	private evictOldest(): void {
		const accepted = this.record.sent.filter(({ response }) => response !== undefined);
		const [oldest] = accepted;
		if (accepted.length <= MAX_REQUESTS) return;
		this.record.sent = this.record.sent.filter((other) => other !== oldest);
	}
}

function nothingKnown({ count }: RowSource): PushOutcome {
	return { received: count, pushed: [], rejectedRows: new RejectedRows() };
}

function readOtherwise(): InvalidInput {
	return new InvalidInput(
		"An earlier attempt of this execution read another file, or read it differently, so the node can't know which rows it sent. No more rows were sent",
		onScreenOnly(
			"Use the same file again, and restore 'Contacts From', 'Input Binary Field', 'Delimiter', and 'Encoding'. Or push the remaining rows in a new execution.",
		),
	);
}
