import once from 'lodash/once';
import pull from 'lodash/pull';
import sortBy from 'lodash/sortBy';
import type { ApiClient } from '../../core/service/client';
import { type Additions, pushContacts } from '../../core/service/endpoints';
import { recordOf } from '../../core/service/envelope';
import { explained, ExplainedError, InvalidInput, OutcomeUnknown } from '../../core/service/errors';
import { forEveryone, onScreenOnly, type Reader, readerOf } from '../../core/service/resolution';
import { DONE, pause } from '../../core/values/clock';
import type { DeduplicationStore } from '../../core/deduplicationStore';
import { messageOf } from '../../core/values/values';
import { type ColumnsOf, contactsOf } from './prepareRows';
import { NumbersPushedBefore } from './numbersPushedBefore';
import type { NumbersOfExecution } from './numbersOfExecution';
import {
	NOTED_EARLIER,
	positionsOf,
	rowsAt,
	rowsChanged,
	type ChunkRequest,
	type PushRecord,
} from './pushRecord';
import { reasonOf, type PushOutcome } from './outcome';
import { type Accepted, readAccepted, requireConsistentCounts } from './accepted';
import { type Sent, sendInParts } from './rejectedRows';
import { type Row, settle } from './rows';

/** n8n's HTTP helper needs one or two milliseconds to send a request. */
const UNTIL_SENT_MS = 5;

/** The campaign and agent of a push. */
export type CampaignTarget = { id: number; agentUuid: string; enqueue: boolean };

/** `remove`: what was noted had no effect, so that a retry may send it. */
type Note = { state: 'new' | 'same' | 'unclear'; remove: () => Promise<void> };

/** What a push needs besides its rows. */
export type PushDeps = {
	client: ApiClient;
	campaign: CampaignTarget;
	additions: Additions;
	contactsPerRequest: number;
	/** What earlier attempts did. Changed in place. */
	record: PushRecord;
	/** Numbers that other runs of the node pushed in this execution. */
	numbersOfExecution: NumbersOfExecution;
	/** Whether the node runs as a tool. */
	isTool: boolean;
	/** Checked before each request: whether the execution was stopped. */
	stopRequested: () => boolean;
	/**
	 * Notes a chunk in n8n's database before it's sent.
	 *
	 * @param part the chunk, and how many requests of it are recorded. A retry notes only what isn't recorded.
	 * @param push identifies the rows of the push, and how they are split
	 * @returns whether an earlier attempt noted it, or another one in its place
	 */
	note?: ((part: [chunk: number, recorded: number], push: string) => Promise<Note>) | undefined;
	/** For *Skip Numbers Pushed Before*: the numbers that earlier executions pushed. */
	numbersPushedBefore?: DeduplicationStore | undefined;
};

/** Rows in a push, with what is recorded of them. Usually one request. */
type Chunk = {
	index: number;
	rows: readonly Row[];
	/** The rows of the chunk after it. */
	next: readonly Row[] | undefined;
	/** Changed in place. */
	records: ChunkRequest[];
};

/** Rows with these statuses are certainly not in the campaign. */
const WITHOUT_EFFECT: ReadonlySet<Row['status']> = new Set(['rejected', 'do_not_disturb']);

/** Sends chunks, and records what happened to their rows. */
export class ChunkSender {
	private readonly pushedBefore: NumbersPushedBefore | undefined;
	private readonly reader: Reader;
	/** Rows that an earlier attempt noted, without a record. */
	private readonly noted: Row[] = [];
	/** Rows whose numbers an earlier execution stored. */
	private readonly known: Row[] = [];
	/** The contacts of the next chunk, prepared while a request is in flight. */
	private ahead: { rows: readonly Row[]; contacts: Promise<string[]> } | undefined;

	/**
	 * @param push identifies the rows of the push, and how they are split
	 * @param outcome changed in place
	 */
	constructor(
		private readonly push: string,
		private readonly columnsOf: ColumnsOf,
		private readonly deps: PushDeps,
		private readonly outcome: PushOutcome,
	) {
		const { numbersPushedBefore: store, campaign, isTool } = deps;
		this.reader = readerOf(isTool);
		const end = campaign.enqueue ? 'released' : 'unreleased';
		this.pushedBefore = store && new NumbersPushedBefore(store, campaign.id, isTool, end);
	}

	/** Settles the rows of a chunk that earlier attempts recorded. @returns its other rows */
	restore(records: readonly ChunkRequest[], rows: readonly Row[]): readonly Row[] {
		for (const record of records) this.settle(record, rowsAt(record.rows, rows));
		return records.length === 0 ? rows : rows.filter(({ status }) => status === undefined);
	}

	/**
	 * Sends rows of a chunk, unless an earlier attempt or execution may have sent them.
	 *
	 * @throws NotSent if n8n can't store what is about to be sent
	 * @throws OutcomeUnknown if it isn't known which rows an earlier attempt sent
	 */
	async send(whole: Chunk, rows: readonly Row[]): Promise<Sent> {
		const recorded = whole.records.length;
		const noted = await this.deps.note?.([whole.index, recorded], this.push);
		if (noted?.state === 'unclear' && whole.rows.length > 0) throw rowsChanged();
		if (noted?.state === 'same') {
			// An earlier attempt may have sent it, but recorded nothing.
			this.noted.push(...rows);
			return { rest: [] };
		}
		const [fresh, known] = (await this.pushedBefore?.reserve(rows)) ?? [rows, []];
		this.known.push(...known);
		if (fresh.length === 0) {
			await noted?.remove();
			return { rest: [] };
		}
		const requestsBefore = this.outcome.requests.length;
		const sent = await this.sendRows(whole, fresh);
		if (whole.records.length === recorded) await noted?.remove();
		const withoutEffect = fresh.filter(({ status }) => WITHOUT_EFFECT.has(status));
		await this.pushedBefore?.confirm(this.outcome.requests.slice(requestsBefore));
		await this.pushedBefore?.forget([...withoutEffect, ...sent.rest]);
		return sent;
	}

	/** Settles the rows that weren't sent because an earlier attempt or execution may have sent them. */
	async settleEarlier(): Promise<void> {
		const { noted, known, pushedBefore } = this;
		await pushedBefore?.leaveOutPushed(sortBy([...noted, ...known], 'index'));
		const isUnknown = ({ status }: Row) => status === undefined;
		this.settle({}, noted.filter(isUnknown));
		pushedBefore?.report(known.filter(isUnknown), 'unknown_before');
	}

	/** Usually in one request. */
	private async sendRows(whole: Chunk, rows: readonly Row[]): Promise<Sent> {
		const contacts = await this.contactsOf(rows).catch(explained);
		if (contacts instanceof ExplainedError) return { stopped: contacts, rest: rows };
		const contactOf = once(() => new Map(rows.map((row, at) => [row, contacts[at] ?? ''])));
		const request = async (part: readonly Row[]) => {
			const isWhole = part.length === rows.length;
			const some = isWhole ? contacts : part.map((row) => contactOf().get(row));
			return await this.request(whole, part, some.join());
		};
		const reject = (row: Row, rejection: string) => {
			const record = { rows: positionsOf([row], whole.rows), rejection };
			// A model may push rejected rows again, also after a crash.
			if (!this.deps.isTool) whole.records.push(record);
			this.settle(record, [row]);
			this.outcome.hasRejections = true;
		};
		return await sendInParts(rows, request, reject);
	}

	/** Sends one request, and records its result. @returns why the rows weren't accepted */
	private async request(
		{ rows: all, records, next }: Chunk,
		rows: readonly Row[],
		contacts: string,
	): Promise<ExplainedError | undefined> {
		const { client, campaign, additions, isTool } = this.deps;
		const body = { agent_uuid: campaign.agentUuid, enqueue: campaign.enqueue };
		// Until the result is recorded, the request counts as unknown.
		const record: ChunkRequest = { rows: positionsOf(rows, all) };
		records.push(record);
		try {
			if (this.deps.stopRequested()) throw pushInterrupted();
			const list = Buffer.from(contacts);
			const responded = new AbortController();
			const sending = pushContacts(client, campaign.id, body, list, additions);
			const preparing = this.prepareNext(next, responded.signal);
			const sent = await sending.finally(async () => {
				responded.abort(DONE);
				await preparing;
			});
			const response = recordOf(sent);
			const accepted = readAccepted(rows, response);
			requireConsistentCounts(accepted, rows.length);
			this.settleAccepted(accepted);
			record.response = response;
			// A model may also push the rows again if the service skipped all of them.
			if (isTool && accepted.request.rows.length === 0) pull(records, record);
			return undefined;
		} catch (error) {
			// An unexpected error may occur after the request was sent.
			const known = error instanceof ExplainedError ? error : unexpectedError(error);
			if (known.outcome === 'unknown') {
				if (known instanceof OutcomeUnknown) record.error = known.toStored();
				this.outcome.stopped ??= known;
				this.settle(record, rows);
			} else pull(records, record);
			return known;
		}
	}

	/** Settles what happened to these rows. */
	private settle(
		{ response, rejection, error }: Omit<ChunkRequest, 'rows'>,
		rows: readonly Row[],
	): void {
		const all = (status: Row['status'], reason: string) => {
			for (const row of rows) settle(row, status, reason);
		};
		if (response !== undefined) this.settleAccepted(readAccepted(rows, response));
		else if (rejection !== undefined) all('rejected', rejection);
		else if (error !== undefined) {
			const stopped = OutcomeUnknown.fromStored(error);
			this.outcome.stopped ??= stopped;
			all('unknown', reasonOf(stopped, this.reader));
		} else all('unknown', NOTED_EARLIER[this.reader]);
	}

	private settleAccepted({ request, skipped }: Accepted): void {
		this.outcome.requests.push(request);
		for (const row of request.rows) {
			settle(row, 'pushed');
			row.request = request;
		}
		for (const { row, status, reason } of skipped) settle(row, status, reason);
	}

	private async contactsOf(rows: readonly Row[]): Promise<string[]> {
		const { ahead } = this;
		const areAhead = ahead?.rows.length === rows.length && ahead.rows[0] === rows[0];
		return await (areAhead ? ahead.contacts : contactsOf(rows, this.columnsOf));
	}

	/** The service takes longer than preparing a chunk. If that fails, the chunk fails in its turn. */
	private async prepareNext(
		rows: readonly Row[] | undefined,
		responded: AbortSignal,
	): Promise<void> {
		if (rows === undefined || rows === this.ahead?.rows) return;
		if (!(await pause(this.deps.client.clock, UNTIL_SENT_MS, responded))) return;
		const contacts = contactsOf(rows, this.columnsOf);
		this.ahead = { rows, contacts };
		await contacts.catch(() => undefined);
	}
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
