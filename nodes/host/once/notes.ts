import uniq from 'lodash/uniq';
import { explained } from '../../core/service/errors';
import type { DeduplicationStore } from '../../core/deduplicationStore';
import { type Limiter, runExclusive } from '../../core/values/keyedMutex';
import { hashOf } from './requestRecord';
import { maybeSentBefore } from './sentBefore';

/** Notes to keep of other executions: of those that were interrupted, and of retries. */
const MAX_OTHERS = 40_000;

export type Note = {
	/**
	 * What an earlier attempt of the execution did:
	 * - `new`: it sent nothing to the target.
	 * - `same`: it may have sent this request, or another one to the same target.
	 * - `unclear`: only for a part. It may have sent anything in this part.
	 */
	state: 'new' | 'same' | 'unclear';
	/** Call this if the request certainly had no effect. Never throws: if the note stays, a retry reports it as unknown. */
	remove: () => Promise<void>;
};

const stay = async (): Promise<void> => {};

/** What this process knows of one attempt of an execution at one node, or of all sub-executions of one parent. */
export class AttemptState {
	/** Notes that this attempt added to n8n's store, with how many requests use each. Others there are from earlier attempts. */
	readonly uses = new Map<string, number>();
	/** Places of parts so far. */
	readonly places = new Set<string>();
	/** Removed notes of parts. A later part adds them again, because it may have rows of removed parts. */
	readonly removed: string[] = [];
	/** Notes that wait until n8n has written others. */
	batch: { notes: string[]; written: Promise<void> } | undefined;

	/**
	 * @param start identifies the first attempt of the execution
	 * @param isFirst whether no earlier attempt can exist: the execution is neither a retry nor a sub-execution
	 * @param parent the ID of the execution that starts the sub-executions
	 */
	constructor(
		readonly start: string,
		readonly isFirst: boolean,
		readonly parent?: string,
	) {}
}

/**
 * Notes the target of each request in n8n's database before it leaves, with the start of the first attempt. n8n stores the
 * records of a node only when the execution ends. If n8n is killed, or the execution is stopped, a *Retry* starts without
 * records. It then reports all requests to a noted target as unknown.
 *
 * Each note begins with that start. A request has a note of its target, and the mark `any`, so that a retry only looks for
 * notes if there are some. {@link addPart} says what a part of a whole has.
 *
 * Once n8n has stored the execution with its records, the notes are removed. Those of a retry stay, because a second retry of
 * the same execution needs them.
 */
export class Notes {
	/** Shows that any request was noted. */
	private readonly mark: string;

	/**
	 * @param store of the node, for all its executions
	 * @param running how many notes the executions of this process have at the node. They must stay.
	 * @param repeat repeats an access to the store that fails
	 */
	constructor(
		private readonly store: DeduplicationStore,
		private readonly attempt: AttemptState,
		private readonly running: () => number,
		private readonly repeat: Limiter,
	) {
		this.mark = `${attempt.start} any`;
	}

	/** Whether it's certain that no earlier attempt noted anything. */
	private get isFirst(): boolean {
		return this.attempt.isFirst || this.attempt.uses.has(this.mark);
	}

	/**
	 * The targets to which an earlier attempt may have sent a request. Undefined if no earlier attempt sent any request whose
	 * result n8n didn't store. n8n's store can only look up a text by adding it, so this adds and removes them.
	 *
	 * @throws OutcomeUnknown if n8n's store can't be reached
	 */
	async findEarlier(targets: readonly unknown[]): Promise<ReadonlySet<unknown> | undefined> {
		if (this.isFirst) return undefined;
		const notes = targets.map((target) => this.noteOf(target));
		const all = uniq([this.mark, ...notes]);
		const earlier = await this.write(all);
		await this.release(all);
		if (!earlier.has(this.mark)) return undefined;
		return new Set(targets.filter((_target, index) => earlier.has(notes[index] ?? '')));
	}

	/**
	 * Notes a request that is about to be sent.
	 *
	 * @param target whom or what it's for, such as a phone number
	 * @throws NotSent if n8n's store can't be written
	 * @throws OutcomeUnknown if it can't be read whether an earlier attempt noted it
	 */
	async add(target: unknown): Promise<Note> {
		const note = this.noteOf(target);
		const notes = [this.mark, note];
		const earlier = await this.write(notes);
		if (earlier.has(note)) return { state: 'same', remove: stay };
		return { state: 'new', remove: async () => await this.release(notes) };
	}

	/**
	 * Notes a part of a whole, such as a chunk of the rows of a push: its place, and its content there. If an earlier attempt
	 * noted other content at the place, this part and all further ones are `unclear`, because they may have rows of it. If n8n
	 * is restarted while the parent of sub-executions waits, what they noted is found by the ID of the parent: a retry has
	 * another one.
	 *
	 * @param place of the part. The same place in another sub-execution is another one.
	 * @throws as above
	 */
	async addPart(place: unknown, content: string): Promise<Note> {
		const { isFirst, start, places, removed, uses, parent } = this.attempt;
		let ofPlace = this.noteOf(place);
		for (let nth = 1; places.has(ofPlace); nth++) ofPlace = this.noteOf([place, nth]);
		const ofContent = this.noteOf([place, { content }]);
		const ofParent = parent === undefined ? [] : [this.noteOf([ofPlace, { parent }])];
		const notes = [this.mark, ofPlace, ofContent, ...ofParent, ...removed];
		// Stays if the content is another one, also if n8n is killed while it looks this up.
		const changed = `${start} changed`;
		const earlier = await this.write(isFirst ? notes : [...notes, changed]);
		places.add(ofPlace);
		if (ofParent.some((note) => earlier.has(note))) {
			await this.release([changed, ofContent]);
			return await this.addPart(place, content);
		}
		if (earlier.has(changed) || (earlier.has(ofPlace) && !earlier.has(ofContent))) {
			uses.delete(changed);
			return { state: 'unclear', remove: stay };
		}
		await this.release([changed]);
		if (earlier.has(ofContent)) return { state: 'same', remove: stay };
		const remove = async () => {
			removed.push(ofPlace, ofContent, ...ofParent);
			await this.release(notes);
		};
		return { state: 'new', remove };
	}

	/** Notes what is reserved for this attempt, such as a call of a limit, until {@link removeReservations}. */
	async reserve(things: readonly string[]): Promise<void> {
		await this.write(this.reservationsOf(things));
	}

	/** @returns what an earlier attempt had reserved when n8n was killed. From now on, it's reserved for this one. */
	async takeOver(things: readonly string[]): Promise<ReadonlySet<string>> {
		const { isFirst, uses } = this.attempt;
		if (isFirst || things.length === 0) return new Set();
		const notes = this.reservationsOf(things);
		const earlier = await this.write(notes);
		await this.release(notes);
		for (const note of earlier) uses.set(note, 1);
		return new Set(things.filter((_thing, index) => earlier.has(notes[index] ?? '')));
	}

	/** Never throws: a note that stays only takes space. */
	async removeReservations(things: readonly string[]): Promise<void> {
		await this.release(this.reservationsOf(things));
	}

	private reservationsOf(things: readonly string[]): string[] {
		return things.map((thing) => this.noteOf(['reserved', thing]));
	}

	/** The notes of each request so far, to be removed once n8n has stored the execution with its records. */
	own(): string[] {
		const { uses } = this.attempt;
		return [...uses].flatMap(([note, count]) => new Array<string>(count).fill(note));
	}

	/** Removes the notes of requests, unless others use them. Never throws: those that stay make a retry report unknown. */
	async release(notes: readonly string[] = this.own()): Promise<void> {
		const { uses } = this.attempt;
		if (!notes.some((note) => uses.has(note))) return;
		const remove = async () => {
			for (const note of notes) {
				const count = uses.get(note);
				if (count !== undefined) uses.set(note, Math.max(0, count - 1));
			}
			const unused = uniq(notes).filter((note) => uses.get(note) === 0);
			await this.store.remove(unused);
			for (const note of unused) uses.delete(note);
		};
		await runExclusive(this.attempt, remove).catch(() => undefined);
	}

	private noteOf(value: unknown): string {
		return `${this.attempt.start} ${hashOf(value)}`;
	}

	/** @returns the notes of earlier attempts among these */
	private async write(notes: readonly string[]): Promise<ReadonlySet<string>> {
		await this.repeat(async () => await this.writeInBatch(notes)).catch((error: unknown) => {
			throw this.isFirst ? error : maybeSentBefore(explained(error));
		});
		return new Set(notes.filter((note) => !this.attempt.uses.has(note)));
	}

	/** n8n writes all notes of a node each time, so those that come while it writes go together. */
	private async writeInBatch(notes: readonly string[]): Promise<void> {
		const { attempt, store, running } = this;
		const { isFirst, uses } = attempt;
		if (attempt.batch === undefined) {
			const all: string[] = [];
			const written = runExclusive(attempt, async () => {
				attempt.batch = undefined;
				const texts = uniq(all);
				const added = new Set(await store.add(texts, MAX_OTHERS + running() + texts.length));
				for (const note of all) {
					// In a first attempt, a known note is from before a wait, from an execution that started in the same millisecond, or
					// from a write that n8n reported as failed.
					const isOwn = isFirst || uses.has(note) || added.has(note);
					if (isOwn) uses.set(note, (uses.get(note) ?? 0) + 1);
				}
			});
			attempt.batch = { notes: all, written };
		}
		attempt.batch.notes.push(...notes);
		await attempt.batch.written;
	}
}
