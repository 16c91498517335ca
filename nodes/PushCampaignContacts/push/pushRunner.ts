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
import { forEveryone, onScreenOnly, readerOf, type Reader } from '../../shared/api/modelAdvice';
import type { JsonObject } from '../../shared/json';
import { requireFittingCounts } from './answerCounts';
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

/** So many rows of one request may be rejected one after the other; more have one cause, which is not in the rows. */
export const MAX_REJECTED_ROWS = 100;
/** Rows of one request that are sent alone because the service may only have repeated what is in a row. */
export const MAX_ROWS_SENT_ALONE = 20;
const PAYLOAD_TOO_LARGE = 413;
/** Rows of a request that surely are not in the campaign. */
const WITHOUT_EFFECT = new Set<RowStatus>(['rejected', 'do_not_disturb', 'not_sent']);

/** What all runs of the node note with. */
export type BegunLog = Pick<BegunRowsOptions, 'log' | 'memory' | 'executionId'>;

export type PushOptions = AttemptOptions & {
	client: ApiClient;
	/** At most the documented 10,000. */
	contactsPerRequest: number;
	/** Asked before each request: whether the person at the screen has stopped the workflow. */
	stopRequested: () => boolean;
	/** How rows are noted before they leave, for a retry of the execution. */
	begun?: BegunLog | undefined;
	/** What other runs of the node pushed in this execution. */
	sentNumbers?: SentNumbers | undefined;
	/** What earlier runs pushed, where it is to be left out. */
	numberStore?: DeduplicationStore | undefined;
	/** With `numberStore`: an earlier attempt of the execution pushed without it, so that each row may be in the campaign. */
	isAnotherPush?: boolean;
	/** How to find out what became of a request whose outcome is unknown. */
	lookUp?: ContactListFinder | undefined;
};

/**
 * Sends the prepared rows in requests of a bounded size, one after another, and stops at the
 * first that did not surely succeed. Never throws for what happens to a request: the outcome says it.
 * What `progress` shows of earlier tries is taken over, and only the rest is sent.
 */
export async function pushToCampaign(
	source: RowSource,
	prepared: PreparedRows,
	options: PushOptions,
	progress = new PushProgress(),
): Promise<PushOutcome> {
	const settings = attemptSettings(options);
	const { rows: open, outcome } = await progress.restore(source, prepared, settings);
	const { numberStore, campaign, sentNumbers } = options;
	const isOnce = settings.removeDuplicates || settings.isTool;
	const rows = isOnce ? (sentNumbers?.leaveOut(open, prepared, outcome) ?? open) : open;
	outcome.enqueue = campaign.enqueue;
	const begun = begunRowsOptions(options, progress);
	const reader = readerOf(settings.isTool);
	const intake =
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
	await new PushRunner(prepared, options, settings, progress, outcome, intake).push();
	sentNumbers?.add(outcome, prepared);
	outcome.rejectedRows.sort((one, other) => one.index - other.index);
	return outcome;
}

/** Undefined where n8n keeps nothing that could be retried. */
export function begunRowsOptions(
	{ begun, campaign, isTool }: PushOptions,
	{ record }: PushProgress,
): BegunRowsOptions | undefined {
	// Each list of a model is a push of its own.
	return begun && { ...begun, campaign: campaign.id, push: isTool ? {} : record };
}

/** What is left of a request that the service rejected, unless the push has to stop. */
type RemainingRows = { remaining: number[]; stopped?: ExplainedError };

class PushRunner {
	/** Contacts a request: fewer once the service has found one too large. */
	private size: number;
	/** Of the request at hand, with all that it was split into. */
	private rejectedCount = 0;
	/** Of the same, to find out which row the service means. */
	private rowsSentAlone = 0;
	private largestTaken = 0;
	/** The request at hand; whatever it is split into is among it. */
	private whole: {
		rows: readonly number[];
		contacts: ContactBuffer;
		/** Once a rejection has to be read. */
		repeatable?: RepeatableText;
	} = { rows: [], contacts: new ContactBuffer(0) };
	private readonly ahead: Prefetcher;

	constructor(
		private readonly prepared: PreparedRows,
		private readonly options: PushOptions,
		private readonly settings: AttemptSettings,
		private readonly progress: PushProgress,
		private readonly outcome: PushOutcome,
		private readonly intake: RowQueue,
	) {
		this.size = options.contactsPerRequest;
		this.ahead = new Prefetcher(prepared.contactsOf);
	}

	async push(): Promise<void> {
		const { intake } = this;
		const stopped = await this.pushAll().finally(async () => await this.ahead.end());
		if (stopped !== undefined) this.outcome.stopped ??= stopped;
		const closed = await orExplained(intake.close());
		if (closed instanceof ExplainedError) this.outcome.stopped ??= closed;
		const leftOut = intake.skipped();
		const cutOff = leftOut.filter(({ status }) => status === 'unknown');
		this.progress.interrupted(cutOff, this.prepared.keys, this.settings);
		for (const row of leftOut) this.outcome.rejectedRows.push(row);
	}

	/** Gives back what stops the push. */
	private async pushAll(): Promise<ExplainedError | undefined> {
		const { intake } = this;
		for (;;) {
			if (this.options.stopRequested()) {
				const stopped = stoppedBefore(this.settings);
				this.notReached(intake.remaining(), stopped);
				return stopped;
			}
			const request = await orExplained(intake.take(this.size));
			if (request instanceof ExplainedError) {
				this.stop(intake.remaining(), request);
				return request;
			}
			if (request.length === 0) return undefined;
			this.rejectedCount = 0;
			this.rowsSentAlone = 0;
			this.largestTaken = 0;
			const toldBefore = this.outcome.rejectedRows.length;
			const unread = await orExplained(this.takeUp(request));
			const stopped =
				unread instanceof ExplainedError
					? this.stop(request, unread)
					: await this.pushRequest(request);
			// What was taken after a request was too large is a size that the service takes.
			if (this.size < request.length && this.largestTaken > 0) this.size = this.largestTaken;
			const withoutEffect = this.outcome.rejectedRows
				.slice(toldBefore)
				.filter(({ status }) => WITHOUT_EFFECT.has(status));
			const released = withoutEffect.map(({ index }) => index);
			const failed = await orExplained(intake.settle(request, released));
			if (failed instanceof ExplainedError) {
				for (const row of withoutEffect) row.reason += ` ${STILL_STORED[this.reader]}`;
			}
			const end = stopped ?? (failed instanceof ExplainedError ? failed : undefined);
			if (end === undefined) continue;
			this.notReached(intake.remaining(), end);
			return end;
		}
	}

	/** Pushes the rows, without those that the service rejects; gives back what stops the push. */
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

	/** Rejects the rows that the service names, and finds out what it counts from if that is unknown. */
	private async rejectNamed(
		named: ReadonlyMap<number, string>,
		rows: readonly number[],
		error: ExplainedError,
	): Promise<RemainingRows> {
		this.learn(indexBaseOf(named, rows.length));
		const probe =
			this.firstIndex === undefined ? probeFor(named, rows, this.prepared.keys) : undefined;
		if (probe !== undefined) {
			const stopped = await this.pushAlone(probe);
			if (stopped !== undefined) {
				const others = rows.filter((row) => row !== probe.row);
				this.notReached(others, stopped);
				return { remaining: [], stopped };
			}
		}
		const rejected = rowsAtIndexes(named, rows, this.firstIndex).filter(
			({ index }) => index !== probe?.row,
		);
		for (const row of rejected) this.reject(row);
		const settled = new Set([probe?.row, ...rejected.map(({ index }) => index)]);
		const left = rows.filter((row) => !settled.has(row));
		return left.length < rows.length
			? { remaining: left }
			: { remaining: [], stopped: this.stop(rows, error) };
	}

	/**
	 * Sends the rows that the service may mean, each alone, until it rejects one. What it accepts is in the campaign,
	 * and tells nothing about how it counts: it may only have repeated what is in a row.
	 */
	private async findRejected(
		named: NamedIndexes,
		rows: readonly number[],
		error: ExplainedError,
	): Promise<RemainingRows> {
		const rejectedBefore = this.rejectedCount;
		const candidates = candidatesFor(named, rows, this.firstIndex);
		const [row] = candidates;
		if (row !== undefined && rows.length === 1) {
			this.rejectAlone(row, named);
			return { remaining: [] };
		}
		let left = [...rows];
		for (const row of candidates) {
			if (this.rowsSentAlone++ >= MAX_ROWS_SENT_ALONE || this.hasRejectedTooMany()) break;
			left = left.filter((other) => other !== row);
			const stopped = await this.pushAlone({ row });
			if (stopped !== undefined) {
				this.notReached(left, stopped);
				return { remaining: [], stopped };
			}
			if (this.rejectedCount > rejectedBefore) return { remaining: left };
		}
		return left.length < rows.length
			? { remaining: left }
			: { remaining: [], stopped: this.stop(rows, error) };
	}

	private named(error: ExplainedError): NamedIndexes {
		this.whole.repeatable ??= RepeatableText.of(this.whole.contacts.all(), this.options.additions);
		return namedIndexes(error, this.whole.repeatable);
	}

	/** Accepted alone, the row is in the campaign and another was meant; rejected, its own index tells what the service counts from. */
	private async pushAlone({ row, ifTaken }: Probe): Promise<ExplainedError | undefined> {
		const error = await this.send([row]);
		if (error === undefined) {
			this.learn(ifTaken);
			return undefined;
		}
		if (isPayloadTooLarge(error)) return this.rejectTooLarge(row, error);
		if (!isAboutContacts(error)) return this.stop([row], error);
		this.rejectAlone(row, this.named(error), error.rejection.texts.join(' · '));
		return undefined;
	}

	/** A row that was rejected by itself. */
	private rejectAlone(row: number, { certain, doubtful }: NamedIndexes, words = ''): void {
		this.learn(indexBaseOf(certain, 1));
		const [text = words] = [...certain.values(), ...doubtful.values()];
		this.reject(rejected(row, text));
	}

	/** The service took nothing of a request that is too large for it. */
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
		this.notReached(rows.slice(half), stopped);
		return stopped;
	}

	/** Sends rows as one request, and notes them when they were taken. */
	private async send(rows: readonly number[]): Promise<ExplainedError | undefined> {
		const { lookUp, stopRequested } = this.options;
		if (stopRequested()) return stoppedBefore(this.settings);
		const before = lookUp === undefined ? undefined : await orExplained(lookUp.listsBefore());
		if (before instanceof ExplainedError) return before;
		const sending = this.progress.begin(rows, this.prepared.keys, this.settings);
		const answering = this.request(rows).catch((error: unknown) =>
			// Whatever was not foreseen may have happened after the request left.
			error instanceof ExplainedError ? error : notForeseen(error),
		);
		this.ahead.begin(this.intake.peek(this.size));
		const answer = await answering;
		if (!(answer instanceof ExplainedError)) {
			this.taken(rows, sending, answer);
			return undefined;
		}
		if (!(answer instanceof OutcomeUnknown)) {
			sending.withoutEffect();
			return answer;
		}
		sending.unknown(answer);
		if (before === undefined) return answer;
		return await this.findOut(rows, sending, answer, before);
	}

	private taken(rows: readonly number[], sending: RequestTracker, answer: JsonObject): void {
		sending.taken(answer);
		const { request, rejectedRows } = pushedRequest(rows, answer, this.prepared.keys);
		this.outcome.pushed.push(request);
		this.outcome.rejectedRows.push(...rejectedRows);
		this.largestTaken = Math.max(this.largestTaken, rows.length);
	}

	/** What the campaign shows of a request whose outcome is unknown; it is not sent again here. */
	private async findOut(
		rows: readonly number[],
		sending: RequestTracker,
		error: OutcomeUnknown,
		before: ListsBefore,
	): Promise<ExplainedError | undefined> {
		const found = await this.options.lookUp?.find(error, rows.length, before);
		if (found === undefined) return error;
		if (found instanceof OutcomeUnknown) {
			sending.unknown(found);
			return found;
		}
		this.taken(rows, sending, found);
		return undefined;
	}

	private async takeUp(rows: readonly number[]): Promise<void> {
		this.whole = { rows, contacts: await this.ahead.contacts(rows) };
	}

	private placeOf(row: number): number {
		return sortedIndexOf(this.whole.rows, row);
	}

	private async request(rows: readonly number[]): Promise<JsonObject> {
		const { client, campaign, additions } = this.options;
		const { whole } = this;
		const contacts =
			rows === whole.rows
				? whole.contacts.all()
				: whole.contacts.some(rows.map((row) => this.placeOf(row)));
		const body = { agent_uuid: campaign.agentUuid, enqueue: campaign.enqueue };
		const response = await pushContacts(client, campaign.id, body, contacts, additions);
		const answer = recordOf(response, CONTACTS_RESPONSE_FIELDS);
		requireFittingCounts(answer, rows, this.prepared.keys);
		return answer;
	}

	private get reader(): Reader {
		return readerOf(this.settings.isTool);
	}

	private get firstIndex(): IndexBase | undefined {
		return this.progress.record.firstIndex;
	}

	private learn(firstIndex: IndexBase | undefined): void {
		if (firstIndex !== undefined) this.progress.record.firstIndex ??= firstIndex;
	}

	private reject(row: RejectedRow): void {
		this.rejectedCount++;
		this.outcome.hasRejections = true;
		this.outcome.rejectedRows.push(row);
		const contact = this.whole.contacts.at(this.placeOf(row.index));
		this.progress.reject(row, contact, this.prepared.keys, this.settings);
	}

	private rejectTooLarge(row: number, error: ExplainedError): ExplainedError | undefined {
		const originalMessage =
			error.originalMessage === undefined ? '' : ` It said: ${error.originalMessage}`;
		const advice = this.settings.isTool
			? 'Shorten its texts.'
			: 'Shorten its texts, or send fewer columns.';
		const reason = `The service does not accept this row: even alone it is larger than the service takes. ${advice}${originalMessage}`;
		this.reject({ index: row, status: 'rejected', reason });
		return this.hasRejectedTooMany() ? tooManyRejected() : undefined;
	}

	private hasRejectedTooMany(): boolean {
		return this.rejectedCount > MAX_REJECTED_ROWS;
	}

	private stop(rows: readonly number[], error: ExplainedError): ExplainedError {
		this.leaveOut(
			rows,
			error.outcome === 'unknown' ? 'unknown' : 'not_sent',
			reasonOf(error, this.reader),
		);
		return error;
	}

	private notReached(rows: readonly number[], stopped: ExplainedError): void {
		this.leaveOut(
			rows,
			'not_sent',
			stopped.outcome === 'unknown'
				? `Not sent, because the push stopped at an earlier request: ${stopped.message}. This row can be pushed again as it is.`
				: reasonOf(stopped, this.reader),
		);
	}

	private leaveOut(rows: readonly number[], status: RowStatus, reason: string): void {
		for (const index of rows) this.outcome.rejectedRows.push({ index, status, reason });
	}
}

function isPayloadTooLarge(error: ExplainedError): boolean {
	return error instanceof ServiceRejection && error.status === PAYLOAD_TOO_LARGE;
}

function tooManyRejected(): ExplainedError {
	return new InvalidInput(
		`The service rejected more than ${MAX_REJECTED_ROWS} rows of one request, one after the other, so the rest of the push was not sent`,
		onScreenOnly(
			'Read the reasons of the rejected rows: they most likely share one cause, such as the wrong Phone Column.',
		),
	);
}

/** By hand, or because a tool has to respond. */
function stoppedBefore({ isTool }: AttemptSettings): ExplainedError {
	return new InvalidInput(
		isTool
			? 'The tool had no more time, so the rest of the contacts was not sent'
			: 'The workflow was stopped, so the rest of the push was not sent',
		forEveryone('The rows that are not sent can be pushed again as they are.'),
	);
}

function notForeseen(error: unknown): OutcomeUnknown {
	const originalMessage = error instanceof Error ? error.message : String(error);
	return new OutcomeUnknown(
		'Something unexpected happened while the request was under way, so it is not known whether it took effect',
		onScreenOnly('Look at the campaign in the service before you push these rows again.'),
		originalMessage,
	);
}
