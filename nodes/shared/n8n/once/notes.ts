import uniq from 'lodash/uniq';
import { NotSent, OutcomeUnknown } from '../../api/errors';
import type { DeduplicationStore } from '../../deduplicationStore';
import type { Limiter } from '../../keyedMutex';
import type { ExecutionOrigin } from './executionOrigin';
import { repeatOnStore } from './rememberedTexts';
import { nameOf } from './requestRecord';

/** Notes to keep of other executions: of those that were interrupted, and of retries. */
const MAX_OTHERS = 40_000;

/**
 * What an earlier attempt of the execution did:
 * - `new`: it sent nothing to the target.
 * - `same`: it may have sent this request, or another one to the same target.
 * - `unclear`: only for a part. It may have sent anything in this part.
 */
export type NoteState = 'new' | 'same' | 'unclear';

export type Note = {
	state: NoteState;
	/** Call this if the request certainly had no effect. Never throws: if the note stays, a retry reports it as unknown. */
	remove: () => Promise<void>;
};

/** How many requests use each note. */
type Uses = Map<string, number>;

/** What this process knows of one attempt of an execution at one node, or of all sub-executions of one parent. */
export class AttemptState {
	readonly uses: Uses = new Map();
	/** Notes that this attempt added to n8n's store. The others there are from earlier attempts. */
	readonly added = new Set<string>();
	/** Removed notes. A later part adds them again, because it may have rows of removed parts. */
	readonly removed: string[] = [];
	hasEarlier: Promise<boolean> | undefined;
	/** Notes that wait until n8n has written others. */
	batch: { notes: string[]; written: Promise<void> } | undefined;

	/** @param change how many more requests use the note, or fewer */
	use(note: string, change: number): void {
		const count = (this.uses.get(note) ?? 0) + change;
		if (count > 0) this.uses.set(note, count);
		else this.uses.delete(note);
	}
}

type NotesOptions = {
	store: DeduplicationStore;
	origin: ExecutionOrigin;
	/** Whether no earlier attempt can exist: the execution is neither a retry nor a sub-execution. */
	isFirstAttempt: boolean;
	/** Waits for other users of the store in this process. */
	exclusive: Limiter;
	/** How many notes the executions of this process have at this node. They must stay. By default, those of this one. */
	running?: () => number;
	/** Waits before another access to the store. False if the execution is stopped. By default, there is one access. */
	pause?: (ms: number) => Promise<boolean>;
};

/**
 * Notes the target of each request in n8n's database before it leaves, with the start of the first attempt. n8n stores the
 * records of a node only when the execution ends. If n8n is killed, or the execution is stopped, a *Retry* starts without
 * records. It then reports all requests to a noted target as unknown.
 *
 * Each note begins with that start. A request has a note of its target. {@link addPart} says what a part of a whole has. The
 * first request also adds the mark `any`, so that a retry only looks for notes if there are some.
 *
 * Once n8n has stored the execution with its records, the notes are removed. Those of a retry stay, because a second retry of
 * the same execution needs them.
 */
export class Notes {
	private readonly start: string;
	/** Shows that any request was noted. */
	private readonly mark: string;

	constructor(
		private readonly options: NotesOptions,
		private readonly state = new AttemptState(),
	) {
		const { startedAt, isSubExecution } = options.origin;
		// A workflow that starts itself as a sub-workflow has the same store and start time on each level.
		this.start = isSubExecution ? `${startedAt} sub` : `${startedAt}`;
		this.mark = `${this.start} any`;
	}

	/**
	 * Whether an earlier attempt of the execution may have sent any request whose result n8n didn't store.
	 *
	 * @throws OutcomeUnknown if n8n's store can't be reached
	 */
	async hasEarlier(): Promise<boolean> {
		if (this.options.isFirstAttempt) return false;
		const { state } = this;
		state.hasEarlier ??= this.lookUp([this.mark]).then((found) => found.size > 0);
		return await state.hasEarlier.catch((error: unknown) => {
			state.hasEarlier = undefined;
			throw error;
		});
	}

	/**
	 * Call this if `hasEarlier`. Whether an earlier attempt may have sent a request to each of these targets. Leaves no notes.
	 *
	 * @throws OutcomeUnknown if n8n's store can't be reached
	 */
	async findEarlier(targets: readonly unknown[]): Promise<boolean[]> {
		const notes = targets.map((target) => this.noteOf(target));
		const found = await this.lookUp(notes);
		return notes.map((note) => found.has(note));
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
		return await this.addAll([note], async (notes) => {
			await this.write(notes);
			return this.isNew(note) ? 'new' : 'same';
		});
	}

	/**
	 * Notes a part of a whole, such as a chunk of the rows of a push: its place, and its content there. If an earlier attempt
	 * noted other content at the place, this part and all further ones are `unclear`, because they may have rows of it.
	 *
	 * @param place of the part. The same place in another sub-execution is another one.
	 * @throws as above
	 */
	async addPart(place: unknown, content: string): Promise<Note> {
		const { uses, added, removed } = this.state;
		let ofPlace = this.noteOf(place);
		for (let nth = 1; uses.has(ofPlace); nth++) ofPlace = this.noteOf([place, nth]);
		const ofContent = this.noteOf([place, { content }]);
		return await this.addAll([ofPlace, ofContent, ...removed.splice(0)], async (notes) => {
			if (this.options.isFirstAttempt) {
				await this.write(notes);
				return 'new';
			}
			// Stays if the content is another one, also if n8n is killed while it looks this up.
			const changed = `${this.start} changed`;
			await this.write([...notes, changed]);
			if (!this.isNew(changed) || (!this.isNew(ofPlace) && this.isNew(ofContent))) {
				added.delete(changed);
				return 'unclear';
			}
			await this.removeUnused([changed]).catch(() => undefined);
			return this.isNew(ofContent) ? 'new' : 'same';
		});
	}

	/** @param claim writes the notes, which count as used before */
	private async addAll(
		own: readonly string[],
		claim: (notes: readonly string[]) => Promise<NoteState>,
	): Promise<Note> {
		const notes = [this.mark, ...own];
		for (const note of notes) this.state.use(note, 1);
		const remove = async () => {
			for (const note of notes) this.state.use(note, -1);
			this.state.removed.push(...own);
			await this.removeUnused(notes).catch(() => undefined);
		};
		const state = await claim(notes).catch(async (error: unknown) => {
			await remove();
			// Looking it up now would take as long as the write that failed.
			const hasEarlier = (await this.state.hasEarlier) ?? !this.options.isFirstAttempt;
			throw hasEarlier ? earlierUnreadable(error) : error;
		});
		return { state, remove: state === 'new' ? remove : async () => {} };
	}

	/** In a first attempt, a known note is from before a wait, or from an execution that started in the same millisecond. */
	private isNew(note: string): boolean {
		return this.options.isFirstAttempt || this.state.added.has(note);
	}

	/** The notes of the requests so far, to be removed once n8n has stored the execution with its records. */
	own(): Uses {
		return new Map(this.state.uses);
	}

	async clear(own = this.own()): Promise<void> {
		for (const [note, count] of own) this.state.use(note, -count);
		await this.removeUnused([...own.keys()]);
	}

	private noteOf(value: unknown): string {
		return `${this.start} ${nameOf(value)}`;
	}

	/** The notes of earlier attempts among these. n8n's store can only look up a text by adding it. */
	private async lookUp(notes: readonly string[]): Promise<ReadonlySet<string>> {
		await this.write(notes).catch((error: unknown) => {
			throw earlierUnreadable(error);
		});
		const found = notes.filter((note) => !this.state.added.has(note));
		// If they stay, a later retry reports these requests as unknown.
		await this.removeUnused(notes).catch(() => undefined);
		return new Set(found);
	}

	private async removeUnused(notes: readonly string[]): Promise<void> {
		const { store, exclusive } = this.options;
		const { uses, added } = this.state;
		if (notes.length === 0) return;
		await exclusive(async () => {
			const unused = notes.filter((note) => added.has(note) && !uses.has(note));
			await store.remove(unused);
			for (const note of unused) added.delete(note);
		});
	}

	private async write(notes: readonly string[]): Promise<void> {
		await repeatOnStore(async () => await this.writeInBatch(notes), this.options.pause);
	}

	/** n8n writes all notes of a node each time, so those that come while it writes go together. */
	private async writeInBatch(notes: readonly string[]): Promise<void> {
		const { state } = this;
		const { store, exclusive, running = () => state.uses.size } = this.options;
		if (state.batch === undefined) {
			const all: string[] = [];
			const written = exclusive(async () => {
				state.batch = undefined;
				const texts = uniq(all);
				const added = await store.add(texts, MAX_OTHERS + running());
				// If n8n reported an error before, it may have added them all the same.
				for (const note of this.options.isFirstAttempt ? texts : added) state.added.add(note);
			});
			state.batch = { notes: all, written };
		}
		state.batch.notes.push(...notes);
		await state.batch.written;
	}
}

function earlierUnreadable(error: unknown): OutcomeUnknown {
	const cause = error instanceof NotSent ? error.originalMessage : String(error);
	return new OutcomeUnknown(
		"n8n can't read which requests an earlier attempt sent, so the node sent nothing more",
		{
			onScreen:
				"Retry the execution again. If that doesn't help, ask your n8n administrator to check n8n's database.",
			forModel: 'Try again.',
		},
		{ originalMessage: cause, origin: 'n8n' },
	);
}
