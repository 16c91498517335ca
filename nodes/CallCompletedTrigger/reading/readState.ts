import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json';
import { fingerprintsFromText, fingerprintsToText } from './fingerprints';

/** The most outcomes to remember. Takes 11 MB in n8n's database, and 45 MB in memory. */
export const MAX_OUTCOMES = 1_000_000;

/**
 * An outcome whose execution hadn't ended when the state was stored is started again after a restart within this time.
 * n8n recognizes its key if the execution had started.
 */
const UNCONFIRMED_MS = 24 * 3_600_000;

/** A contact list that is read. */
type OpenList = {
	/** Outcomes that have started the workflow, or never do. */
	seen: Set<bigint>;
	/** Only calls that were created after this time start the workflow. Epoch milliseconds. */
	after: number;
};

/** A contact list whose calls have all ended. */
type FinishedList = {
	campaignId: number;
	/** Its calling queues, as in the campaign status. */
	queues: string;
	/** When its latest call was created. Epoch milliseconds. */
	latest: number;
	/** The number of its calls. */
	count: number;
};

/**
 * What the trigger remembers between readings, and across restarts. Of a finished list, it only remembers when the
 * latest call was created.
 */
export class ReadState {
	/**
	 * When publishing stopped waiting for the first reading. Calls that were created later start the workflow, also if they
	 * end before that reading is complete. Epoch milliseconds.
	 */
	since: number | undefined;

	/** Whether the first reading is complete. */
	isBegun = false;

	/** By campaign: its call attempts that aren't in the lists that are read. */
	readonly unlisted = new Map<number, number>();

	private readonly open = new Map<string, OpenList>();
	/** By list ID. */
	readonly finished = new Map<string, FinishedList>();

	/** Outcomes whose executions haven't ended, with their lists. */
	private readonly started = new Map<bigint, string>();

	/** @param subject the calls that are read. Other ones start with an empty state. */
	constructor(readonly subject: string) {}

	/**
	 * Restores a state from {@link toStored}.
	 *
	 * @returns undefined if there is none for this subject
	 */
	static restore(stored: unknown, subject: string, now: number): ReadState | undefined {
		if (!isJsonObject(stored) || stored.subject !== subject) return undefined;
		const { since, isBegun, unlisted, lists, finished, unconfirmed } = stored;
		const state = new ReadState(subject);
		state.since = numberOr(since, undefined);
		state.isBegun = isBegun === true;
		for (const [id, count] of Object.entries(isJsonObject(unlisted) ? unlisted : {})) {
			state.unlisted.set(Number(id), numberOr(count, 0));
		}
		for (const [id, list] of entriesOf(lists)) {
			const seen = fingerprintsFromText(textOf(list.seen));
			state.open.set(id, { seen, after: numberOr(list.after, -Infinity) });
		}
		for (const [id, list] of entriesOf(finished)) {
			state.finished.set(id, {
				campaignId: numberOr(list.campaignId, 0),
				queues: textOf(list.queues),
				latest: numberOr(list.latest, now),
				count: numberOr(list.count, 0),
			});
		}
		state.confirm(unconfirmed, now);
		return state;
	}

	toStored(now: number): JsonObject {
		const lists: JsonObject = {};
		for (const [id, { seen, after }] of this.open) {
			lists[id] = { seen: fingerprintsToText(seen), ...(after !== -Infinity && { after }) };
		}
		const unconfirmed: { [id: string]: string[] } = {};
		for (const [fingerprint, id] of this.started) {
			(unconfirmed[id] ??= []).push(fingerprint.toString(16));
		}
		return {
			subject: this.subject,
			...(this.since !== undefined && { since: this.since }),
			isBegun: this.isBegun,
			unlisted: Object.fromEntries(this.unlisted),
			lists,
			finished: Object.fromEntries(this.finished),
			unconfirmed: { at: now, lists: unconfirmed },
		};
	}

	/** The number of remembered outcomes. */
	get size(): number {
		let size = this.started.size;
		for (const { seen } of this.open.values()) size += seen.size;
		return size;
	}

	/** Whether the list was read before. */
	isKnown(listId: string): boolean {
		return this.open.has(listId) || this.finished.has(listId);
	}

	/** For lists that were added. They have a first reading of their own. */
	beginAgain(): void {
		this.isBegun = false;
		this.since = undefined;
	}

	/** Begins or continues a list. */
	openList(listId: string, after: number): OpenList {
		const known = this.open.get(listId);
		if (known !== undefined) return known;
		const list = { seen: new Set<bigint>(), after };
		this.open.set(listId, list);
		return list;
	}

	isSeen(listId: string, fingerprint: bigint): boolean {
		return this.started.has(fingerprint) || this.open.get(listId)?.seen.has(fingerprint) === true;
	}

	/** Remembers an outcome that doesn't start the workflow again. Ignored for a list that isn't read. */
	addSeen(listId: string, fingerprint: bigint): void {
		this.open.get(listId)?.seen.add(fingerprint);
	}

	/** Remembers an outcome whose execution is being started. Ignored for a list that isn't read. */
	addStarted(listId: string, fingerprint: bigint): void {
		if (this.open.has(listId)) this.started.set(fingerprint, listId);
	}

	/** The execution has ended. @param isStarted false if n8n couldn't start it, so the outcome is started again */
	settle(listId: string, fingerprint: bigint, isStarted: boolean): void {
		this.started.delete(fingerprint);
		if (isStarted) this.addSeen(listId, fingerprint);
	}

	/** Whether an execution of this list hasn't ended. */
	hasStarted(listId: string): boolean {
		return [...this.started.values()].includes(listId);
	}

	finish(listId: string, list: FinishedList): void {
		this.open.delete(listId);
		this.finished.set(listId, list);
	}

	/** @returns undefined if the list isn't finished */
	queuesOf(listId: string): string | undefined {
		return this.finished.get(listId)?.queues;
	}

	/** Reads a finished list again. Calls up to its latest one never start the workflow. */
	reopen(listId: string): void {
		const list = this.finished.get(listId);
		if (list === undefined) return;
		this.finished.delete(listId);
		this.openList(listId, list.latest);
	}

	private confirm(unconfirmed: JsonValue | undefined, now: number): void {
		if (!isJsonObject(unconfirmed) || now - numberOr(unconfirmed.at, now) < UNCONFIRMED_MS) return;
		const { lists } = unconfirmed;
		if (!isJsonObject(lists)) return;
		for (const [id, fingerprints] of Object.entries(lists)) {
			for (const one of Array.isArray(fingerprints) ? fingerprints : []) {
				this.addSeen(id, BigInt(`0x${textOf(one)}`));
			}
		}
	}
}

function entriesOf(lists: JsonValue | undefined): Array<[string, JsonObject]> {
	if (!isJsonObject(lists)) return [];
	return Object.entries(lists).flatMap(([id, list]) => (isJsonObject(list) ? [[id, list]] : []));
}

function numberOr<T>(value: JsonValue | undefined, fallback: T): number | T {
	return typeof value === 'number' ? value : fallback;
}

function textOf(value: JsonValue | undefined): string {
	return typeof value === 'string' ? value : '';
}
