import uniq from 'lodash/uniq';
import { NotSent, OutcomeUnknown } from '../../api/errors';
import { removeAll, type DeduplicationStore } from '../../deduplicationStore';
import { shortFingerprint } from '../../hash';
import type { Limiter } from '../../keyedMutex';
import type { ExecutionOrigin } from './executionOrigin';
import { repeatOnStore } from './nodeStore';

/** Notes to keep of other executions: of those that were interrupted, and of retries. */
const MAX_OTHERS = 40_000;

/** 72 bits. */
const NAME_LENGTH = 12;

/**
 * What an earlier attempt of the execution did at this place:
 * - `new`: it sent nothing.
 * - `same`: it may have sent this request.
 * - `changed`: it may have sent another request to the same target. From then on, all requests with a payload are
 *   `changed`, because those of the earlier attempt may be any of them.
 */
export type NoteState = 'new' | 'same' | 'changed';

export type Note = {
	state: NoteState;
	/** Call this if the request certainly had no effect. Never throws: if the note stays, a retry reports it as unknown. */
	release: () => Promise<void>;
};

/** What this process knows of one attempt of an execution at one node, or of all sub-executions of one parent. */
export class AttemptState {
	/** Whether this attempt sends other requests than an earlier one. */
	isChanged = false;
	/** Notes to remove when n8n has stored the execution. */
	readonly own = new Set<string>();
	/** Cancel signals of the parts of an execution whose end is awaited. A resumed execution has a new signal. */
	readonly watched = new WeakSet<object>();
	hasEarlier: Promise<boolean> | undefined;
	/** Notes that wait until n8n has written others. */
	batch: { texts: string[]; added: Promise<ReadonlySet<string>> } | undefined;

	/** @param counts how many requests to each target were noted */
	constructor(readonly counts: NoteCounts = {}) {}
}

export type NoteCounts = { [target: string]: number };

type NotesOptions = {
	store: DeduplicationStore;
	origin: ExecutionOrigin;
	/** Whether no earlier attempt can exist: the execution is neither a retry nor a sub-execution. */
	isFirstAttempt: boolean;
	/** Waits for other users of the store in this process. */
	exclusive: Limiter;
	/** Waits before another access to the store. False if the execution is stopped. By default, there is one access. */
	pause?: (ms: number) => Promise<boolean>;
};

/**
 * Notes each request in n8n's database before it's sent. n8n stores the records of a node only when the execution ends.
 * If n8n is killed, or the execution is stopped, a *Retry* starts without records. Then the notes show what was sent.
 *
 * A note has the start time of the first attempt, the target, such as a phone number, and how many requests to it came
 * before. Once n8n has stored the execution with its records, the notes are removed. Those of a retry stay, because a
 * second retry of the same execution needs them.
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
		this.state.hasEarlier ??= this.addTexts([this.mark]).then(({ added }) => added.size === 0);
		return await this.state.hasEarlier.catch((error: unknown) => {
			this.state.hasEarlier = undefined;
			throw earlierUnreadable(error);
		});
	}

	/**
	 * Notes a request that is about to be sent.
	 *
	 * @param payload shows whether an earlier attempt sent the same request. By default, its target shows it.
	 * @throws NotSent if n8n's store can't be written
	 */
	async add(target: unknown, payload?: unknown): Promise<Note> {
		// Also shows later whether this attempt noted anything.
		await this.hasEarlier();
		const name = nameOf(target);
		for (;;) {
			const nth = countUp(this.state.counts, name);
			const text = this.textOf(name, nth);
			const exact = payload === undefined ? text : `${text} ${nameOf(payload)}`;
			const state = await this.write(text, exact).catch((error: unknown): never => {
				this.state.counts[name] = Math.min(nth, this.state.counts[name] ?? nth);
				throw error;
			});
			const release = async () => {
				// Notes of later requests would be taken for this one.
				if (state !== 'new' || this.state.counts[name] !== nth + 1) return;
				this.state.counts[name] = nth;
				await this.remove([text, exact]).catch(() => undefined);
			};
			// In a first attempt, it's from before the execution waited, or from one that started in the same millisecond.
			if (state === 'new' || !this.options.isFirstAttempt) return { state, release };
		}
	}

	private async write(text: string, exact: string): Promise<NoteState> {
		if (this.options.isFirstAttempt) {
			const { added, isRepeated } = await this.addTexts([this.mark, text, exact]);
			return added.has(text) || isRepeated ? 'new' : 'same';
		}
		// Another retry can send the same at this moment, so this looks for notes in any case.
		if (exact === text) return (await this.addTexts([text])).added.has(text) ? 'new' : 'same';
		if (this.state.isChanged) return 'changed';
		return await this.compare(text, exact);
	}

	/** In one go, because another retry can ask the same at this moment. */
	private async compare(text: string, exact: string): Promise<NoteState> {
		const { store, exclusive, pause } = this.options;
		// If n8n is killed in between, this stays, and shows that the other texts may be from this attempt.
		const asked = `${exact} asked`;
		const compareOnce = async (): Promise<NoteState> => {
			const added = new Set(await store.add([text, exact, asked], MAX_OTHERS));
			const isSame = !added.has(exact) && added.has(asked);
			const state = added.has(text) ? 'new' : isSame ? 'same' : 'changed';
			const extra = state === 'changed' ? [exact, asked] : [asked];
			await removeAll(
				store,
				extra.filter((one) => added.has(one)),
			).catch(() => undefined);
			return state;
		};
		const { result } = await repeatOnStore(async () => await exclusive(compareOnce), pause);
		if (result === 'changed') this.state.isChanged = true;
		return result;
	}

	/**
	 * Which of these requests an earlier attempt may have sent, in order. Leaves no notes of the others.
	 *
	 * @throws OutcomeUnknown if n8n's store can't be reached
	 */
	async findEarlier(targets: readonly unknown[]): Promise<boolean[]> {
		if (targets.length === 0 || !(await this.hasEarlier())) return targets.map(() => false);
		const counts = { ...this.state.counts };
		const names = targets.map(nameOf);
		const notes = names.map((name) => this.textOf(name, countUp(counts, name)));
		const { added } = await this.addTexts(notes).catch((error: unknown): never => {
			throw earlierUnreadable(error);
		});
		// If they stay, a later retry reports these requests as unknown.
		await this.remove([...added]).catch(() => undefined);
		return notes.map((note, index) => {
			const isFound = !added.has(note);
			if (isFound) countUp(this.state.counts, names[index] ?? '');
			return isFound;
		});
	}

	/** The notes to remove once n8n has stored the execution with its records. */
	own(): string[] {
		return [...this.state.own].filter((note) => note !== this.mark);
	}

	async clear(notes = this.own()): Promise<void> {
		const { own } = this.state;
		for (const note of notes) own.delete(note);
		const isLast = own.size === 1 && own.delete(this.mark);
		await this.remove(isLast ? [...notes, this.mark] : notes);
	}

	/** The note of the nth request to a target. */
	private textOf(name: string, nth: number): string {
		return `${this.start} ${name} ${nth}`;
	}

	private async remove(notes: readonly string[]): Promise<void> {
		const { store, exclusive } = this.options;
		if (notes.length > 0) await exclusive(async () => await removeAll(store, notes));
	}

	/** @returns `added`: the texts that were new. `isRepeated`: a first access failed, but may have added them. */
	private async addTexts(
		texts: readonly string[],
	): Promise<{ added: ReadonlySet<string>; isRepeated: boolean }> {
		if (this.options.isFirstAttempt) for (const text of texts) this.state.own.add(text);
		const write = async () => await this.addInBatch(texts);
		const { result: added, isRepeated } = await repeatOnStore(write, this.options.pause);
		return { added: new Set(texts.filter((text) => added.has(text))), isRepeated };
	}

	/** n8n writes all notes of a node each time, so those that come while it writes go together. */
	private async addInBatch(texts: readonly string[]): Promise<ReadonlySet<string>> {
		const { state } = this;
		const batch = (state.batch ??= this.startBatch());
		batch.texts.push(...texts);
		return await batch.added;
	}

	private startBatch(): { texts: string[]; added: Promise<ReadonlySet<string>> } {
		const { store, exclusive } = this.options;
		const texts: string[] = [];
		const added = exclusive(async () => {
			this.state.batch = undefined;
			return new Set(await store.add(uniq(texts), MAX_OTHERS + this.state.own.size));
		});
		return { texts, added };
	}
}

function nameOf(value: unknown): string {
	return shortFingerprint(value, NAME_LENGTH);
}

/** @returns the count before */
function countUp(counts: NoteCounts, name: string): number {
	const count = counts[name] ?? 0;
	counts[name] = count + 1;
	return count;
}

function earlierUnreadable(error: unknown): OutcomeUnknown {
	const cause = error instanceof NotSent ? error.originalMessage : String(error);
	return new OutcomeUnknown(
		"n8n can't read which requests an earlier attempt sent, so this attempt sent nothing",
		{
			onScreen:
				"Retry the execution again. If that doesn't help, ask your n8n administrator to check n8n's database.",
			forModel: 'Try again.',
		},
		cause,
		undefined,
		'n8n',
	);
}
