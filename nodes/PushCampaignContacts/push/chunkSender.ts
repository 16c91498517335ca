import pull from 'lodash/pull';
import range from 'lodash/range';
import sortedIndexOf from 'lodash/sortedIndexOf';
import type { ApiClient } from '../../shared/api/client';
import { type Additions, pushContacts } from '../../shared/api/endpoints';
import { recordOf } from '../../shared/api/envelope';
import { explained, ExplainedError, InvalidInput, OutcomeUnknown } from '../../shared/api/errors';
import { forEveryone, onScreenOnly, type Reader, readerOf } from '../../shared/api/resolution';
import { DONE, pause } from '../../shared/clock';
import type { DeduplicationStore } from '../../shared/deduplicationStore';
import { messageOf } from '../../shared/values';
import type { PreparedRows } from './prepareRows';
import { NumbersPushedBefore } from './numbersPushedBefore';
import type { NumbersOfExecution } from './numbersOfExecution';
import { NOTED_EARLIER, rowsChanged, type ChunkRequest, type PushRecord } from './pushRecord';
import { reasonOf, type PushOutcome, type RowStatus } from './outcome';
import { type Accepted, readAccepted, requireConsistentCounts } from './accepted';
import { type Sent, sendInParts } from './rejectedRows';
import { RowSet, type RowRanges } from './rowSet';

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
	rows: readonly number[];
	/** The rows of the chunk after it. */
	next: readonly number[] | undefined;
	/** Changed in place. */
	records: ChunkRequest[];
};

/** Rows with these statuses are certainly not in the campaign. */
const WITHOUT_EFFECT: readonly RowStatus[] = ['rejected', 'do_not_disturb'];

/** Sends chunks, and records what happened to their rows. */
export class ChunkSender {
	private readonly pushedBefore: NumbersPushedBefore | undefined;
	private readonly reader: Reader;
	/** Rows that an earlier attempt noted, without a record. */
	private readonly noted: number[] = [];
	/** Rows whose numbers an earlier execution stored. */
	private readonly known: number[] = [];
	/** The contacts of the next chunk, prepared while a request is in flight. */
	private ahead: { rows: readonly number[]; contacts: Promise<string[]> } | undefined;

	/**
	 * @param push identifies the rows of the push, and how they are split
	 * @param outcome changed in place
	 */
	constructor(
		private readonly push: string,
		private readonly prepared: PreparedRows,
		private readonly deps: PushDeps,
		private readonly outcome: PushOutcome,
	) {
		const { numbersPushedBefore: store, campaign, isTool } = deps;
		const { keyAt } = prepared.phones;
		this.reader = readerOf(isTool);
		const end = campaign.enqueue ? 'released' : 'unreleased';
		this.pushedBefore = store && new NumbersPushedBefore(store, campaign.id, keyAt, isTool, end);
	}

	/** Adds what earlier attempts recorded of a chunk to the outcome. @returns its other rows */
	restore(records: readonly ChunkRequest[], rows: readonly number[]): readonly number[] {
		const settled = new Set<number>();
		for (const record of records) {
			const positions = [...RowSet.ofRanges(record.rows)];
			const own = positions.map((position) => rows[position]).filter((row) => row !== undefined);
			for (const row of own) settled.add(row);
			this.add(record, own);
		}
		return settled.size === 0 ? rows : rows.filter((row) => !settled.has(row));
	}

	/**
	 * Sends rows of a chunk, unless an earlier attempt or execution may have sent them.
	 *
	 * @throws NotSent if n8n can't store what is about to be sent
	 * @throws OutcomeUnknown if it isn't known which rows an earlier attempt sent
	 */
	async send(whole: Chunk, rows: readonly number[]): Promise<Sent> {
		const { notPushed } = this.outcome;
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
		const before = notPushed.added.length;
		const requestsBefore = this.outcome.pushed.length;
		const sent = await this.sendRows(whole, fresh);
		if (whole.records.length === recorded) await noted?.remove();
		const added = notPushed.added.slice(before);
		const withoutEffect = added.filter(({ status }) => WITHOUT_EFFECT.includes(status));
		const ranges = withoutEffect.map(({ first, last }) => range(first, last + 1));
		await this.pushedBefore?.confirm(this.outcome.pushed.slice(requestsBefore));
		await this.pushedBefore?.release([...ranges.flat(), ...sent.rest]);
		return sent;
	}

	/** Reports the rows that weren't sent because an earlier attempt or execution may have sent them. */
	async reportEarlier(): Promise<void> {
		const { noted, known, pushedBefore } = this;
		const { notPushed } = this.outcome;
		const all = [...noted, ...known].sort((one, other) => one - other);
		const unknown = new Set((await pushedBefore?.leaveOutPushed(all, notPushed)) ?? noted);
		const isUnknown = (row: number) => unknown.has(row);
		this.add({}, noted.filter(isUnknown));
		pushedBefore?.report(known.filter(isUnknown), 'unknown_before', notPushed);
	}

	/** Usually in one request. */
	private async sendRows(whole: Chunk, rows: readonly number[]): Promise<Sent> {
		const contacts = await this.contactsOf(rows).catch(explained);
		if (contacts instanceof ExplainedError) return { stopped: contacts, rest: rows };
		const request = async (part: readonly number[]) => {
			const isWhole = part.length === rows.length;
			const some = () => part.map((row) => contacts[sortedIndexOf(rows, row)] ?? '');
			return await this.request(whole, part, isWhole ? contacts : some());
		};
		const reject = (row: number, rejection: string) => {
			const record = { rows: rangesIn(whole.rows, [row]), rejection };
			// A model may push rejected rows again, also after a crash.
			if (!this.deps.isTool) whole.records.push(record);
			this.add(record, [row]);
			this.outcome.hasRejections = true;
		};
		return await sendInParts(rows, request, reject);
	}

	/** Sends one request, and records its result. @returns why the rows weren't accepted */
	private async request(
		{ rows: all, records, next }: Chunk,
		rows: readonly number[],
		contacts: readonly string[],
	): Promise<ExplainedError | undefined> {
		const { client, campaign, additions, isTool } = this.deps;
		const body = { agent_uuid: campaign.agentUuid, enqueue: campaign.enqueue };
		// Until the result is recorded, the request counts as unknown.
		const record: ChunkRequest = { rows: rangesIn(all, rows) };
		records.push(record);
		try {
			if (this.deps.stopRequested()) throw pushInterrupted();
			const list = Buffer.from(contacts.join());
			const responded = new AbortController();
			const sending = pushContacts(client, campaign.id, body, list, additions);
			const preparing = this.prepareNext(next, responded.signal);
			const sent = await sending.finally(async () => {
				responded.abort(DONE);
				await preparing;
			});
			const response = recordOf(sent);
			const accepted = readAccepted(rows, response, this.prepared.phones.keyAt);
			requireConsistentCounts(accepted, rows.length);
			this.addAccepted(accepted);
			record.response = response;
			// A model may also push the rows again if the service skipped all of them.
			if (isTool && accepted.request.rows.size === 0) pull(records, record);
			return undefined;
		} catch (error) {
			// An unexpected error may occur after the request was sent.
			const known = error instanceof ExplainedError ? error : unexpectedError(error);
			if (known.outcome === 'unknown') {
				if (known instanceof OutcomeUnknown) record.error = known.toStored();
				this.outcome.stopped ??= known;
				this.add(record, rows);
			} else pull(records, record);
			return known;
		}
	}

	/** Adds what happened to these rows to the outcome. */
	private add(
		{ response, rejection, error }: Omit<ChunkRequest, 'rows'>,
		rows: readonly number[],
	): void {
		const { notPushed } = this.outcome;
		const { reader } = this;
		if (response !== undefined) {
			this.addAccepted(readAccepted(rows, response, this.prepared.phones.keyAt));
		} else if (rejection !== undefined) {
			notPushed.addAll(RowSet.of(rows), 'rejected', rejection);
		} else if (error !== undefined) {
			const stopped = OutcomeUnknown.fromStored(error);
			this.outcome.stopped ??= stopped;
			notPushed.addAll(RowSet.of(rows), 'unknown', reasonOf(stopped, reader));
		} else {
			notPushed.addAll(RowSet.of(rows), 'unknown', NOTED_EARLIER[reader]);
		}
	}

	private addAccepted({ request, skipped }: Accepted): void {
		const { pushed, notPushed } = this.outcome;
		pushed.push(request);
		for (const { index, status, reason } of skipped) notPushed.add(index, status, reason);
	}

	private async contactsOf(rows: readonly number[]): Promise<string[]> {
		const { ahead } = this;
		const areAhead = ahead?.rows.length === rows.length && ahead.rows[0] === rows[0];
		return await (areAhead ? ahead.contacts : this.prepared.contactsOf(rows));
	}

	/** The service takes longer than preparing a chunk. If that fails, the chunk fails in its turn. */
	private async prepareNext(
		rows: readonly number[] | undefined,
		responded: AbortSignal,
	): Promise<void> {
		if (rows === undefined || rows === this.ahead?.rows) return;
		if (!(await pause(this.deps.client.clock, UNTIL_SENT_MS, responded))) return;
		const contacts = this.prepared.contactsOf(rows);
		this.ahead = { rows, contacts };
		await contacts.catch(() => undefined);
	}
}

/** The positions of some rows of a chunk, for its record. Both are in ascending order. */
function rangesIn(rows: readonly number[], some: readonly number[]): RowRanges {
	return RowSet.of(some.map((row) => sortedIndexOf(rows, row))).toRanges();
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
