import type { JsonValue } from '../json';
import { ServiceRejection, type ExplainedError } from './errors';
import { ListProof } from './listProof';
import { readPages, RepeatedPage, type Page, type PageReader, type PageOptions } from './paging';

/** How often a list is read that changes each time. */
export const MAX_READINGS = 5;

/** One pass over the pages of a list. */
export type Reading = {
	/** From 1. */
	number: number;
	/** Whether its pages should overlap: with those of earlier readings, by ending elsewhere, or with each other. */
	isStaggered: boolean;
	/** Entries on the first page of the first reading. */
	firstPageLength: number;
};

const FIRST_READING: Reading = { number: 1, isStaggered: false, firstPageLength: 0 };

/** A list that can be read more than once. */
export type ListReader<Position, Answer> = {
	pagesOf: (reading: Reading) => PageReader<Position, Answer>;
	/** What makes the pages of staggered readings overlap; undefined if nothing can. */
	staggeredBy: 'pageSize' | 'offset' | undefined;
	/** The same for an entry in every reading, and for no other entry; undefined if it has no such mark. */
	keyOf: (entry: JsonValue) => string | undefined;
};

/**
 * Reads a list to a limit. A whole one is read again if its total changed while it was read.
 *
 * @returns whether a whole list showed no sign that entries are missing; an entry that left may be among them
 */
export async function readList<Position, Answer>(
	list: ListReader<Position, Answer>,
	options: PageOptions,
): Promise<{ entries: JsonValue[]; isComplete: boolean }> {
	if (options.limit !== Infinity) {
		const entries = await readPages(list.pagesOf(FIRST_READING), options);
		return { entries, isComplete: true };
	}
	const readings = new Readings(list, options);
	const { proof } = readings;
	const entries = await readings.next();
	const isUnchanged = proof.seemsUnchanged;
	// Entries that cannot be told apart cannot be put together of several readings.
	const isKeyed = entries.every((entry) => list.keyOf(entry) !== undefined);
	if (isUnchanged || !isKeyed) return { entries, isComplete: isUnchanged && !proof.isShort };
	const isComplete = await readings.until(() => proof.seemsUnchanged || readings.areProven);
	return { isComplete: isComplete && !proof.isShort, entries: proof.entries() };
}

export type ProvenListOptions = Omit<PageOptions, 'limit'> & {
	notProven: () => ExplainedError;
	/** No limit where nothing is said. */
	longest?: { entries: number; exceeded: () => ExplainedError };
};

/**
 * Reads a whole list for a decision that rests on what is not in it, until {@link ListProof} holds.
 *
 * @returns all that was seen: an entry that left meanwhile may be among them
 * @throws what `notProven` gives, or `exceeded` for a longer list
 */
export async function readProvenList<Position, Answer>(
	list: ListReader<Position, Answer>,
	{ notProven, longest, ...options }: ProvenListOptions,
): Promise<JsonValue[]> {
	const { entries: most, exceeded } = longest ?? { entries: Infinity, exceeded: notProven };
	const readings = new Readings(list, { ...options, limit: most + 1 });
	const entries = await readings.next();
	if (entries.length > most) throw exceeded();
	if (readings.areProven) return entries;
	if (!(await readings.until(() => readings.areProven))) throw notProven();
	return readings.proof.entries();
}

/** A list that changes may look as if the service gave no other pages, so it's asked for them once more. */
const FAILURES_TO_GIVE_UP = 2;

/** The readings of one list. */
class Readings<Position, Answer> {
	readonly proof: ListProof;
	private number = 0;
	private failures = 0;
	private isRejected = false;

	constructor(
		private readonly list: ListReader<Position, Answer>,
		private readonly options: PageOptions,
	) {
		this.proof = new ListProof(list.keyOf);
	}

	get areProven(): boolean {
		const isCertain = this.list.staggeredBy === undefined || this.isRejected;
		return this.proof.holds({ canLink: this.canStagger, needsTotal: !isCertain });
	}

	async next(): Promise<JsonValue[]> {
		this.number++;
		// The others show by their ends how long a list without a total is.
		const isStaggered = this.number % 2 === 0 && this.canStagger;
		if (!isStaggered) return await this.read(false);
		return await this.readStaggered().catch(async (error: unknown) => {
			if (!isAboutPages(error)) throw error;
			// Some services take only certain page sizes, or offsets at which a page of theirs begins.
			this.isRejected = !this.proof.isBegun;
			this.failures++;
			return await this.read(false);
		});
	}

	/** @returns whether it was enough after one of the further readings */
	async until(isEnough: () => boolean): Promise<boolean> {
		while (this.number < MAX_READINGS) {
			await this.next();
			if (isEnough()) return true;
		}
		return false;
	}

	private async readStaggered(): Promise<JsonValue[]> {
		const entries = await this.read(true);
		if (this.list.staggeredBy === 'pageSize' && !this.proof.hasOtherPages) this.failures++;
		return entries;
	}

	private get canStagger(): boolean {
		const isKnown = this.list.staggeredBy !== undefined && !this.isRejected;
		return isKnown && this.failures < FAILURES_TO_GIVE_UP;
	}

	private async read(isStaggered: boolean): Promise<JsonValue[]> {
		const { proof, number } = this;
		proof.begin(number);
		const { firstPageLength } = proof;
		const pages = this.list.pagesOf({ number, isStaggered, firstPageLength });
		const entries = await readPages(recorded(pages, proof), this.options);
		proof.end();
		return entries;
	}
}

function isAboutPages(error: unknown): boolean {
	return error instanceof RepeatedPage || (error instanceof ServiceRejection && !error.isTransient);
}

type Received<Answer> = { answer: Answer; sentAt: number; receivedAt: number };

/** Shows each page to the proof, with the moments between which it was given. */
function recorded<Position, Answer>(
	{ ask, read }: PageReader<Position, Answer>,
	proof: ListProof,
): PageReader<Position, Received<Answer>> {
	return {
		ask: async (position, signal) => {
			const sentAt = proof.tick();
			const answer = await ask(position, signal);
			return { answer, sentAt, receivedAt: proof.tick() };
		},
		read: ({ answer, ...moments }, position, found): Page<Position> => {
			const part = read(answer, position, found);
			const { entries, total, end = found + entries.length } = part;
			proof.add({ ...moments, entries, total, end, isFirst: position === undefined });
			return part;
		},
	};
}
