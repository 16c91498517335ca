import sortedIndexOf from 'lodash/sortedIndexOf';
import type { ApiClient } from '../../shared/api/client';
import { CONTACTS_RESPONSE_FIELDS, pushContacts } from '../../shared/api/endpoints';
import { recordOf } from '../../shared/api/envelope';
import {
	ExplainedError,
	InvalidInput,
	OutcomeUnknown,
	ServiceRejection,
} from '../../shared/api/errors';
import { onScreenOnly, readerOf, type Reader } from '../../shared/api/modelAdvice';
import type { JsonObject } from '../../shared/json';
import { requireConsistentCounts } from './responseCounts';
import { BegunRows, type BegunRowsOptions } from './begunRows';
import { reasonOf, type PushOutcome, type RejectedRow, type RowStatus } from './pushTypes';
import type { DeduplicationStore } from '../../shared/deduplicationStore';
import { PushedNumbers } from './pushedNumbers';
import { AllRows, NewNumbersOnly, orExplained, STILL_STORED, type RowQueue } from './rowQueue';
import {
	candidatesFor,
	indexBaseOf,
	isAboutContacts,
	namedIndexes,
	probeFor,
	rejected,
	rowsAtIndexes,
	RepeatableText,
	type IndexBase,
	type NamedIndexes,
	type Probe,
} from './rejectedIndexes';
import type { ListsBefore, ContactListFinder } from './findContactList';
import type { PreparedRows } from './prepareRows';
import { Prefetcher } from './prefetcher';
import {
	PushProgress,
	attemptSettings,
	type RequestTracker,
	type AttemptOptions,
	type AttemptSettings,
} from './progress';
import type { RowSource } from './rows';
import type { SentNumbers } from './sentNumbers';
import { pushedRequest } from './skippedRows';
import { ContactBuffer } from './contactBuffer';

/** Rejected rows per request. If there are more, the cause is probably a setting, not the rows. */
export const MAX_REJECTED_ROWS = 100;
/** Rows of one request to send alone, if the service may only have quoted the text of a row. */
export const MAX_ROWS_SENT_ALONE = 20;
const PAYLOAD_TOO_LARGE = 413;
/** Rows with these statuses are certainly not in the campaign. */
const WITHOUT_EFFECT = new Set<RowStatus>(['rejected', 'do_not_disturb', 'not_sent']);

/** The part of the options that all runs of the node share. */
export type BegunLog = Pick<BegunRowsOptions, 'log' | 'memory' | 'executionId'>;

export type PushOptions = AttemptOptions & {
	client: ApiClient;
	/** At most 10,000, the documented limit. */
	contactsPerRequest: number;
	/** Checked before each request: whether the execution was stopped. */
	stopRequested: () => boolean;
	/** Records rows before they are sent, for a retry of the execution. */
	begun?: BegunLog | undefined;
	/** Numbers that other runs of the node pushed in this execution. */
	sentNumbers?: SentNumbers | undefined;
	/** For *Skip Numbers Pushed Before*: numbers that earlier runs pushed. */
	numberStore?: DeduplicationStore | undefined;
	/** With `numberStore`: an earlier attempt of the execution pushed without it, so any row may be in the campaign. */
	isAnotherPush?: boolean;
	/** Looks for the contact list of a request whose outcome is unknown. */
	lookUp?: ContactListFinder | undefined;
};

/**
 * Sends the prepared rows in requests of limited size, one after another. Stops at the first request that didn't certainly
 * succeed. The outcome reports what happened to a request, so this doesn't throw for it. Rows that `progress` has from
 * earlier attempts aren't sent again.
 */
export async function pushToCampaign(
	source: RowSource,
	prepared: PreparedRows,
	options: PushOptions,
	progress = new PushProgress(),
): Promise<PushOutcome> {
	const settings = attemptSettings(options);
	const { rows: unsettled, outcome } = await progress.restore(source, prepared, settings);
	const { numberStore, campaign, sentNumbers } = options;
	const isOnce = settings.removeDuplicates || settings.isTool;
	const rows = isOnce
		? (sentNumbers?.leaveOut(unsettled, prepared, outcome) ?? unsettled)
		: unsettled;
	outcome.enqueue = campaign.enqueue;
	const begun = begunRowsOptions(options, progress);
	const reader = readerOf(settings.isTool);
	const queue =
		numberStore === undefined
			? new AllRows(
					rows,
					reader,
					begun && new BegunRows(begun, prepared, options.contactsPerRequest),
				)
			: new NewNumbersOnly(
					rows,
					new PushedNumbers(numberStore, campaign.id, prepared.keys),
					reader,
					options.isAnotherPush === true,
				);
	await new PushRunner(prepared, options, settings, progress, outcome, queue).push();
	sentNumbers?.add(outcome, prepared);
	outcome.rejectedRows.sort((one, other) => one.index - other.index);
	return outcome;
}

/** Undefined if n8n stores nothing to retry. */
export function begunRowsOptions(
	{ begun, campaign, isTool }: PushOptions,
	{ record }: PushProgress,
): BegunRowsOptions | undefined {
	// Each list of contacts from a model is a separate push.
	return begun && { ...begun, campaign: campaign.id, push: isTool ? {} : record };
}

/** The remaining rows of a rejected request, unless the push must stop. */
type RemainingRows = { remaining: number[]; stopped?: ExplainedError };

class PushRunner {
	/** Contacts per request. Reduced if the service rejects a request as too large. */
	private size: number;
	/** In the current request, including its parts. */
	private rejectedCount = 0;
	/** In the current request, to find out which row the service means. */
	private rowsSentAlone = 0;
	private largestAccepted = 0;
	/** The current request, before it was split. */
	private current: {
		rows: readonly number[];
		contacts: ContactBuffer;
		/** Created for the first rejection. */
		repeatable?: RepeatableText;
	} = { rows: [], contacts: new ContactBuffer(0) };
	private readonly prefetcher: Prefetcher;

	constructor(
		private readonly prepared: PreparedRows,
		private readonly options: PushOptions,
		private readonly settings: AttemptSettings,
		private readonly progress: PushProgress,
		private readonly outcome: PushOutcome,
		private readonly queue: RowQueue,
	) {
		this.size = options.contactsPerRequest;
		this.prefetcher = new Prefetcher(prepared.contactsOf);
	}

	async push(): Promise<void> {
		const { queue } = this;
		const stopped = await this.pushAll().finally(async () => await this.prefetcher.end());
		if (stopped !== undefined) this.outcome.stopped ??= stopped;
		const closed = await orExplained(queue.close());
		if (closed instanceof ExplainedError) this.outcome.stopped ??= closed;
		const skipped = queue.skipped();
		const interrupted = skipped.filter(({ status }) => status === 'unknown');
		this.progress.interrupted(interrupted, this.prepared.keys, this.settings);
		for (const row of skipped) this.outcome.rejectedRows.push(row);
	}

	/** @returns why the push stops */
	private async pushAll(): Promise<ExplainedError | undefined> {
		const { queue } = this;
		for (;;) {
			if (this.options.stopRequested()) {
				const stopped = pushInterrupted(this.settings);
				this.addNotSent(queue.remaining(), stopped);
				return stopped;
			}
			const request = await orExplained(queue.take(this.size));
			if (request instanceof ExplainedError) {
				this.stop(queue.remaining(), request);
				return request;
			}
			if (request.length === 0) return undefined;
			this.rejectedCount = 0;
			this.rowsSentAlone = 0;
			this.largestAccepted = 0;
			const rejectedBefore = this.outcome.rejectedRows.length;
			const loaded = await orExplained(this.loadContacts(request));
			const stopped =
				loaded instanceof ExplainedError
					? this.stop(request, loaded)
					: await this.pushRequest(request);
			// The service accepts requests of this size.
			if (this.size < request.length && this.largestAccepted > 0) this.size = this.largestAccepted;
			const withoutEffect = this.outcome.rejectedRows
				.slice(rejectedBefore)
				.filter(({ status }) => WITHOUT_EFFECT.has(status));
			const released = withoutEffect.map(({ index }) => index);
			const failed = await orExplained(queue.settle(request, released));
			if (failed instanceof ExplainedError) {
				for (const row of withoutEffect) row.reason += ` ${STILL_STORED[this.reader]}`;
			}
			const end = stopped ?? (failed instanceof ExplainedError ? failed : undefined);
			if (end === undefined) continue;
			this.addNotSent(queue.remaining(), end);
			return end;
		}
	}

	/** Pushes the rows without those that the service rejects. @returns why the push stops */
	private async pushRequest(request: readonly number[]): Promise<ExplainedError | undefined> {
		let rows = request;
		while (rows.length > 0) {
			const error = await this.send(rows);
			if (error === undefined) return undefined;
			if (isPayloadTooLarge(error)) return await this.pushHalves(rows, error);
			const named = this.named(error);
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

	private named(error: ExplainedError): NamedIndexes {
		this.current.repeatable ??= RepeatableText.of(
			this.current.contacts.all(),
			this.options.additions,
		);
		return namedIndexes(error, this.current.repeatable);
	}

	/**
	 * Sends a row alone. If it is accepted, it is in the campaign, and the service meant another row. If it is rejected, its
	 * index shows how the service counts.
	 */
	private async sendAlone({ row, ifAccepted }: Probe): Promise<ExplainedError | undefined> {
		const error = await this.send([row]);
		if (error === undefined) {
			this.learnIndexBase(ifAccepted);
			return undefined;
		}
		if (isPayloadTooLarge(error)) return this.rejectTooLarge(row, error);
		if (!isAboutContacts(error)) return this.stop([row], error);
		this.rejectAlone(row, this.named(error), error.rejection.texts.join(' · '));
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

	/** Sends rows as one request and records the result. */
	private async send(rows: readonly number[]): Promise<ExplainedError | undefined> {
		const { lookUp, stopRequested } = this.options;
		if (stopRequested()) return pushInterrupted(this.settings);
		const before = lookUp === undefined ? undefined : await orExplained(lookUp.listsBefore());
		if (before instanceof ExplainedError) return before;
		const tracker = this.progress.begin(rows, this.prepared.keys, this.settings);
		const pending = this.request(rows).catch((error: unknown) =>
			// An unexpected error may occur after the request was sent.
			error instanceof ExplainedError ? error : unexpectedError(error),
		);
		this.prefetcher.begin(this.queue.peek(this.size));
		const response = await pending;
		if (!(response instanceof ExplainedError)) {
			this.accept(rows, tracker, response);
			return undefined;
		}
		if (!(response instanceof OutcomeUnknown)) {
			tracker.discard();
			return response;
		}
		tracker.unknown(response);
		if (before === undefined) return response;
		return await this.lookUp(rows, tracker, response, before);
	}

	private accept(rows: readonly number[], tracker: RequestTracker, response: JsonObject): void {
		tracker.accepted(response);
		const { request, rejectedRows } = pushedRequest(rows, response, this.prepared.keys);
		this.outcome.pushed.push(request);
		this.outcome.rejectedRows.push(...rejectedRows);
		this.largestAccepted = Math.max(this.largestAccepted, rows.length);
	}

	/** Looks for a request with an unknown outcome in the campaign. Doesn't send it again. */
	private async lookUp(
		rows: readonly number[],
		tracker: RequestTracker,
		error: OutcomeUnknown,
		before: ListsBefore,
	): Promise<ExplainedError | undefined> {
		const found = await this.options.lookUp?.find(error, rows.length, before);
		if (found === undefined) return error;
		if (found instanceof OutcomeUnknown) {
			tracker.unknown(found);
			return found;
		}
		this.accept(rows, tracker, found);
		return undefined;
	}

	private async loadContacts(rows: readonly number[]): Promise<void> {
		this.current = { rows, contacts: await this.prefetcher.contacts(rows) };
	}

	private positionOf(row: number): number {
		return sortedIndexOf(this.current.rows, row);
	}

	private async request(rows: readonly number[]): Promise<JsonObject> {
		const { client, campaign, additions } = this.options;
		const { current } = this;
		const contacts =
			rows === current.rows
				? current.contacts.all()
				: current.contacts.some(rows.map((row) => this.positionOf(row)));
		const body = { agent_uuid: campaign.agentUuid, enqueue: campaign.enqueue };
		const response = await pushContacts(client, campaign.id, body, contacts, additions);
		const record = recordOf(response, CONTACTS_RESPONSE_FIELDS);
		requireConsistentCounts(record, rows, this.prepared.keys);
		return record;
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
		this.outcome.rejectedRows.push(row);
		const contact = this.current.contacts.at(this.positionOf(row.index));
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
		this.addRows(
			rows,
			error.outcome === 'unknown' ? 'unknown' : 'not_sent',
			reasonOf(error, this.reader),
		);
		return error;
	}

	private addNotSent(rows: readonly number[], stopped: ExplainedError): void {
		this.addRows(
			rows,
			'not_sent',
			stopped.outcome === 'unknown'
				? `The push stopped at an earlier request, before it reached this row: ${stopped.message}. You can push this row again.`
				: reasonOf(stopped, this.reader),
		);
	}

	private addRows(rows: readonly number[], status: RowStatus, reason: string): void {
		for (const index of rows) this.outcome.rejectedRows.push({ index, status, reason });
	}
}

function isPayloadTooLarge(error: ExplainedError): boolean {
	return error instanceof ServiceRejection && error.status === PAYLOAD_TOO_LARGE;
}

function tooManyRejected(): ExplainedError {
	return new InvalidInput(
		`The service rejected more than ${MAX_REJECTED_ROWS} rows of one request, so the remaining rows were not sent`,
		onScreenOnly(
			"Check the reasons of the rejected rows. They probably have the same cause, such as a wrong 'Phone Column'.",
		),
	);
}

/** The execution was stopped, or the tool must respond. */
function pushInterrupted({ isTool }: AttemptSettings): ExplainedError {
	return new InvalidInput(
		isTool
			? 'The tool ran out of time, so the remaining contacts were not sent'
			: 'The execution was stopped, so the remaining rows were not sent',
		{
			onScreen: 'You can push the rows that were not sent again.',
			forModel: 'You can push the contacts that were not sent again.',
		},
	);
}

function unexpectedError(error: unknown): OutcomeUnknown {
	const originalMessage = error instanceof Error ? error.message : String(error);
	return new OutcomeUnknown(
		"Something unexpected happened while a request was in flight, so it's unknown whether it took effect",
		onScreenOnly('Check the campaign in the service before you push these rows again.'),
		originalMessage,
	);
}
