import countBy from 'lodash/countBy';
import difference from 'lodash/difference';
import uniq from 'lodash/uniq';
import { NotSent, OutcomeUnknown } from '../../api/errors';
import { removeAll, type DeduplicationStore } from '../../deduplicationStore';
import type { Limiter } from '../../keyedMutex';
import type { ExecutionOrigin } from './executionOrigin';
import { repeatOnStore } from './nodeStore';
import { nameOf } from './requestRecord';

/** Notes to keep of other executions: of those that were interrupted, and of retries. */
const MAX_OTHERS = 40_000;

/**
 * What an earlier attempt of the execution did:
 * - `new`: it didn't send this request.
 * - `same`: it may have sent this request.
 * - `changed`: it may have sent this request or another one to the same target.
 */
export type NoteState = 'new' | 'same' | 'changed';

export type Note = {
	state: NoteState;
	/** Call this if the request certainly had no effect. Never throws: if the note stays, a retry reports it as unknown. */
	release: () => Promise<void>;
};

/** A request to be noted. */
export type NotedRequest = {
	target: unknown;
	payload: unknown;
	/** Whether it may be sent again if exactly this one was noted. */
	isRepeatable?: boolean;
	/**
	 * Whether it's a part of a whole, such as a chunk of the rows of a push. Its target is its place. If an earlier attempt
	 * noted another payload there, all further parts are `changed`, because they may have parts of it.
	 */
	isPart?: boolean;
};

/** How many requests were noted, by target, and by target and payload. */
export type NoteCounts = { [name: string]: number };

/** Instead of the name of a target: all parts. */
const ALL_PARTS = '*';

/** What this process knows of one attempt of an execution at one node, or of all sub-executions of one parent. */
export class AttemptState {
	/** Targets to which an earlier attempt sent a request that can't be identified. */
	readonly unclear = new Set<string>();
	/** Notes to remove when n8n has stored the execution. */
	readonly own = new Set<string>();
	/** Removed notes of parts. The note of a later part adds them again. */
	released: string[] = [];
	/** Cancel signals of the parts of an execution whose end is awaited. A resumed execution has a new signal. */
	readonly watched = new WeakSet<object>();
	hasEarlier: Promise<boolean> | undefined;
	/** Notes that wait until n8n has written others. */
	batch: { texts: string[]; added: Promise<ReadonlySet<string>> } | undefined;

	/** @param counts of this attempt, and of what it found of earlier ones */
	constructor(readonly counts: NoteCounts = {}) {}
}

/** The nth note with this name. */
type Place = { name: string; nth: number; text: string };

/** Of a request: of its target, and of the target with the payload. */
type PlacePair = readonly [Place, Place];

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
 * Notes each request in n8n's database before it leaves. n8n stores the records of a node only when the execution ends. If
 * n8n is killed, or the execution is stopped, a *Retry* starts without records. Then the notes show what was sent.
 *
 * A request has two notes, with the start time of the first attempt: the nth to its target, such as a phone number, and the
 * nth with its payload. The payload shows which of several requests to a target was sent. If it changed in between, any of
 * them may have been. Once n8n has stored the execution with its records, the notes are removed. Those of a retry stay,
 * because a second retry of the same execution needs them.
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

	get isFirstAttempt(): boolean {
		return this.options.isFirstAttempt;
	}

	/**
	 * Whether an earlier attempt of the execution may have sent any request whose result n8n didn't store.
	 *
	 * @throws OutcomeUnknown if n8n's store can't be reached
	 */
	async hasEarlier(): Promise<boolean> {
		if (this.isFirstAttempt) return false;
		this.state.hasEarlier ??= this.addTexts([this.mark]).then((added) => added.size === 0);
		return await this.state.hasEarlier.catch((error: unknown) => {
			this.state.hasEarlier = undefined;
			throw earlierUnreadable(error);
		});
	}

	/**
	 * Notes a request that is about to be sent.
	 *
	 * @throws NotSent if n8n's store can't be written
	 * @throws OutcomeUnknown if it can't be read whether an earlier attempt noted this part
	 */
	async add({ target, payload, isPart = false }: NotedRequest): Promise<Note> {
		// Also shows later whether this attempt noted anything.
		const hasEarlier = await this.hasEarlier();
		const [name, exactName] = namesOf(target, payload);
		for (;;) {
			const places = [this.nextPlace(name), this.nextPlace(exactName)] as const;
			const state = await this.claim(places, isPart).catch((error: unknown): never => {
				for (const place of places) this.countDown(place);
				throw isPart && hasEarlier ? earlierUnreadable(error) : error;
			});
			if (state === 'new') {
				if (isPart) await this.restoreReleased(places);
				return { state, release: async () => await this.release(places, isPart) };
			}
			// In a first attempt, it's from before a wait, or from an execution that started in the same millisecond.
			if (!this.isFirstAttempt) return { state, release: async () => {} };
		}
	}

	private async claim([place, exact]: PlacePair, isPart: boolean): Promise<NoteState> {
		const texts = [place.text, exact.text];
		if (this.isFirstAttempt)
			return (await this.addTexts(texts)).size === texts.length ? 'new' : 'same';
		const { unclear } = this.state;
		const name = isPart ? ALL_PARTS : place.name;
		// If n8n is killed before it removes the texts of a lookup, this stays, and shows that the others may be from a lookup.
		const lookup = isPart ? [`${exact.text} asked`] : [];
		return await this.inOneGo(async (store, maxEntries) => {
			// What isn't noted doesn't count, so that a later retry finds all notes of the target.
			if (unclear.has(name)) {
				for (const one of [place, exact]) this.countDown(one);
				return 'changed';
			}
			const added = new Set(await store.add([...texts, ...lookup], maxEntries));
			const isNew = texts.every((text) => added.has(text));
			await removeAll(store, isNew ? lookup : [...added]).catch(() => undefined);
			if (isNew) return 'new';
			for (const one of [place, exact]) if (added.has(one.text)) this.countDown(one);
			if (!added.has(exact.text) && lookup.every((text) => added.has(text))) return 'same';
			unclear.add(name);
			return 'changed';
		});
	}

	private async release(places: PlacePair, isPart: boolean): Promise<void> {
		const { counts, released } = this.state;
		// A retry would find the notes of later requests in place of this one.
		if (places.some(({ name, nth }) => counts[name] !== nth + 1)) return;
		for (const place of places) this.countDown(place);
		const texts = places.map(({ text }) => text);
		if (isPart) released.push(...texts);
		await this.remove(texts).catch(() => undefined);
	}

	/** A later part may have rows of those that were released. */
	private async restoreReleased(places: PlacePair): Promise<void> {
		const own = places.map(({ text }) => text);
		const released = difference(this.state.released.splice(0), own);
		if (released.length > 0) await this.addTexts(released);
	}

	/** Because another retry can use the store at this moment. */
	private async inOneGo<T>(
		use: (store: DeduplicationStore, maxEntries: number) => Promise<T>,
	): Promise<T> {
		const { store, exclusive, pause } = this.options;
		const useOnce = async () => await exclusive(async () => await use(store, this.maxEntries()));
		return await repeatOnStore(useOnce, pause);
	}

	private maxEntries(): number {
		const { running = () => this.state.own.size } = this.options;
		return MAX_OTHERS + running();
	}

	/**
	 * Whether an earlier attempt may have sent each of these, in order. Leaves no notes. If the payloads don't show which
	 * requests to a target were sent, all of them may have been.
	 *
	 * @throws OutcomeUnknown if n8n's store can't be reached
	 */
	async findEarlier(requests: readonly NotedRequest[]): Promise<boolean[]> {
		if (requests.length === 0 || !(await this.hasEarlier())) return requests.map(() => false);
		const counts = { ...this.state.counts };
		const asked = requests.map(({ target, payload, isRepeatable = false }) => {
			const [name, exactName] = namesOf(target, payload);
			const text = this.nextPlace(name, counts).text;
			return { name, exactName, text, exact: this.nextPlace(exactName, counts).text, isRepeatable };
		});
		const texts = asked.flatMap(({ text, exact }) => [text, exact]);
		const added = await this.addTexts(texts).catch((error: unknown): never => {
			throw earlierUnreadable(error);
		});
		// If they stay, a later retry reports these requests as unknown.
		await this.remove([...added]).catch(() => undefined);
		const noted = countBy(
			asked.filter(({ text }) => !added.has(text)),
			'name',
		);
		const explained = countBy(
			asked.filter(({ exact }) => !added.has(exact)),
			'name',
		);
		const { unclear } = this.state;
		for (const { name } of asked)
			if ((noted[name] ?? 0) > (explained[name] ?? 0)) unclear.add(name);
		return asked.map(({ name, exactName, exact, isRepeatable }) => {
			const isExact = !added.has(exact);
			if (isExact ? isRepeatable : !unclear.has(name)) return false;
			this.nextPlace(name);
			if (isExact) this.nextPlace(exactName);
			return true;
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
		const all = isLast ? [...notes, this.mark] : notes;
		if (all.length === 0) return;
		const { store, exclusive } = this.options;
		await exclusive(async () => {
			await removeAll(store, all);
			// n8n would keep an empty list.
			if ((await store.count()) === 0) await store.clear();
		});
	}

	/** After a retry without notes, or with released ones only, a second retry finds as much as this one. */
	async forgetUnused(): Promise<void> {
		const { counts, hasEarlier } = this.state;
		const hasNone = Object.values(counts).every((count) => count === 0);
		if (hasNone && (await hasEarlier) === false) await this.remove([this.mark]);
	}

	/** The note of the next request with this name, which counts from now on. */
	private nextPlace(name: string, counts = this.state.counts): Place {
		const nth = counts[name] ?? 0;
		counts[name] = nth + 1;
		return { name, nth, text: `${this.start} ${name} ${nth}` };
	}

	private countDown({ name, nth }: Place): void {
		const { counts } = this.state;
		counts[name] = Math.min(nth, counts[name] ?? nth);
	}

	private async remove(notes: readonly string[]): Promise<void> {
		const { store, exclusive } = this.options;
		if (notes.length > 0) await exclusive(async () => await removeAll(store, notes));
	}

	/** @returns the texts that were new. After a first access that failed, they may be missing. */
	private async addTexts(texts: readonly string[]): Promise<ReadonlySet<string>> {
		const all = this.isFirstAttempt ? [this.mark, ...texts] : texts;
		if (this.isFirstAttempt) for (const text of all) this.state.own.add(text);
		const add = async () => await this.addInBatch(all);
		const added = await repeatOnStore(add, this.options.pause);
		return new Set(texts.filter((text) => added.has(text)));
	}

	/** n8n writes all notes of a node each time, so those that come while it writes go together. */
	private async addInBatch(texts: readonly string[]): Promise<ReadonlySet<string>> {
		const { state } = this;
		const { store, exclusive } = this.options;
		if (state.batch === undefined) {
			const all: string[] = [];
			const added = exclusive(async () => {
				state.batch = undefined;
				return new Set(await store.add(uniq(all), this.maxEntries()));
			});
			state.batch = { texts: all, added };
		}
		state.batch.texts.push(...texts);
		return await state.batch.added;
	}
}

/** What the notes of a request are named after: its target, and the target with the payload. */
function namesOf(target: unknown, payload: unknown): [string, string] {
	return [nameOf(target), nameOf([target, payload])];
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
		cause,
		undefined,
		'n8n',
	);
}
