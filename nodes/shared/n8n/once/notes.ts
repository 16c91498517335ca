import uniq from 'lodash/uniq';
import { NotSent, OutcomeUnknown } from '../../api/errors';
import type { DeduplicationStore } from '../../deduplicationStore';
import type { Limiter } from '../../keyedMutex';
import type { ExecutionOrigin } from './executionOrigin';
import { repeatOnStore } from './rememberedTexts';
import { nameOf } from './requestRecord';

/** Notes to keep of other executions: of those that were interrupted, and of retries. */
const MAX_OTHERS = 40_000;

/** A request to be noted. */
export type NotedRequest = {
	/** Whom or what it's for, such as a phone number. */
	target: unknown;
	/** Shows whether a request to the target is the same one, such as its idempotency key. */
	identity?: unknown;
	/**
	 * Whether it's a part of a whole, such as a chunk of the rows of a push. Its target is its place, and the whole may come
	 * again in another sub-execution. If an earlier attempt noted another identity at the place, all further parts are
	 * `unclear`, because they may have rows of it.
	 */
	isPart?: boolean;
};

/**
 * What an earlier attempt of the execution did:
 * - `new`: it sent nothing to the target.
 * - `same`: it may have sent this request.
 * - `unclear`: it may have sent this request or another one to the same target.
 */
export type NoteState = 'new' | 'same' | 'unclear';

export type Note = {
	state: NoteState;
	/** Call this if the request certainly had no effect. Never throws: if the note stays, a retry reports it as unknown. */
	release: () => Promise<void>;
};

/** The note of the target, and the note of the identity, if it has one. */
type Names = readonly [string] | readonly [string, string];

/** How many requests use each note. */
type Uses = Map<string, number>;

/** What this process knows of one attempt of an execution at one node, or of all sub-executions of one parent. */
export class AttemptState {
	readonly uses: Uses = new Map();
	/** Notes that this attempt added to n8n's store. The others there are from earlier attempts. */
	readonly added = new Set<string>();
	/** Removed notes of parts. The note of a later part adds them again, because that part may have rows of theirs. */
	released: string[] = [];
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
 * Each note begins with that start:
 * - `any`: some request was noted
 * - the target's name: a request to the target was noted
 * - the name of target and identity: this request was noted
 * - `other`, after the target or for all parts: a request with another identity was noted, so that the next are `unclear`
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
	 * Call this if `hasEarlier`. Whether an earlier attempt may have sent each of these, so that it can't be sent now. Leaves
	 * no notes.
	 *
	 * @throws OutcomeUnknown if n8n's store can't be reached
	 */
	async findEarlier(requests: readonly NotedRequest[]): Promise<boolean[]> {
		const names = requests.map((request) => this.namesOf(request));
		const found = await this.lookUp(names.flat());
		return names.map(
			([ofTarget, ofIdentity]) =>
				found.has(ofTarget) && !(ofIdentity !== undefined && found.has(ofIdentity)),
		);
	}

	/**
	 * Notes a request that is about to be sent.
	 *
	 * @throws NotSent if n8n's store can't be written
	 * @throws OutcomeUnknown if it can't be read whether an earlier attempt noted it
	 */
	async add(request: NotedRequest): Promise<Note> {
		const { isPart = false } = request;
		const hasEarlier = await this.hasEarlier();
		const names = this.namesOf(request);
		const notes = [this.mark, ...names, ...(isPart ? this.state.released.splice(0) : [])];
		for (const note of notes) this.state.use(note, 1);
		const release = async () => await this.release(notes, isPart);
		const state = await this.claim(names, notes, isPart).catch(async (error: unknown) => {
			await release();
			throw hasEarlier ? earlierUnreadable(error) : error;
		});
		if (state === 'unclear') await release();
		return { state, release: state === 'new' ? release : async () => {} };
	}

	private async claim(
		[ofTarget, ofIdentity]: Names,
		notes: readonly string[],
		isPart: boolean,
	): Promise<NoteState> {
		const { state } = this;
		if (this.options.isFirstAttempt || ofIdentity === undefined) {
			await this.write(notes);
			// In a first attempt, a known note is from before a wait, or from an execution that started in the same millisecond.
			return this.options.isFirstAttempt || state.added.has(ofTarget) ? 'new' : 'unclear';
		}
		// Stays if the identity is another one, also if n8n is killed while it looks this up.
		const other = `${isPart ? this.start : ofTarget} other`;
		await this.write([...notes, other]);
		if (!state.added.has(other) || (!state.added.has(ofTarget) && state.added.has(ofIdentity))) {
			state.added.delete(other);
			return 'unclear';
		}
		await this.removeUnused([other]).catch(() => undefined);
		return state.added.has(ofIdentity) ? 'new' : 'same';
	}

	private async release(notes: readonly string[], isPart: boolean): Promise<void> {
		for (const note of notes) this.state.use(note, -1);
		if (isPart) this.state.released.push(...notes.filter((note) => note !== this.mark));
		await this.removeUnused(notes).catch(() => undefined);
	}

	/** The notes of the requests so far, to be removed once n8n has stored the execution with its records. */
	own(): Uses {
		return new Map(this.state.uses);
	}

	async clear(own = this.own()): Promise<void> {
		for (const [note, count] of own) this.state.use(note, -count);
		await this.removeUnused([...own.keys()]);
	}

	private namesOf({ target, identity, isPart = false }: NotedRequest): Names {
		let ofTarget = this.textOf(target);
		for (let nth = 1; isPart && this.state.uses.has(ofTarget); nth++)
			ofTarget = this.textOf([target, nth]);
		return identity === undefined ? [ofTarget] : [ofTarget, this.textOf([target, { identity }])];
	}

	private textOf(value: unknown): string {
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
