import partition from 'lodash/partition';
import { type Job, type JobOutcome, type Ledger, outcomeByError } from '../../core/ledger/ledger';
import type { Plan } from '../../core/ledger/notes';
import type { ApiClient } from '../../core/service/client';
import { type Additions, addContacts } from '../../core/service/endpoints';
import { recordOf } from '../../core/service/envelope';
import { explained, ExplainedError, type OutcomeUnknown } from '../../core/service/errors';
import type { Reader } from '../../core/service/resolution';
import { DONE, pause } from '../../core/values/clock';
import { fingerprint, hashOf } from '../../core/values/hash';
import { forEachWithPauses } from '../../core/values/pauses';
import { readAccepted, requireConsistentCounts } from './accepted';
import { ContactWriter } from './contacts';
import type { NumbersPushedBefore } from './numbersPushedBefore';
import type { PushedRequest } from './outcome';
import {
	type AcceptedPart,
	BEGUN_EARLIER,
	chunksOf,
	countAlone,
	type Part,
	type PartResult,
	partsOf,
	positionsOf,
	pushInterrupted,
	readRejection,
	restOf,
	rowsChanged,
	tooManyRejected,
	unexpectedError,
} from './parts';
import type { PreparedRows } from './prepareRows';
import type { PushedNumbers } from './pushedNumbers';
import type { PushFacts } from './report';
import { phoneKeyOf, type Row, settle, settleAll, type Settled } from './rows';

/** The campaign and agent of a push. */
export type CampaignTarget = { id: number; agentUuid: string; enqueue: boolean };

/** What a push needs besides its rows. */
export type PushDeps = {
	client: ApiClient;
	campaign: CampaignTarget;
	additions: Additions;
	contactsPerRequest: number;
	ledger: Ledger<PartResult>;
	/** Identifies the push among those of the execution. */
	place: unknown;
	/** Those of this execution. */
	pushedNumbers: PushedNumbers;
	/** For whom the reasons of the rows are: a model if the node runs as a tool. */
	reader: Reader;
	/** The reason of a row that has this error. */
	textOf: (error: ExplainedError) => string;
	/** Aborted when the execution is stopped. Checked before each request. */
	signal: AbortSignal;
	/** With *Skip Numbers Pushed Before*: those of earlier executions. */
	pushedBefore: NumbersPushedBefore | undefined;
};

/**
 * What became of the requests. `isNew`: whether the unknown rows must be remembered. Not if nothing was sent, and n8n has what
 * an earlier attempt sent.
 */
type SentRows = Pick<PushFacts, 'requests' | 'stopped'> & { isNew: boolean };

/** Why the push stopped, and what that says about each row that it didn't reach. */
type Stop = { error: ExplainedError; status: 'unknown' | 'not_sent'; reason: string };

/**
 * Sends the prepared rows in chunks, one after another, usually one request each. Stops at the first request that didn't
 * certainly succeed. What an earlier attempt sent, or may have sent, isn't sent again. Each row has a status then, so this
 * doesn't throw for it.
 */
export async function sendRows(prepared: PreparedRows, deps: PushDeps): Promise<SentRows> {
	const { rows } = prepared;
	deps.pushedBefore?.requireRoom(rows.length);
	const { campaign, contactsPerRequest } = deps;
	const content = hashOf([`${campaign.id} ${contactsPerRequest}`, await fingerprintOf(rows)]);
	return await new RowSender(prepared, content, deps).send();
}

/** Keeps the memory of a fingerprint small. */
const ROWS_PER_HASH = 2_000;

/** Identifies the phones of these rows in this order. */
async function fingerprintOf(rows: readonly Row[]): Promise<string> {
	let hash = '';
	await forEachWithPauses(chunksOf(rows, ROWS_PER_HASH), (part) => {
		hash = fingerprint([hash, ...part.rows.map(phoneKeyOf)]);
	});
	return hash;
}

/** n8n's HTTP helper needs one or two milliseconds to send a request. */
const UNTIL_SENT_MS = 5;

/** Works through the parts of a push. */
class RowSender {
	private readonly contacts: ContactWriter;
	/** What is still to do, in order. */
	private readonly parts: Part[];
	private plan: Plan | undefined;
	private stop: Stop | undefined;
	/** Of the first request whose outcome is unknown. The push may go on, if that was in an earlier attempt. */
	private unknown: OutcomeUnknown | undefined;
	private readonly requests: PushedRequest[] = [];
	/** Rows in the campaign whose numbers aren't remembered yet. */
	private readonly toRemember: Row[] = [];
	/** Whether they will be. */
	private remembers = false;
	/** Whether any row may be in the campaign. */
	private hadEffect = false;
	/** Rows that may have been in a request of an earlier attempt without a known outcome, and what that says about each. */
	private readonly begun: Array<{ rows: readonly Row[]; settled: Settled }> = [];

	/** @param content identifies the rows of the push, and how they are split */
	constructor(
		private readonly prepared: PreparedRows,
		private readonly content: string,
		private readonly deps: PushDeps,
	) {
		this.contacts = new ContactWriter(prepared.columnsOf);
		this.parts = chunksOf(prepared.rows, deps.contactsPerRequest);
	}

	async send(): Promise<SentRows> {
		const { pushedBefore, pushedNumbers, ledger } = this.deps;
		this.remembers = await pushedNumbers.haveRoom(this.prepared.rows);
		// Also without rows, so that a retry in which the push has rows is recognized.
		await this.begin().catch((error: unknown) => {
			// If it's unknown which rows an earlier attempt pushed, any row may be in the campaign.
			const known = explained(error);
			this.stopAt(known, known.outcome === 'unknown' ? 'unknown' : 'not_sent');
		});
		for (let part = this.parts.shift(); part !== undefined; part = this.parts.shift()) {
			await this.doPart(part);
			if (this.parts[0]?.chunk !== part.chunk) await pushedBefore?.endChunk();
		}
		await this.remember();
		if (!this.hadEffect) await this.plan?.remove();
		await pushedBefore?.storeReported();
		await pushedBefore?.settleEnded(this.begun.flatMap(({ rows }) => rows));
		for (const { rows, settled } of this.begun) settleAll(withoutStatus(rows), settled);
		const isNew = this.plan !== undefined || Object.keys(ledger.entries).length === 0;
		return { requests: this.requests, stopped: this.unknown ?? this.stop?.error, isNew };
	}

	/** @throws if it's unknown what an earlier attempt sent, or n8n can't store what is about to be sent */
	private async begin(): Promise<void> {
		const { ledger, place } = this.deps;
		// A push that had no effect doesn't keep other rows from being sent, such as those of the right column.
		const { entries } = ledger;
		const hadEffect = Object.values(entries).some(
			(entry) => !('done' in entry) || entry.done.kind === 'accepted',
		);
		const others = Object.keys(entries).filter((key) => !key.startsWith(this.content));
		if (!hadEffect) for (const key of others) Reflect.deleteProperty(entries, key);
		this.plan = await ledger.beginPlan(place, this.content);
		if (this.plan === undefined) throw rowsChanged();
		await this.findBegun(this.parts);
	}

	private async findBegun(parts: readonly Part[]): Promise<void> {
		await this.deps.ledger.findBegun(parts.map((part) => this.jobOf(part)));
	}

	private jobOf({ key }: Part): Job {
		return { key: `${this.content} ${key}`, target: [this.plan?.name, key] };
	}

	private async doPart(part: Part): Promise<void> {
		const { ledger, pushedNumbers } = this.deps;
		const job = this.jobOf(part);
		const known = ledger.known(job);
		if (known !== undefined) {
			await this.restore(part, known);
			return;
		}
		const open = withoutStatus(part.rows);
		const rows =
			this.stop?.status === 'unknown' ? open : await pushedNumbers.leaveOut(open, this.prepared);
		if (this.stop !== undefined) settleAll(rows, this.stop);
		else if (rows.length > 0) {
			const outcome = await ledger.deliver(job, async () => await this.request(part, rows));
			this.settlePart(part, withoutStatus(rows), outcome);
			if (outcome.kind === 'unknown') this.stopAt(outcome.error, 'not_sent');
		}
	}

	/** Settles the rows of a part that an earlier attempt sent. */
	private async restore(part: Part, known: JobOutcome<PartResult>): Promise<void> {
		if (known.kind === 'unknown') {
			const { pushedNumbers } = this.deps;
			const rows = await pushedNumbers.leaveOut(part.rows, this.prepared, true);
			// Looking up those that were sent would take long.
			const [sent, others] = partition(rows, (row) => pushedNumbers.isUnknown(row));
			this.settleUnknown(sent, known, false);
			this.settleUnknown(others, known, true);
			return;
		}
		this.settlePart(part, part.rows, known);
		if (known.kind !== 'done') return;
		const { result } = known;
		if (result.kind === 'split') await this.findBegun(partsOf(part, result.alone));
		const rest = result.kind === 'accepted' ? withoutStatus(part.rows) : [];
		if (rest.length > 0) this.parts.unshift(restOf(part, rest));
	}

	/** Sends rows of a part in one request, except those whose numbers are known. */
	private async request(part: Part, all: readonly Row[]): Promise<JobOutcome<PartResult>> {
		const { client, campaign, additions, pushedBefore, signal } = this.deps;
		const body = { agent_uuid: campaign.agentUuid, enqueue: campaign.enqueue };
		let rows = all;
		try {
			if (pushedBefore !== undefined) rows = await pushedBefore.reserve(all);
			if (rows.length === 0) return { kind: 'skipped' };
			const areAll = rows.length === part.rows.length;
			const positions = areAll ? {} : { rows: positionsOf(rows, part) };
			const contacts = await this.contacts.of(rows);
			if (signal.aborted) throw pushInterrupted();
			const sending = addContacts(client, campaign.id, body, Buffer.from(contacts), additions);
			const response = recordOf(await this.workWhile(sending));
			const accepted = readAccepted(rows, response);
			requireConsistentCounts(accepted, rows.length);
			pushedBefore?.confirm(accepted.request);
			const result = { kind: 'accepted', response, ...positions } as const;
			return { kind: 'done', result, hadNoEffect: accepted.request.rows.length === 0 };
		} catch (error) {
			// An unexpected error may occur after the request was sent.
			const outcome = outcomeByError(
				error instanceof ExplainedError ? error : unexpectedError(error),
			);
			return outcome.kind === 'rejected' ? this.onRejection(part, rows, outcome.error) : outcome;
		}
	}

	/** Works on the other requests while this one is in flight, if the service takes long enough. */
	private async workWhile<T>(sending: Promise<T>): Promise<T> {
		const responded = new AbortController();
		const work = async () => {
			if (!(await pause(this.deps.client.clock, UNTIL_SENT_MS, responded.signal))) return;
			await this.contacts.prepare(this.parts[0]?.rows);
			await this.remember();
		};
		const working = work();
		return await sending.finally(async () => {
			responded.abort(DONE);
			await working;
		});
	}

	private async remember(): Promise<void> {
		await this.deps.pushedNumbers.add(this.toRemember.splice(0));
	}

	/** A rejection that is about single rows doesn't stop the push, unless there are too many. */
	private onRejection(
		part: Part,
		rows: readonly Row[],
		error: ExplainedError,
	): JobOutcome<PartResult> {
		const result = readRejection(error, part, rows);
		if (result === undefined) return { kind: 'rejected', error };
		const { chunk } = part;
		const isSplit = result.kind === 'split';
		const tooMany = tooManyRejected(error, chunk.sentAlone + countAlone(part, result));
		const hasMore = isSplit || this.parts[0]?.chunk === chunk;
		if (tooMany !== undefined && hasMore) this.stopAt(tooMany, 'not_sent');
		// The note of a split part stays, because after a crash only that one leads to those of its parts.
		return { kind: 'done', result, hadNoEffect: !isSplit };
	}

	/** Settles the rows of a part, or puts its parts first. */
	private settlePart(part: Part, rows: readonly Row[], outcome: JobOutcome<PartResult>): void {
		if (outcome.kind === 'done') {
			const { result } = outcome;
			part.chunk.sentAlone += countAlone(part, result);
			if (result.kind === 'split') this.parts.unshift(...partsOf(part, result.alone));
			else if (result.kind === 'accepted') this.settleAccepted(part, result);
			else settleAll(rows, { status: 'rejected', reason: result.reason });
		} else if (outcome.kind === 'unknown') {
			this.settleUnknown(rows, outcome, outcome.isBegun === true);
		} else if (outcome.kind !== 'skipped') {
			settleAll(rows, this.stopAt(outcome.error, 'not_sent'));
		}
	}

	/** @param mayBeLeftOut whether the rows may not have been in the request, because their numbers were known */
	private settleUnknown(
		rows: readonly Row[],
		{ error, isBegun }: Extract<JobOutcome<PartResult>, { kind: 'unknown' }>,
		mayBeLeftOut: boolean,
	): void {
		const { reader, textOf } = this.deps;
		this.hadEffect = true;
		if (isBegun !== true) this.unknown ??= error;
		const reason = isBegun === true ? BEGUN_EARLIER[reader] : textOf(error);
		const settled = { status: 'unknown', reason } as const;
		if (mayBeLeftOut) this.begun.push({ rows, settled });
		else settleAll(rows, settled);
	}

	private settleAccepted(part: Part, { rows, response }: AcceptedPart): void {
		const sent = rows?.flatMap((at) => part.rows[at] ?? []) ?? part.rows;
		const { request, skipped } = readAccepted(sent, response);
		this.requests.push(request);
		this.hadEffect ||= request.rows.length > 0;
		settleAll(request.rows, { status: 'pushed', reason: '', request });
		for (const { row, status, reason } of skipped) settle(row, status, reason);
		if (!this.remembers) return;
		// A number that the service skipped as a duplicate is in the campaign, too.
		const inCampaign = ['pushed', 'skipped_duplicate'];
		this.toRemember.push(...sent.filter(({ status = '' }) => inCampaign.includes(status)));
	}

	private stopAt(error: ExplainedError, status: Stop['status']): Stop {
		const isOfEarlier = status === 'not_sent' && error.outcome === 'unknown';
		const reason = isOfEarlier
			? `The push stopped at an earlier request, before it reached this row: ${error.message}. You can push this row again.`
			: this.deps.textOf(error);
		this.stop ??= { error, status, reason };
		return this.stop;
	}
}

function withoutStatus(rows: readonly Row[]): readonly Row[] {
	return rows.filter(({ status }) => status === undefined);
}
