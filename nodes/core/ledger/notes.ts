import uniq from 'lodash/uniq';
import { type Limiter, runExclusive } from '../values/keyedMutex';
import { hashOf } from '../values/hash';
import type { DeduplicationStore } from './store';

export const NOTE_LIMITS = {
	/** Notes to keep of other executions: of those that were interrupted, and of retries. */
	others: 40_000,
};

/**
 * What this process knows of an execution at one node, or of all sub-executions of one parent. *Retry On Fail* runs the node
 * again in the same one.
 */
export class NotedExecution {
	/** Notes that this execution added to n8n's store, with how many jobs use each. Others there are from earlier attempts. */
	readonly uses = new Map<string, number>();
	/** The execution that has a plan at each place. */
	readonly places = new Map<string, string>();
	/**
	 * Removed notes of plans. A later plan adds them again: after a crash, rows of its place may be at a removed one, as if a
	 * row was added before the others.
	 */
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
 * Notes in n8n's database what is about to be sent. n8n stores the results of a node only when the execution ends. If it's
 * killed, or the execution is stopped, a *Retry* starts without them. It then knows by the notes what may have been sent.
 *
 * Each note begins with the start of the first attempt. With the first one, the mark `any` is noted: something may have been
 * sent.
 *
 * Once n8n has stored the execution with its results, the notes are removed. Those of a retry stay, because a second retry of
 * the same execution needs them.
 */
export class Notes {
	/** Shows that anything was noted. */
	private readonly mark: string;

	/**
	 * @param store of the node, for all its executions
	 * @param execution the ID of this one, which may be one of several sub-executions
	 * @param running how many notes the executions of this process have at the node. They must stay.
	 * @param repeat repeats an access to the store that fails
	 */
	constructor(
		private readonly store: DeduplicationStore,
		private readonly noted: NotedExecution,
		private readonly execution: string,
		private readonly running: () => number,
		private readonly repeat: Limiter,
	) {
		this.mark = `${noted.start} any`;
	}

	/** Whether it's certain that no earlier attempt noted anything. */
	get hasNoEarlier(): boolean {
		return this.noted.isFirst || this.noted.uses.has(this.mark);
	}

	/**
	 * The things that an earlier attempt noted. Undefined if it noted nothing at all. n8n's store can only look up a text by
	 * adding it, so this adds and removes them.
	 *
	 * @throws if n8n's store can't be reached
	 */
	async find<Thing>(things: readonly Thing[]): Promise<ReadonlySet<Thing> | undefined> {
		if (this.hasNoEarlier) return undefined;
		const notes = things.map((thing) => this.noteOf(thing));
		const all = [this.mark, ...notes];
		const earlier = await this.write(all);
		await this.release(all);
		if (!earlier.has(this.mark)) return undefined;
		return new Set(things.filter((_thing, index) => earlier.has(notes[index] ?? '')));
	}

	/**
	 * Notes whom or what a job is for, such as a phone number.
	 *
	 * @returns `remove`, to be called if it certainly had no effect. Undefined if an earlier attempt noted the same.
	 * @throws if n8n's store can't be reached
	 */
	async add(thing: unknown): Promise<{ remove: () => Promise<void> } | undefined> {
		const notes = [this.mark, this.noteOf(thing)];
		const earlier = await this.write(notes);
		if (notes.some((note) => note !== this.mark && earlier.has(note))) return undefined;
		return { remove: async () => await this.release(notes) };
	}

	/**
	 * Notes a plan, such as a push: its place among others, and its content. Its jobs are noted as jobs of this content, so a
	 * retry finds them only if it has the same content at the place.
	 *
	 * @returns undefined if this plan may have jobs of an earlier attempt, because that had another content at this place or
	 * another one
	 * @throws if n8n's store can't be reached
	 */
	async addPlan(place: unknown, content: string): Promise<Plan | undefined> {
		const { isFirst, start, removed } = this.noted;
		const { here, notes } = await this.placeOf(place);
		const ofContent = this.noteOf([place, { content }]);
		const plan = {
			name: hashOf([place, content]),
			remove: async () => {
				removed.push(...notes, ofContent);
				await this.release([...notes, ofContent]);
			},
		};
		if (isFirst) {
			await this.write([...notes, ofContent, ...removed]);
			return plan;
		}
		// Stays if the content is another one, also if n8n is killed while it looks this up.
		const changed = `${start} changed`;
		const earlier = await this.write([...notes, ...removed, changed]);
		const isNew = !earlier.has(here) && !earlier.has(changed);
		if (isNew) await this.write([ofContent]);
		if (isNew || (await this.has(ofContent))) {
			await this.release([changed]);
			return plan;
		}
		// Again, because another retry at the same moment may have removed it.
		await this.write([changed]);
		this.noted.uses.delete(changed);
		return undefined;
	}

	/**
	 * Each sub-execution has a plan at the same place, so they are counted. If n8n is restarted while their parent waits, those
	 * before are found by the ID of the parent: a retry has another one.
	 */
	private async placeOf(place: unknown): Promise<{ here: string; notes: string[] }> {
		const { places, parent } = this.noted;
		for (let nth = 0; ; nth++) {
			const here = this.noteOf([place, nth]);
			if ((places.get(here) ?? this.execution) !== this.execution) continue;
			places.set(here, this.execution);
			if (parent === undefined) return { here, notes: [this.mark, here] };
			const ofParent = this.noteOf([here, { parent }]);
			if (this.noted.uses.has(ofParent) || !(await this.has(ofParent)))
				return { here, notes: [this.mark, here, ofParent] };
			places.set(here, 'before a restart');
		}
	}

	/** Whether the store certainly has a note. */
	private async has(note: string): Promise<boolean> {
		const sign = `${this.noted.start} look-up`;
		const found = await this.repeat(async () => await this.store.find([note], sign));
		return found?.includes(note) === true;
	}

	/** Notes what is reserved for this attempt, such as a call of a limit, until {@link removeReservations}. */
	async addReservations(things: readonly string[]): Promise<void> {
		await this.write(this.reservationsOf(things));
	}

	/** @returns what an earlier attempt had reserved when n8n was killed. From now on, it's reserved for this one. */
	async takeOverReservations(things: readonly string[]): Promise<ReadonlySet<string>> {
		const { isFirst, uses } = this.noted;
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

	/** The notes of each job so far, to be removed once n8n has stored the execution with its results. */
	own(): string[] {
		const { uses } = this.noted;
		return [...uses].flatMap(([note, count]) => new Array<string>(count).fill(note));
	}

	/** Removes the notes of jobs, unless others use them. Never throws: those that stay make a retry report unknown. */
	async release(notes: readonly string[] = this.own()): Promise<void> {
		const { uses } = this.noted;
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
		await runExclusive(this.noted, remove).catch(() => undefined);
	}

	private noteOf(value: unknown): string {
		return `${this.noted.start} ${hashOf(value)}`;
	}

	/** @returns the notes of earlier attempts among these */
	private async write(notes: readonly string[]): Promise<ReadonlySet<string>> {
		await this.repeat(async () => await this.writeInBatch(notes));
		return new Set(notes.filter((note) => !this.noted.uses.has(note)));
	}

	/** n8n writes all notes of a node each time, so those that come while it writes go together. */
	private async writeInBatch(notes: readonly string[]): Promise<void> {
		const { noted, store, running } = this;
		const { isFirst, uses } = noted;
		if (noted.batch === undefined) {
			const all: string[] = [];
			const written = runExclusive(noted, async () => {
				noted.batch = undefined;
				const texts = uniq(all);
				const maxEntries = NOTE_LIMITS.others + running() + texts.length;
				const added = new Set(await store.add(texts, maxEntries));
				for (const note of all) {
					// In a first attempt, a known note is from before a wait, from an execution that started in the same millisecond, or
					// from a write that n8n reported as failed.
					const isOwn = isFirst || uses.has(note) || added.has(note);
					if (isOwn) uses.set(note, (uses.get(note) ?? 0) + 1);
				}
			});
			noted.batch = { notes: all, written };
		}
		noted.batch.notes.push(...notes);
		await noted.batch.written;
	}
}

/**
 * A noted plan. `name`: for the targets of its jobs. `remove`: to be called if no job had an effect, so that a retry may have
 * another plan.
 */
export type Plan = { name: string; remove: () => Promise<void> };
