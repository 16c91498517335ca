import chunk from 'lodash/chunk';
import { outcomeByError } from '../../core/claims/deliveries';
import type { ApiClient } from '../../core/service/client';
import { type Additions, addContacts } from '../../core/service/endpoints';
import { recordOf } from '../../core/service/envelope';
import { explained, ExplainedError, InvalidInput, OutcomeUnknown } from '../../core/service/errors';
import { forEveryone, onScreenOnly } from '../../core/service/resolution';
import { DONE, pause } from '../../core/values/clock';
import { messageOf } from '../../core/values/values';
import { readAccepted, requireConsistentCounts } from './accepted';
import { ContactWriter } from './contacts';
import type { PreparedRows } from './prepareRows';
import type { PushClaims } from './pushClaims';
import { isAboutRows, rejectionReason, tooManyRejected } from './rejections';
import { PUSH_LIMITS, type PushedRequest, type Row, settleAll } from './rows';

/** The campaign and agent of a push. */
export type CampaignTarget = { id: number; agentUuid: string; enqueue: boolean };

/** What a push needs besides its rows. */
export type PushDeps = {
	client: ApiClient;
	campaign: CampaignTarget;
	additions: Additions;
	contactsPerRequest: number;
	claims: PushClaims;
	/** The reason of a row that has this error. */
	textOf: (error: ExplainedError) => string;
	/** Aborted when the execution is stopped. Checked before each request. */
	signal: AbortSignal;
};

type Rows = readonly Row[];

/** The accepted requests, and why the push stopped early. */
type SentRows = { requests: PushedRequest[]; stopped: ExplainedError | undefined };

/**
 * Sends the prepared rows in chunks, one after another, usually one request each. Stops at the first request that didn't
 * certainly succeed. What was sent before, or may have been, isn't sent again. Each row has a status then, so this doesn't
 * throw for it.
 */
export async function sendRows(prepared: PreparedRows, deps: PushDeps): Promise<SentRows> {
	return await new RowSender(prepared, deps).send();
}

/** n8n's HTTP helper needs one or two milliseconds to send a request. */
const UNTIL_SENT_MS = 5;

class RowSender {
	private readonly contacts: ContactWriter;
	/** Chunks that are still to send, in order. */
	private chunks: Row[][] = [];
	private stop: ExplainedError | undefined;
	private readonly requests: PushedRequest[] = [];

	constructor(
		private readonly prepared: PreparedRows,
		private readonly deps: PushDeps,
	) {
		this.contacts = new ContactWriter(prepared.columns);
	}

	async send(): Promise<SentRows> {
		const { claims, textOf, contactsPerRequest } = this.deps;
		const { rows } = this.prepared;
		this.chunks = chunk(claims.leaveOutSent(rows), contactsPerRequest);
		/** Why rows can't be claimed. An earlier attempt may have sent them. */
		let unclaimed: ExplainedError | undefined;
		try {
			await claims.begin();
			for (let next = this.chunks.shift(); next !== undefined; next = this.chunks.shift()) {
				if (this.stop === undefined) await this.sendChunk(next);
				else await claims.lookUp(next);
			}
		} catch (error) {
			unclaimed = explained(error);
		}
		const unsent = withoutStatus(rows);
		if (unclaimed !== undefined) {
			const status = unclaimed.outcome === 'unknown' ? 'unknown' : 'not_sent';
			settleAll(unsent, { status, reason: textOf(unclaimed) });
		} else if (this.stop !== undefined) this.settleUnsent(unsent, this.stop);
		await claims.end(rows);
		return { requests: this.requests, stopped: this.stop ?? unclaimed };
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
			settleAll(rows, { status: 'unknown', reason: this.deps.textOf(error) });
		else this.settleUnsent(rows, error);
	}

	/** @returns the error, unless the service accepted the rows, which have a status then */
	private async request(rows: Rows): Promise<ExplainedError | undefined> {
		const { client, campaign, additions, signal } = this.deps;
		const body = { agent_uuid: campaign.agentUuid, enqueue: campaign.enqueue };
		try {
			const contacts = await this.contacts.of(rows);
			if (signal.aborted) throw pushInterrupted();
			const sending = addContacts(client, campaign.id, body, Buffer.from(contacts), additions);
			const response = recordOf(await this.prepareNextWhile(sending));
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

	/** Writes the contacts of the next request while this one is in flight, if the service takes long enough. */
	private async prepareNextWhile<T>(sending: Promise<T>): Promise<T> {
		const responded = new AbortController();
		const work = async () => {
			if (!(await pause(this.deps.client.clock, UNTIL_SENT_MS, responded.signal))) return;
			await this.contacts.prepare(this.chunks[0]);
		};
		const working = work();
		return await sending.finally(async () => {
			responded.abort(DONE);
			await working;
		});
	}

	private settleUnsent(rows: Rows, error: ExplainedError): void {
		const reason =
			error.outcome === 'unknown'
				? `The push stopped at an earlier request, before it reached this row: ${error.message}. You can push this row again.`
				: this.deps.textOf(error);
		settleAll(rows, { status: 'not_sent', reason });
	}
}

function withoutStatus(rows: Rows): Rows {
	return rows.filter(({ status }) => status === undefined);
}

/** The execution was stopped, or a tool ran out of time. */
function pushInterrupted(): ExplainedError {
	return new InvalidInput(
		"The push was stopped, so the remaining rows weren't sent",
		forEveryone('You can push the remaining rows again.'),
	);
}

function unexpectedError(error: unknown): OutcomeUnknown {
	return new OutcomeUnknown(
		"Something unexpected happened while a request was in flight, so it's unknown whether it took effect",
		onScreenOnly('Check the campaign in the service before you push these rows again.'),
		{ originalMessage: messageOf(error), origin: 'n8n' },
	);
}
