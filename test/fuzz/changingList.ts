import fc from 'fast-check';
import type { ApiClient } from '../../nodes/shared/api/client';
import type { ServiceRequest } from '../../nodes/shared/api/http';
import { clientOf } from '../nodes/shared/api/clientOf';

/** An entry of the list. A person can have several entries, one after another. */
export type Entry = { id: number; person: number };

/** A change of the list by someone else. Positions are fractions of its length, from 0 to 1. */
export type Change =
	| { kind: 'add' | 'remove' | 'leave'; at: number }
	| { kind: 'move' | 'replace'; at: number; to: number }
	| { kind: 'comeBack' };

export type ChangeKind = Change['kind'];

/** Often the beginning or the end, as in lists that are sorted by time. */
const position = fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true }));

export function changes(...kinds: ChangeKind[]): fc.Arbitrary<Change> {
	return fc.oneof(
		...kinds.map((kind): fc.Arbitrary<Change> => {
			if (kind === 'comeBack') return fc.constant({ kind });
			if (kind === 'move' || kind === 'replace')
				return fc.record({ kind: fc.constant(kind), at: position, to: position });
			return fc.record({ kind: fc.constant(kind), at: position });
		}),
	);
}

export type ListScenario = {
	length: number;
	pageSize: number;
	/** The changes before each request. */
	changes: Change[][];
	/** Whether the changes start again after the last one. */
	isRepeated: boolean;
	/** The duration of each request, in iterations of the event loop. Concurrent requests can overtake each other. */
	delays: number[];
};

export const scenarios = (kinds: ChangeKind[], smallestPage = 1): fc.Arbitrary<ListScenario> =>
	fc.record({
		length: fc.integer({ min: 0, max: 24 }),
		pageSize: fc.integer({ min: smallestPage, max: 8 }),
		changes: fc.array(fc.array(changes(...kinds), { maxLength: 2 }), { maxLength: 40 }),
		isRepeated: fc.boolean(),
		delays: fc.array(fc.nat(4), { minLength: 1, maxLength: 12 }),
	});

/** The list stops changing after this many requests, because a list that always grows has no end. */
const LAST_CHANGE = 60;

/** A list that changes while it is read. Knows which entries and people were always on it. */
export class ChangingList {
	private entries: Entry[];
	/** Removed entries that may come back at their old positions. */
	private readonly away: Array<{ entry: Entry; index: number }> = [];
	private readonly present = new Map<number, Entry>();
	private readonly stayedPeople: Set<number>;
	private lastId: number;
	requests = 0;

	get pageSize(): number {
		return this.scenario.pageSize;
	}

	constructor(private readonly scenario: ListScenario) {
		this.entries = Array.from({ length: scenario.length }, (_, id) => ({ id, person: id }));
		this.lastId = scenario.length;
		for (const entry of this.entries) this.present.set(entry.id, entry);
		this.stayedPeople = new Set(this.entries.map(({ person }) => person));
	}

	/** The entries of the list at the next request. */
	async entriesForRequest(): Promise<readonly Entry[]> {
		const { delays, changes: planned, isRepeated } = this.scenario;
		for (let wait = delays[this.requests % delays.length] ?? 0; wait > 0; wait--)
			await new Promise((resolve) => setImmediate(resolve));
		const request = this.requests++;
		const hasEnded = request >= LAST_CHANGE || planned.length === 0;
		const step = isRepeated && !hasEnded ? request % planned.length : request;
		for (const change of planned[step] ?? []) this.apply(change);
		return [...this.entries];
	}

	/** Entries that were always in the list. */
	get stayed(): Entry[] {
		return [...this.present.values()];
	}

	/** People who always had an entry, but not always the same one. */
	get peopleWhoStayed(): number[] {
		return [...this.stayedPeople];
	}

	private apply(change: Change): void {
		if (change.kind === 'comeBack') {
			const back = this.away.pop();
			if (back !== undefined) this.entries.splice(back.index, 0, back.entry);
		} else if (change.kind === 'add') {
			const id = ++this.lastId;
			this.entries.splice(this.indexAt(change.at, 1), 0, { id, person: id });
		} else {
			const index = this.indexAt(change.at, 0);
			const [entry] = this.entries.splice(index, 1);
			if (entry === undefined) return;
			if (change.kind === 'leave') this.away.push({ entry, index });
			if (change.kind === 'move') this.entries.splice(this.indexAt(change.to, 1), 0, entry);
			if (change.kind === 'replace') {
				const again = { ...entry, id: ++this.lastId };
				this.entries.splice(this.indexAt(change.to, 1), 0, again);
			}
		}
		const ids = new Set(this.entries.map(({ id }) => id));
		const people = new Set(this.entries.map(({ person }) => person));
		for (const id of this.present.keys()) if (!ids.has(id)) this.present.delete(id);
		for (const person of this.stayedPeople)
			if (!people.has(person)) this.stayedPeople.delete(person);
	}

	private indexAt(part: number, beyond: 0 | 1): number {
		return Math.min(
			Math.floor(part * (this.entries.length + beyond)),
			Math.max(0, this.entries.length - 1 + beyond),
		);
	}
}

/** A client for a service that builds its responses from the list and the request. */
export function serviceOf(
	list: ChangingList,
	respond: (entries: readonly Entry[], query: URLSearchParams) => object,
): ApiClient {
	const transport = async ({ path, query = {}, link }: ServiceRequest) => {
		const url = new URL(link ?? path, 'https://service.example');
		if (link === undefined)
			for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
		const body = respond(await list.entriesForRequest(), url.searchParams);
		return { status: 200, headers: {}, text: JSON.stringify(body), url: url.href };
	};
	return clientOf(transport);
}
