import { ExplainedError, InvalidInput, ServiceRejection } from '../../shared/api/errors';
import { onScreenOnly, readerOf, type Reader } from '../../shared/api/resolution';
import type { PreparedRows } from './prepareRows';
import type { AttemptSettings } from './attemptSettings';
import type { PushProgress } from './progress';
import type { PushOptions } from './pushOptions';
import { reasonOf, type PushOutcome } from './pushTypes';
import type { RejectedRow, RowStatus } from './rejectedRows';
import {
	candidatesFor,
	indexBaseOf,
	isAboutContacts,
	probeFor,
	rejected,
	rowsAtIndexes,
	type IndexBase,
	type NamedIndexes,
	type Probe,
} from './rejectedIndexes';
import { RequestSender } from './requestSender';
import { orExplained, STILL_STORED, type RowQueue } from './rowQueue';

/** Rejected rows per request. If there are more, the cause is probably a setting, not the rows. */
export const MAX_REJECTED_ROWS = 100;
/** Rows of one request to send alone, if the service may only have quoted the text of a row. */
export const MAX_ROWS_SENT_ALONE = 20;
const PAYLOAD_TOO_LARGE = 413;
/** Rows with these statuses are certainly not in the campaign. */
const WITHOUT_EFFECT = new Set<RowStatus>(['rejected', 'do_not_disturb', 'not_sent']);

/** The remaining rows of a rejected request, unless the push must stop. */
type RemainingRows = { remaining: number[]; stopped?: ExplainedError };

/** Sends one request after another, and finds out which rows the service rejects. */
export class PushRunner {
	/** Contacts per request. Reduced if the service rejects a request as too large. */
	private size: number;
	/** In the current request, including its parts. */
	private rejectedCount = 0;
	/** In the current request, to find out which row the service means. */
	private rowsSentAlone = 0;
	private readonly sender: RequestSender;

	constructor(
		private readonly prepared: PreparedRows,
		options: PushOptions,
		private readonly settings: AttemptSettings,
		private readonly progress: PushProgress,
		private readonly outcome: PushOutcome,
		private readonly queue: RowQueue,
	) {
		this.size = options.contactsPerRequest;
		this.sender = new RequestSender(prepared, options, settings, progress, outcome, () =>
			queue.peek(this.size),
		);
	}

	async push(): Promise<void> {
		const { queue } = this;
		const stopped = await this.pushAll().finally(async () => await this.sender.end());
		if (stopped !== undefined) this.outcome.stopped ??= stopped;
		const closed = await orExplained(queue.close());
		if (closed instanceof ExplainedError) this.outcome.stopped ??= closed;
		const skipped = queue.skipped();
		for (const group of skipped) {
			this.outcome.rejectedRows.addAll(group);
			if (group.status === 'unknown') {
				this.progress.interrupted(group, this.prepared.keys, this.settings);
			}
		}
	}

	/** @returns why the push stops */
	private async pushAll(): Promise<ExplainedError | undefined> {
		const { queue } = this;
		for (;;) {
			const interrupted = this.sender.interrupted();
			if (interrupted !== undefined) {
				this.addRemaining(interrupted);
				return interrupted;
			}
			const request = await orExplained(queue.take(this.size));
			if (request instanceof ExplainedError) {
				const [status, reason] = [statusAfter(request), reasonOf(request, this.reader)];
				this.outcome.rejectedRows.addAll({ rows: queue.remaining(), status, reason });
				return request;
			}
			if (request.length === 0) return undefined;
			this.rejectedCount = 0;
			this.rowsSentAlone = 0;
			const rejectedBefore = this.outcome.rejectedRows.single.length;
			const loaded = await orExplained(this.sender.load(request));
			const stopped =
				loaded instanceof ExplainedError
					? this.stop(request, loaded)
					: await this.pushRequest(request);
			// The service accepts requests of this size.
			const { largestAccepted } = this.sender;
			if (this.size < request.length && largestAccepted > 0) this.size = largestAccepted;
			const withoutEffect = this.outcome.rejectedRows.single
				.slice(rejectedBefore)
				.filter(({ status }) => WITHOUT_EFFECT.has(status));
			const released = withoutEffect.map(({ index }) => index);
			const failed = await orExplained(queue.settle(request, released));
			if (failed instanceof ExplainedError) {
				for (const row of withoutEffect) row.reason += ` ${STILL_STORED[this.reader]}`;
			}
			const end = stopped ?? (failed instanceof ExplainedError ? failed : undefined);
			if (end === undefined) continue;
			this.addRemaining(end);
			return end;
		}
	}

	/** Pushes the rows without those that the service rejects. @returns why the push stops */
	private async pushRequest(request: readonly number[]): Promise<ExplainedError | undefined> {
		let rows = request;
		while (rows.length > 0) {
			const error = await this.sender.send(rows);
			if (error === undefined) return undefined;
			if (isPayloadTooLarge(error)) return await this.pushHalves(rows, error);
			const named = this.sender.namedIn(error);
			const isRepeated = named.certain.size === 0 && named.doubtful.size > 0;
			const { remaining, stopped } = isRepeated
				? await this.findRejected(named, rows, error)
				: await this.rejectNamed(named.certain, rows, error);
			if (stopped !== undefined) return stopped;
			rows = remaining;
			if (this.hasRejectedTooMany() && rows.length > 0) return this.stop(rows, tooManyRejected());
		}
		return undefined;
	}

	/** Rejects the rows that the service names. Finds out first whether it counts from 0 or 1. */
	private async rejectNamed(
		named: ReadonlyMap<number, string>,
		rows: readonly number[],
		error: ExplainedError,
	): Promise<RemainingRows> {
		this.learnIndexBase(indexBaseOf(named, rows.length));
		const probe =
			this.indexBase === undefined ? probeFor(named, rows, this.prepared.keys) : undefined;
		if (probe !== undefined) {
			const stopped = await this.sendAlone(probe);
			if (stopped !== undefined) {
				const others = rows.filter((row) => row !== probe.row);
				this.addNotSent(others, stopped);
				return { remaining: [], stopped };
			}
		}
		const rejected = rowsAtIndexes(named, rows, this.indexBase).filter(
			({ index }) => index !== probe?.row,
		);
		for (const row of rejected) this.reject(row);
		const settled = new Set([probe?.row, ...rejected.map(({ index }) => index)]);
		const remaining = rows.filter((row) => !settled.has(row));
		return remaining.length < rows.length
			? { remaining }
			: { remaining: [], stopped: this.stop(rows, error) };
	}

	/**
	 * Sends each row that the service may mean alone, until it rejects one. Accepted rows are in the campaign. They don't show
	 * how the service counts, because it may only have quoted the text of a row.
	 */
	private async findRejected(
		named: NamedIndexes,
		rows: readonly number[],
		error: ExplainedError,
	): Promise<RemainingRows> {
		const rejectedBefore = this.rejectedCount;
		const candidates = candidatesFor(named, rows, this.indexBase);
		const [row] = candidates;
		if (row !== undefined && rows.length === 1) {
			this.rejectAlone(row, named);
			return { remaining: [] };
		}
		let remaining = [...rows];
		for (const row of candidates) {
			if (this.rowsSentAlone++ >= MAX_ROWS_SENT_ALONE || this.hasRejectedTooMany()) break;
			remaining = remaining.filter((other) => other !== row);
			const stopped = await this.sendAlone({ row });
			if (stopped !== undefined) {
				this.addNotSent(remaining, stopped);
				return { remaining: [], stopped };
			}
			if (this.rejectedCount > rejectedBefore) return { remaining };
		}
		return remaining.length < rows.length
			? { remaining }
			: { remaining: [], stopped: this.stop(rows, error) };
	}

	/**
	 * Sends a row alone. If it is accepted, it is in the campaign, and the service meant another row. If it is rejected, its
	 * index shows how the service counts.
	 */
	private async sendAlone({ row, ifAccepted }: Probe): Promise<ExplainedError | undefined> {
		const error = await this.sender.send([row]);
		if (error === undefined) {
			this.learnIndexBase(ifAccepted);
			return undefined;
		}
		if (isPayloadTooLarge(error)) return this.rejectTooLarge(row, error);
		if (!isAboutContacts(error)) return this.stop([row], error);
		this.rejectAlone(row, this.sender.namedIn(error), error.rejection.texts.join(' · '));
		return undefined;
	}

	/** Rejects a row that was sent alone. */
	private rejectAlone(row: number, { certain, doubtful }: NamedIndexes, words = ''): void {
		this.learnIndexBase(indexBaseOf(certain, 1));
		const [text = words] = [...certain.values(), ...doubtful.values()];
		this.reject(rejected(row, text));
	}

	/** Splits a request that is too large. The service accepted none of its contacts. */
	private async pushHalves(
		rows: readonly number[],
		error: ExplainedError,
	): Promise<ExplainedError | undefined> {
		const [only] = rows;
		if (only === undefined || rows.length === 1) return this.rejectTooLarge(only ?? 0, error);
		const half = Math.ceil(rows.length / 2);
		this.size = Math.min(this.size, half);
		const stopped = await this.pushRequest(rows.slice(0, half));
		if (stopped === undefined) return await this.pushRequest(rows.slice(half));
		this.addNotSent(rows.slice(half), stopped);
		return stopped;
	}

	private get reader(): Reader {
		return readerOf(this.settings.isTool);
	}

	private get indexBase(): IndexBase | undefined {
		return this.progress.record.indexBase;
	}

	private learnIndexBase(indexBase: IndexBase | undefined): void {
		if (indexBase !== undefined) this.progress.record.indexBase ??= indexBase;
	}

	private reject(row: RejectedRow): void {
		this.rejectedCount++;
		this.outcome.hasRejections = true;
		this.outcome.rejectedRows.add(row);
		const contact = this.sender.contactOf(row.index);
		this.progress.reject(row, contact, this.prepared.keys, this.settings);
	}

	private rejectTooLarge(row: number, error: ExplainedError): ExplainedError | undefined {
		const originalMessage =
			error.originalMessage === undefined ? '' : ` The service said: ${error.originalMessage}`;
		const advice = this.settings.isTool
			? 'Shorten its texts.'
			: 'Shorten its texts, or send fewer columns.';
		const reason = `The row is too large for the service, even in a request of its own. ${advice}${originalMessage}`;
		this.reject({ index: row, status: 'rejected', reason });
		return this.hasRejectedTooMany() ? tooManyRejected() : undefined;
	}

	private hasRejectedTooMany(): boolean {
		return this.rejectedCount > MAX_REJECTED_ROWS;
	}

	private stop(rows: readonly number[], error: ExplainedError): ExplainedError {
		this.addRows(rows, statusAfter(error), reasonOf(error, this.reader));
		return error;
	}

	/** The rows that were not taken. */
	private addRemaining(stopped: ExplainedError): void {
		const rows = this.queue.remaining();
		const reason = this.whyNotSent(stopped);
		this.outcome.rejectedRows.addAll({ rows, status: 'not_sent', reason });
	}

	private addNotSent(rows: readonly number[], stopped: ExplainedError): void {
		this.addRows(rows, 'not_sent', this.whyNotSent(stopped));
	}

	private whyNotSent(stopped: ExplainedError): string {
		return stopped.outcome === 'unknown'
			? `The push stopped at an earlier request, before it reached this row: ${stopped.message}. You can push this row again.`
			: reasonOf(stopped, this.reader);
	}

	private addRows(rows: readonly number[], status: RowStatus, reason: string): void {
		for (const index of rows) this.outcome.rejectedRows.add({ index, status, reason });
	}
}

/** The status of rows whose request failed. */
function statusAfter({ outcome }: ExplainedError): RowStatus {
	return outcome === 'unknown' ? 'unknown' : 'not_sent';
}

function isPayloadTooLarge(error: ExplainedError): boolean {
	return error instanceof ServiceRejection && error.status === PAYLOAD_TOO_LARGE;
}

function tooManyRejected(): ExplainedError {
	return new InvalidInput(
		`The service rejected more than ${MAX_REJECTED_ROWS} rows of one request, so the remaining rows weren't sent`,
		onScreenOnly(
			"Check the reasons of the rejected rows. They probably have the same cause, such as a wrong 'Phone Column'.",
		),
	);
}
