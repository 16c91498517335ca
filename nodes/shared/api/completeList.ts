import type { JsonValue } from '../json';
import { ServiceRejection, type ExplainedError } from './errors';
import { ListProof } from './listProof';
import { readPages, RepeatedPage, type Page, type PageReader, type PageOptions } from './paging';

/** Maximum number of readings of a list that keeps changing. */
export const MAX_READINGS = 5;

/** One pass over the pages of a list. */
export type Reading = {
	/** From 1. */
	number: number;
	/** Whether its pages should overlap with those of other readings or with each other. */
	isStaggered: boolean;
	/** Number of entries on the first page of the first reading. */
	firstPageLength: number;
};

const FIRST_READING: Reading = { number: 1, isStaggered: false, firstPageLength: 0 };

/** A list that can be read more than once. */
export type ListReader<Position, PageResponse> = {
	pagesOf: (reading: Reading) => PageReader<Position, PageResponse>;
	/** How staggered readings make pages overlap. Undefined if they can't. */
	staggeredBy: 'pageSize' | 'offset' | undefined;
	/** Identifies an entry in every reading. Undefined if the entry has no unique key. */
	keyOf: (entry: JsonValue) => string | undefined;
};

/**
 * Reads a list up to a limit. Without a limit, reads it again if its total changed in between.
 *
 * @returns `isComplete`: whether nothing suggests that entries are missing. The entries may include removed ones.
 */
export async function readList<Position, PageResponse>(
	list: ListReader<Position, PageResponse>,
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
	// Entries of several readings can only be combined if each has a key.
	const isKeyed = entries.every((entry) => list.keyOf(entry) !== undefined);
	if (isUnchanged || !isKeyed) return { entries, isComplete: isUnchanged && !proof.isShort };
	const isComplete = await readings.readUntil(() => proof.seemsUnchanged || readings.isProven);
	return { isComplete: isComplete && !proof.isShort, entries: proof.entries() };
}

export type ProvenListOptions = Omit<PageOptions, 'limit'> & {
	notProven: () => ExplainedError;
	/** The maximum number of entries, and the error for a longer list. Unlimited by default. */
	maxLength?: { entries: number; exceeded: () => ExplainedError };
};

/**
 * Reads a whole list for a decision that depends on missing entries, until {@link ListProof} proves that it's complete.
 *
 * @returns all entries that were seen. They may include entries that were removed in between.
 * @throws the error of `notProven`, or of `exceeded` for a longer list
 */
export async function readProvenList<Position, PageResponse>(
	list: ListReader<Position, PageResponse>,
	{ notProven, maxLength, ...options }: ProvenListOptions,
): Promise<JsonValue[]> {
	const { entries: max, exceeded } = maxLength ?? { entries: Infinity, exceeded: notProven };
	const readings = new Readings(list, { ...options, limit: max + 1 });
	const entries = await readings.next();
	if (entries.length > max) throw exceeded();
	if (readings.isProven) return entries;
	if (!(await readings.readUntil(() => readings.isProven))) throw notProven();
	return readings.proof.entries();
}

/** A changing list may look as if the service doesn't support other pages, so the reader tries twice. */
const FAILURES_TO_GIVE_UP = 2;

/** The readings of one list. */
class Readings<Position, PageResponse> {
	readonly proof: ListProof;
	private number = 0;
	private failures = 0;
	private rejectsStaggering = false;

	constructor(
		private readonly list: ListReader<Position, PageResponse>,
		private readonly options: PageOptions,
	) {
		this.proof = new ListProof(list.keyOf);
	}

	get isProven(): boolean {
		const isCertain = this.list.staggeredBy === undefined || this.rejectsStaggering;
		return this.proof.isProven({ canLink: this.canStagger, needsTotal: !isCertain });
	}

	async next(): Promise<JsonValue[]> {
		this.number++;
		// Unstaggered readings show the length of a list without a total.
		const isStaggered = this.number % 2 === 0 && this.canStagger;
		if (!isStaggered) return await this.read(false);
		return await this.readStaggered().catch(async (error: unknown) => {
			if (!isAboutPages(error)) throw error;
			// Some services accept only certain page sizes, or only offsets at the start of a page.
			this.rejectsStaggering = !this.proof.hasPages;
			this.failures++;
			return await this.read(false);
		});
	}

	/** @returns whether one of the further readings was enough */
	async readUntil(isEnough: () => boolean): Promise<boolean> {
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
		const isKnown = this.list.staggeredBy !== undefined && !this.rejectsStaggering;
		return isKnown && this.failures < FAILURES_TO_GIVE_UP;
	}

	private async read(isStaggered: boolean): Promise<JsonValue[]> {
		const { proof, number } = this;
		proof.beginReading(number);
		const { firstPageLength } = proof;
		const pages = this.list.pagesOf({ number, isStaggered, firstPageLength });
		const entries = await readPages(recorded(pages, proof), this.options);
		proof.endReading();
		return entries;
	}
}

/** Whether an error may be due to the requested pages. */
function isAboutPages(error: unknown): boolean {
	return error instanceof RepeatedPage || (error instanceof ServiceRejection && !error.isTransient);
}

type Received<PageResponse> = { response: PageResponse; sentAt: number; receivedAt: number };

/** Adds each page to the proof, with the ticks of its request and response. */
function recorded<Position, PageResponse>(
	{ fetch, parse }: PageReader<Position, PageResponse>,
	proof: ListProof,
): PageReader<Position, Received<PageResponse>> {
	return {
		fetch: async (position, signal) => {
			const sentAt = proof.tick();
			const response = await fetch(position, signal);
			return { response, sentAt, receivedAt: proof.tick() };
		},
		parse: ({ response, ...ticks }, position, found): Page<Position> => {
			const page = parse(response, position, found);
			const { entries, total, end = found + entries.length } = page;
			proof.add({ ...ticks, entries, total, end, isFirst: position === undefined });
			return page;
		},
	};
}
