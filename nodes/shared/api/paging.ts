import isEqual from 'lodash/isEqual';
import pLimit from 'p-limit';
import { OutcomeUnknown } from './errors';
import { onScreenOnly } from './modelAdvice';
import { DONE } from '../clock';
import type { Limiter } from '../keyedMutex';
import type { JsonValue } from '../json';
import { READS_AT_ONCE } from './limits';

/** One part of a list. */
export type Page<Position> = {
	entries: JsonValue[];
	/** What asks for the next one; none if the list ends. An empty part may have one: a service may filter its pages. */
	next?: Position;
	/** What asks for those after it, where that shows already: they are asked for meanwhile. */
	further?: Iterable<Position>;
	/** How many entries the whole list has, if the service says so. */
	total?: number | undefined;
	/** How many entries the list has up to the end of this part, if those are not the ones read so far; Infinity if that isn't known. */
	end?: number | undefined;
};

/** How the parts of a list are had. */
export type PageReader<Position, Answer> = {
	/**
	 * The first part is asked for without a position.
	 *
	 * @param signal aborted when nobody wants the answer any more
	 */
	ask: (position: Position | undefined, signal: AbortSignal) => Promise<Answer>;
	/** @param found how many entries there are before it */
	read: (answer: Answer, position: Position | undefined, found: number) => Page<Position>;
};

export type PageOptions = {
	/** Infinity for all entries. */
	limit: number;
	/** Bounds what is asked for at the same time, also over several lists. */
	limiter?: Limiter | undefined;
	/** What a person at the screen can do if the list would never end. */
	loopAdvice: string;
};

/** The service gave the same page again, or led back to one: the list would never end. */
export class RepeatedPage extends OutcomeUnknown {
	constructor(resolution: string) {
		super('The service gave the same part of the list again', onScreenOnly(resolution));
	}
}

/** After so many empty parts in a row the list has ended: some services name a next part for ever. */
const MAX_EMPTY_PAGES = 10;

/**
 * Reads a list part by part until the limit is reached or the list ends.
 *
 * @throws RepeatedPage when the service gives the same part again, or leads back to one, as the list would never end
 */
export async function readPages<Position, Answer>(
	{ ask, read }: PageReader<Position, Answer>,
	{ limit, limiter = pLimit(READS_AT_ONCE), loopAdvice }: PageOptions,
): Promise<JsonValue[]> {
	const found: JsonValue[] = [];
	const asked = new Set<string>();
	let answers = new PagePrefetcher(ask, limiter);
	let areForeseen = true;
	let position: Position | undefined;
	let former: JsonValue[] | undefined;
	let emptyParts = 0;
	try {
		for (;;) {
			const answer = await answers.of(position);
			const { entries, next, further = [] } = read(answer, position, found.length);
			if (entries.length > 0 && isEqual(entries, former)) throw new RepeatedPage(loopAdvice);
			// Not spread: a whole list of 200,000 is more arguments than a function takes.
			for (const entry of entries) found.push(entry);
			emptyParts = entries.length === 0 ? emptyParts + 1 : 0;
			const hasEnded = next === undefined || emptyParts >= MAX_EMPTY_PAGES;
			if (hasEnded || found.length >= limit) break;
			const key = JSON.stringify(next);
			if (asked.has(key) && emptyParts > 0) break;
			if (asked.has(key)) throw new RepeatedPage(loopAdvice);
			asked.add(key);
			if (answers.missed(next)) {
				// Parts are of different lengths: to go on guessing would cost ten requests for each of them.
				areForeseen = false;
				answers.end();
				answers = new PagePrefetcher(ask, limiter);
			}
			const wanted = Math.ceil((limit - found.length) / Math.max(1, entries.length));
			if (areForeseen) answers.askFor(next, further, Math.min(wanted, READS_AT_ONCE));
			position = next;
			former = entries;
		}
	} finally {
		answers.end();
	}
	return found.slice(0, limit);
}

/** The answers that come next. */
class PagePrefetcher<Position, Answer> {
	private readonly answers = new Map<string, Promise<Answer>>();
	private hasFailed = false;
	private readonly over = new AbortController();

	constructor(
		private readonly ask: PageReader<Position, Answer>['ask'],
		private readonly limiter: Limiter,
	) {}

	async of(position: Position | undefined): Promise<Answer> {
		const key = JSON.stringify(position);
		const answer =
			this.answers.get(key) ?? this.limiter(async () => await this.ask(position, this.over.signal));
		this.answers.delete(key);
		return await answer;
	}

	/** Whether another was asked for in its place. */
	missed(next: Position): boolean {
		const [first] = this.answers.keys();
		return first !== undefined && first !== JSON.stringify(next);
	}

	/** @param further may be any number: a service claims what it likes */
	askFor(next: Position, further: Iterable<Position>, most: number): void {
		const { signal } = this.over;
		let count = 0;
		for (const position of chain(next, further)) {
			if (count++ === most) return;
			const key = JSON.stringify(position);
			if (this.answers.has(key)) continue;
			const answer = this.limiter(async () => {
				if (this.hasFailed || signal.aborted) throw new Error('Not asked for any more');
				return await this.ask(position, signal).catch((error: unknown) => {
					// At once: the list learns of it only after the next turn has begun.
					this.hasFailed = true;
					throw error;
				});
			});
			// What went wrong is told when its turn comes, which may be never.
			answer.catch(() => undefined);
			this.answers.set(key, answer);
		}
	}

	/** What waits for its turn is not asked for, and what was asked for is not tried again. */
	end(): void {
		this.over.abort(DONE);
	}
}

function* chain<T>(first: T, others: Iterable<T>): Generator<T> {
	yield first;
	yield* others;
}
