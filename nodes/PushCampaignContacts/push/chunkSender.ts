import chunk from 'lodash/chunk';
import difference from 'lodash/difference';
import pull from 'lodash/pull';
import sortBy from 'lodash/sortBy';
import sortedIndexOf from 'lodash/sortedIndexOf';
import uniq from 'lodash/uniq';
import type { ApiClient } from '../../shared/api/client';
import { type Additions, CONTACTS_RESPONSE_FIELDS, pushContacts } from '../../shared/api/endpoints';
import { recordOf } from '../../shared/api/envelope';
import {
	explained,
	ExplainedError,
	InvalidInput,
	OutcomeUnknown,
	ServiceRejection,
} from '../../shared/api/errors';
import { onScreenOnly, readerOf } from '../../shared/api/resolution';
import { messageOf } from '../../shared/values';
import type { PreparedRows } from './prepareRows';
import type { ChunkRequest } from './pushRecord';
import { reasonOf, type PushOutcome } from './outcome';
import { addAccepted, readAccepted, requireConsistentCounts } from './accepted';
import { RowSet, type RowRanges } from './rowSet';

/** Rejected rows per chunk. If there are more, the cause is probably a setting, not the rows. */
export const MAX_REJECTED_ROWS = 100;
/** Rows per chunk that are sent alone, because a message of the service can mean two of them. */
const MAX_ROWS_SENT_ALONE = 2 * MAX_REJECTED_ROWS;
const PAYLOAD_TOO_LARGE = 413;
/** The documented statuses of validation errors. A rejection with another status isn't about single rows. */
const VALIDATION_STATUSES = new Set([400, 422]);
/** Ignores nested ones: `contacts[3].contacts[0]` names a field of a contact. */
const CONTACT_INDEX = /(?<!\]\.)\bcontacts\s*\[\s*(\d+)\s*\]/gi;
const MAX_REASON_CHARACTERS = 1_000;

/** The campaign and agent of a push. */
export type CampaignTarget = { id: number; agentUuid: string; enqueue: boolean };

export type SendOptions = {
	client: ApiClient;
	campaign: CampaignTarget;
	additions: Additions;
	/** Whether the node runs as a tool. */
	isTool: boolean;
	/** Checked before each request: whether the execution was stopped. */
	stopRequested: () => boolean;
};

/** Sends chunks, and finds out which rows the service rejects. */
export class ChunkSender {
	/** Contacts per request. Reduced after a chunk with a request that was too large, but not for one large row. */
	private size = Infinity;

	constructor(
		private readonly prepared: PreparedRows,
		private readonly options: SendOptions,
		/** Changed in place. */
		private readonly outcome: PushOutcome,
	) {}

	/**
	 * Sends rows of a chunk, usually as one request.
	 *
	 * @param all the rows of the chunk
	 * @param records of the chunk, changed in place
	 * @returns why the push stops, and the rows that weren't sent then. All others are in the outcome.
	 */
	async send(
		rows: readonly number[],
		all: readonly number[],
		records: ChunkRequest[],
	): Promise<{ stopped?: ExplainedError; rest: readonly number[] }> {
		const contacts = await this.prepared.contactsOf(rows).catch(explained);
		if (contacts instanceof ExplainedError) return { stopped: contacts, rest: rows };
		/** Rows that the service may have named when it rejected a request. They are sent alone. */
		const named = new Set<number>();
		let rejected = 0;
		const reject = (row: number, reason: string) => {
			rejected++;
			this.outcome.hasRejections = true;
			this.outcome.notPushed.add(row, 'rejected', reason);
			records.push({ rows: rangesIn(all, [row]), rejection: reason });
		};
		let largestAccepted = 0;
		let isSplit = false;
		const parts = chunk(rows, Math.min(this.size, rows.length));
		for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
			const [first = 0] = part;
			const own =
				part.length === rows.length
					? contacts
					: positionsIn(rows, part).map((position) => contacts[position]);
			const record: ChunkRequest = { rows: rangesIn(all, part) };
			const error = await this.request(part, Buffer.from(own.join()), record, records);
			if (error === undefined) {
				largestAccepted = Math.max(largestAccepted, part.length);
				continue;
			}
			if (error.outcome === 'unknown') return stop(error, parts);
			const isAlone = part.length === 1;
			const mayBeNamed = rowsNamedIn(error, part);
			if (isTooLarge(error)) {
				isSplit = true;
				if (isAlone) reject(first, this.reasonOfTooLarge(error));
				else parts.unshift(...chunk(part, Math.ceil(part.length / 2)));
			} else if (isAlone) {
				const isRejected = named.has(first) ? isAboutContacts(error) : mayBeNamed.length > 0;
				if (!isRejected) return stop(error, [part, ...parts]);
				reject(first, rejectionReason(error));
			} else {
				for (const row of mayBeNamed) named.add(row);
				if (mayBeNamed.length === 0 || named.size > MAX_ROWS_SENT_ALONE) {
					return stop(error, [part, ...parts]);
				}
				const others = difference(part, mayBeNamed);
				parts.unshift(...chunk(mayBeNamed, 1), ...(others.length > 0 ? [others] : []));
			}
			if (rejected > MAX_REJECTED_ROWS && parts.length > 0) return stop(tooManyRejected(), parts);
		}
		if (isSplit && largestAccepted > 0) this.size = largestAccepted;
		return { rest: [] };
	}

	/** Sends one request, and records its result. @returns why the rows weren't accepted */
	private async request(
		rows: readonly number[],
		contacts: Buffer,
		record: ChunkRequest,
		records: ChunkRequest[],
	): Promise<ExplainedError | undefined> {
		const { client, campaign, additions, isTool } = this.options;
		const body = { agent_uuid: campaign.agentUuid, enqueue: campaign.enqueue };
		// Until the result is recorded, the request counts as unknown.
		records.push(record);
		try {
			if (this.options.stopRequested()) throw pushInterrupted(isTool);
			const sent = await pushContacts(client, campaign.id, body, contacts, additions);
			const response = recordOf(sent, CONTACTS_RESPONSE_FIELDS);
			const accepted = readAccepted(rows, response, this.prepared.phones.keyAt);
			requireConsistentCounts(accepted, rows.length);
			addAccepted(this.outcome, accepted);
			record.response = response;
			return undefined;
		} catch (error) {
			// An unexpected error may occur after the request was sent.
			const known = error instanceof ExplainedError ? error : unexpectedError(error);
			if (known.outcome === 'unknown') {
				if (known instanceof OutcomeUnknown) record.error = known.toStored();
				const reason = reasonOf(known, readerOf(isTool));
				this.outcome.notPushed.addAll(RowSet.of(rows), 'unknown', reason);
			} else pull(records, record);
			return known;
		}
	}

	private reasonOfTooLarge({ originalMessage }: ExplainedError): string {
		const said = originalMessage === undefined ? '' : ` The service said: ${originalMessage}`;
		const advice = this.options.isTool
			? 'Shorten its texts.'
			: 'Shorten its texts, or send fewer columns.';
		return `The row is too large for the service, even in a request of its own. ${advice}${said}`;
	}
}

/** The positions of some of these rows, which are in ascending order. */
function positionsIn(rows: readonly number[], some: readonly number[]): number[] {
	return some.map((row) => sortedIndexOf(rows, row));
}

/** The same, for the record of a request. */
export function rangesIn(rows: readonly number[], some: readonly number[]): RowRanges {
	return RowSet.of(positionsIn(rows, some)).toRanges();
}

function stop(stopped: ExplainedError, parts: ReadonlyArray<readonly number[]>) {
	return { stopped, rest: sortBy(parts.flat()) };
}

function isTooLarge(error: ExplainedError): boolean {
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

function pushInterrupted(isTool: boolean): ExplainedError {
	return new InvalidInput(
		isTool
			? "The tool ran out of time, so the remaining contacts weren't sent"
			: "The execution was stopped, so the remaining rows weren't sent",
		{
			onScreen: "You can push the rows that weren't sent again.",
			forModel: 'You can push the contacts that were not sent again.',
		},
	);
}

function unexpectedError(error: unknown): OutcomeUnknown {
	return new OutcomeUnknown(
		"Something unexpected happened while a request was in flight, so it's unknown whether it took effect",
		onScreenOnly('Check the campaign in the service before you push these rows again.'),
		{ originalMessage: messageOf(error), origin: 'n8n' },
	);
}

/** Whether the rejection is about contacts, so that the service accepted none of them. */
function isAboutContacts(error: ExplainedError): error is ServiceRejection {
	return error instanceof ServiceRejection && VALIDATION_STATUSES.has(error.status);
}

/**
 * The rows that a rejection may name as `contacts[<index>]`. The document doesn't say whether the service counts from 0 or
 * 1, so an index can mean two rows. The service may also quote the text of a cell. So each of these rows must be sent alone.
 *
 * @param rows of the request
 */
export function rowsNamedIn(error: ExplainedError, rows: readonly number[]): number[] {
	if (!isAboutContacts(error)) return [];
	const text = error.rejection.texts.join('\n');
	const indexes = uniq([...text.matchAll(CONTACT_INDEX)].map(([, index]) => Number(index)));
	const positions = indexes.flatMap((index) => [index, index - 1]);
	return uniq(positions.flatMap((position) => rows[position] ?? [])).sort((a, b) => a - b);
}

/** The reason of a row that the service rejected when it was sent alone. */
export function rejectionReason(error: ExplainedError): string {
	const text = isAboutContacts(error) ? error.rejection.texts.join(' · ') : error.message;
	const shown =
		text.length > MAX_REASON_CHARACTERS ? `${text.slice(0, MAX_REASON_CHARACTERS)}...` : text;
	return `The service rejected this row: ${shown}`;
}
