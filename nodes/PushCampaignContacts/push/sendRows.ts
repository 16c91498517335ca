import chunk from 'lodash/chunk';
import { outcomeByError } from '../../core/claims/deliveries';
import type { ApiClient } from '../../core/service/client';
import { type Additions, addContacts } from '../../core/service/endpoints';
import { recordOf } from '../../core/service/envelope';
import {
	errorText,
	explained,
	ExplainedError,
	InvalidInput,
	OutcomeUnknown,
	ServiceRejection,
} from '../../core/service/errors';
import { VALIDATION_STATUSES } from '../../core/service/http';
import { counted, messageOf } from '../../core/values/values';
import { readAccepted, requireConsistentCounts } from './accepted';
import { contactsOf } from './columns';
import type { PreparedRows } from './prepareRows';
import type { PushClaims } from './pushClaims';
import { PUSH_LIMITS, type PushedRequest, type Row, settleAll } from './rows';

/** The campaign and agent of a push. */
export type CampaignTarget = { id: number; agentUuid: string; enqueue: boolean };

/** What a push needs besides its rows. */
type PushDeps = {
	client: ApiClient;
	campaign: CampaignTarget;
	additions: Additions;
	contactsPerRequest: number;
	claims: PushClaims;
	/** Aborted when the execution is stopped. Checked before each request. */
	signal: AbortSignal;
};

type Rows = readonly Row[];

/** The accepted requests, and why the push stopped early, or needs a look. */
type SentRows = { requests: PushedRequest[]; stopped: ExplainedError | undefined };

/**
 * Sends the prepared rows in chunks, one after another, usually one request each. Stops at the first request that didn't
 * certainly succeed. What was sent before, or may have been, isn't sent again. Each row has a status then, so this doesn't
 * throw for it.
 */
export async function sendRows(prepared: PreparedRows, deps: PushDeps): Promise<SentRows> {
	return await new RowSender(prepared, deps).send();
}

class RowSender {
	private stop: ExplainedError | undefined;
	private readonly requests: PushedRequest[] = [];

	constructor(
		private readonly prepared: PreparedRows,
		private readonly deps: PushDeps,
	) {}

	async send(): Promise<SentRows> {
		const { claims, contactsPerRequest } = this.deps;
		const { rows } = this.prepared;
		const chunks = chunk(claims.leaveOutSent(rows), contactsPerRequest);
		/** Why rows can't be claimed. An earlier attempt may have sent them. */
		let unclaimed: ExplainedError | undefined;
		try {
			await claims.begin();
			for (const next of chunks) {
				if (this.stop === undefined) await this.sendChunk(next);
				else await claims.lookUp(next);
			}
		} catch (error) {
			unclaimed = explained(error);
		}
		const unsent = withoutStatus(rows);
		if (unclaimed !== undefined) {
			const status = unclaimed.outcome === 'unknown' ? 'unknown' : 'not_sent';
			settleAll(unsent, { status, reason: errorText(unclaimed) });
		} else if (this.stop !== undefined) this.settleUnsent(unsent, this.stop);
		await claims.end(rows);
		const unknown = rows.filter(({ status }) => status === 'unknown').length;
		const stopped = this.stop ?? unclaimed ?? (unknown > 0 ? unknownRows(unknown) : undefined);
		return { requests: this.requests, stopped };
	}

	/** Sends the rows of a chunk. A rejection about rows is followed by halves, until the rejected rows are alone. */
	private async sendChunk(all: Rows): Promise<void> {
		const { claims } = this.deps;
		const rows = await claims.claim(all);
		const parts = rows.length > 0 ? [rows] : [];
		let rejected = 0;
		for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
			if (this.stop !== undefined) {
				this.settleUnsent(part, this.stop);
				continue;
			}
			const error = await this.request(part);
			if (error === undefined) continue;
			if (!isAboutRows(error, part !== rows)) this.stopAt(part, error);
			else if (part.length > 1) parts.unshift(...chunk(part, Math.ceil(part.length / 2)));
			else {
				settleAll(part, { status: 'rejected', reason: rejectionReason(error) });
				if (++rejected >= PUSH_LIMITS.rejected && parts.length > 0)
					this.stop = tooManyRejected(error);
			}
		}
		await claims.free(rows);
	}

	private stopAt(rows: Rows, error: ExplainedError): void {
		this.stop = error;
		if (error.outcome === 'unknown')
			settleAll(rows, { status: 'unknown', reason: errorText(error) });
		else this.settleUnsent(rows, error);
	}

	/** @returns the error, unless the service accepted the rows, which have a status then */
	private async request(rows: Rows): Promise<ExplainedError | undefined> {
		const { client, campaign, additions, signal } = this.deps;
		const body = { agent_uuid: campaign.agentUuid, enqueue: campaign.enqueue };
		try {
			const contacts = await contactsOf(rows, this.prepared.columns);
			if (signal.aborted) throw pushInterrupted();
			const list = Buffer.from(contacts);
			const response = recordOf(await addContacts(client, campaign.id, body, list, additions));
			const accepted = readAccepted(rows, response);
			requireConsistentCounts(accepted, rows.length);
			const { request, skipped } = accepted;
			this.requests.push(request);
			settleAll(request.rows, { status: 'pushed', reason: '', request });
			for (const { row, status, reason } of skipped) row.settled = { status, reason };
			return undefined;
		} catch (error) {
			// An unexpected error may occur after the request was sent.
			const known = error instanceof ExplainedError ? error : unexpectedError(error);
			return outcomeByError(known).error;
		}
	}

	private settleUnsent(rows: Rows, error: ExplainedError): void {
		const reason =
			error.outcome === 'unknown'
				? `The push stopped at an earlier request, before it reached this row: ${error.message}. You can push this row again.`
				: errorText(error);
		settleAll(rows, { status: 'not_sent', reason });
	}
}

function withoutStatus(rows: Rows): Rows {
	return rows.filter(({ status }) => status === undefined);
}

/** Such as after a crash. Otherwise, they would be in a successful execution that nobody looks at. */
function unknownRows(count: number): OutcomeUnknown {
	return new OutcomeUnknown(
		`${counted(count, 'row')} may or may not be in the campaign`,
		"An earlier run or attempt of this execution sent them, or may have, so they weren't sent again. Look for them in the campaign. To pass all rows on to the next nodes, set 'On Error' in 'Settings' to 'Continue', and retry this execution with the currently saved workflow.",
		{ origin: 'n8n' },
	);
}

/** The execution was stopped, or a tool ran out of time. */
function pushInterrupted(): ExplainedError {
	return new InvalidInput(
		"The push was stopped, so the remaining rows weren't sent",
		'You can push the remaining rows again.',
	);
}

function unexpectedError(error: unknown): OutcomeUnknown {
	return new OutcomeUnknown(
		"Something unexpected happened while a request was in flight, so it's unknown whether it took effect",
		'Check the campaign in the service before you push these rows again.',
		{ originalMessage: messageOf(error), origin: 'n8n' },
	);
}

const PAYLOAD_TOO_LARGE = 413;
/** Ignores nested ones: `contacts[3].contacts[0]` names a field of a contact. */
const NAMED_CONTACT = /(?<!\]\.)\bcontacts\s*\[\s*\d+\s*\]/i;
const MAX_REASON_CHARACTERS = 1_000;

/**
 * Whether a request may be sent again in halves, until the rows that the service rejects are alone. It isn't documented from
 * which number the service counts the contact that it names, and it may quote a cell, so the index isn't used.
 *
 * @param isPart whether it has the rows of a request that was rejected like this
 */
export function isAboutRows(error: ExplainedError, isPart: boolean): error is ServiceRejection {
	if (!(error instanceof ServiceRejection)) return false;
	if (error.status === PAYLOAD_TOO_LARGE) return true;
	if (!VALIDATION_STATUSES.has(error.status)) return false;
	return isPart || error.rejection.texts.some((text) => NAMED_CONTACT.test(text));
}

/** The reason of a row that the service rejected when it was sent alone. */
export function rejectionReason({ status, originalMessage, rejection }: ServiceRejection): string {
	if (status === PAYLOAD_TOO_LARGE) {
		const said = originalMessage === undefined ? '' : ` The service said: ${originalMessage}`;
		return `The row is too large for the service, even in a request of its own. Shorten its texts, or send fewer of them.${said}`;
	}
	const text = rejection.texts.join(' · ');
	const shown =
		text.length > MAX_REASON_CHARACTERS ? `${text.slice(0, MAX_REASON_CHARACTERS)}...` : text;
	return `The service rejected this row: ${shown}`;
}

/** Why the push stops although the rejections are about rows. */
function tooManyRejected({ originalMessage }: ExplainedError): ExplainedError {
	return new InvalidInput(
		`The service rejected ${PUSH_LIMITS.rejected} rows of one request, so the remaining rows weren't sent`,
		"The rows probably have the same fault, such as a wrong 'Phone Column'.",
		{ originalMessage },
	);
}
