import difference from 'lodash/difference';
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
 * - `changed`: it may have sent another request to the same target.
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
	/** Removed notes of parts. The note of a later part adds them again, because it may have rows of theirs. */
	released: string[] = [];
	/** Cancel signals of the parts of an execution whose end is awaited. A resumed execution has a new signal. */
	readonly watched = new WeakSet<object>();
	hasEarlier: Promise<boolean> | undefined;
	/** Notes that wait until n8n has written others. */
	batch: { texts: string[]; added: Promise<ReadonlySet<string>> } | undefined;

	/** @param targets to which this attempt has sent requests, with their number */
	constructor(readonly targets: NotedTargets = {}) {}
}

export type NotedTargets = { [target: string]: number };

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
 * Notes in n8n's database to whom or what requests are sent, before they leave. n8n stores the records of a node only when
 * the execution ends. If n8n is killed, or the execution is stopped, a *Retry* starts without records. Then it sends
 * nothing to a target with a note, because any request to it may have been sent.
 *
 * A note has the start time of the first attempt and the target, such as a phone number. Once n8n has stored the execution
 * with its records, the notes are removed. Those of a retry stay, because a second retry of the same execution needs them.
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
	 * @param payload shows whether an earlier attempt sent the same request to the target
	 * @param isPart whether the payload is a part of a whole, so that after one change all parts may have changed
	 * @throws NotSent if n8n's store can't be written
	 */
	async add(target: unknown, payload?: unknown, isPart = false): Promise<Note> {
		// Also shows later whether this attempt noted anything.
		await this.hasEarlier();
		const name = nameOf(target);
		const text = `${this.start} ${name}`;
		const exact = payload === undefined ? undefined : `${text} ${nameOf(payload)}`;
		const isChanged = isPart && this.state.isChanged;
		const state = isChanged ? 'changed' : await this.write(name, text, exact);
		if (isPart && state === 'changed') this.state.isChanged = true;
		const { targets } = this.state;
		if (state === 'new') targets[name] = (targets[name] ?? 0) + 1;
		if (state === 'new' && isPart) await this.addReleased([text, exact ?? text]);
		const release = async () => {
			// The note is also that of the other requests to the target.
			if (state !== 'new' || targets[name] !== 1) return;
			Reflect.deleteProperty(targets, name);
			const texts = exact === undefined ? [text] : [text, exact];
			if (isPart) this.state.released.push(...texts);
			await this.remove(texts).catch(() => undefined);
		};
		return { state, release };
	}

	private async write(name: string, text: string, exact: string | undefined): Promise<NoteState> {
		const isOwn = (this.state.targets[name] ?? 0) > 0;
		if (this.options.isFirstAttempt || isOwn) {
			const texts = exact === undefined ? [text] : [text, exact];
			await this.addTexts(this.options.isFirstAttempt ? [this.mark, ...texts] : texts);
			return 'new';
		}
		// Another retry can send the same at this moment, so this looks for notes in any case.
		if (exact === undefined) return (await this.addTexts([text])).added.has(text) ? 'new' : 'same';
		return await this.compare(text, exact);
	}

	/** Adds the notes again that were removed before, except those of the request itself. */
	private async addReleased(own: readonly string[]): Promise<void> {
		const released = difference(this.state.released.splice(0), own);
		if (released.length > 0) await this.addTexts(released);
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
		return result;
	}

	/**
	 * Whether an earlier attempt may have sent requests to these targets, in order. Leaves no notes.
	 *
	 * @throws OutcomeUnknown if n8n's store can't be reached
	 */
	async findEarlier(targets: readonly unknown[]): Promise<boolean[]> {
		if (targets.length === 0 || !(await this.hasEarlier())) return targets.map(() => false);
		const names = targets.map(nameOf);
		const texts = names
			.filter((name) => this.state.targets[name] === undefined)
			.map((name) => `${this.start} ${name}`);
		const { added } = await this.addTexts(uniq(texts)).catch((error: unknown): never => {
			throw earlierUnreadable(error);
		});
		// If they stay, a later retry reports these requests as unknown.
		await this.remove([...added]).catch(() => undefined);
		return names.map(
			(name) => this.state.targets[name] === undefined && !added.has(`${this.start} ${name}`),
		);
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

	private async remove(notes: readonly string[]): Promise<void> {
		const { store, exclusive } = this.options;
		if (notes.length > 0) await exclusive(async () => await removeAll(store, notes));
	}

	/** @returns the texts that were new. After a first access that failed, they may be missing. */
	private async addTexts(texts: readonly string[]): Promise<{ added: ReadonlySet<string> }> {
		if (this.options.isFirstAttempt) for (const text of texts) this.state.own.add(text);
		const add = async () => await this.addInBatch(texts);
		const { result: added } = await repeatOnStore(add, this.options.pause);
		return { added: new Set(texts.filter((text) => added.has(text))) };
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
