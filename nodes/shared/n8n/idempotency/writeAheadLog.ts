import countBy from 'lodash/countBy';
import difference from 'lodash/difference';
import partition from 'lodash/partition';
import { ExplainedError, OutcomeUnknown } from '../../api/errors';
import { removeAll, type DeduplicationStore } from '../../deduplicationStore';
import { runExclusive, type Limiter } from '../../keyedMutex';
import { BegunRequests } from './begunRequests';
import type { ExecutionOrigin } from './executionOrigin';
import { LogTexts, namesOf } from './logTexts';
import { repeatOnStore } from './nodeStore';
import type { StoreAccess } from './storeWriter';

/** Entries of other executions to keep: of those that were interrupted, and of retries. A request has two. */
const MAX_OTHERS = 40_000;

type LogOptions = {
	/** Whether no earlier attempt can exist: the execution is neither a retry nor a sub-execution. */
	isFirstAttempt: boolean;
	/** Waits for other users of the store in this process. */
	exclusive?: Limiter;
	/** Waits before another attempt to write an entry. False if the execution is stopped. By default, there is one attempt. */
	pause?: (ms: number) => Promise<boolean>;
	/** The number of requests that all executions of this process have started at the node. Their entries must stay. */
	totalBegun?: () => number;
};

/**
 * Writes an entry for each request to n8n's database before it's sent. n8n stores a node's records only when the
 * execution ends. If n8n is killed or restarted, or the execution is stopped, a *Retry* starts without them. The entries
 * show which requests the execution had started by then.
 *
 * A request has two entries: one for its target, and one for its payload. Each has the start time of the execution and
 * the number of earlier requests with the same target or payload. The payload shows which request was started, also if
 * an earlier one to the same target was rejected. The target shows it if the payload changes on each attempt.
 * A mark shows that an execution has begun any request, also if its target can't be read later.
 * When an execution ends normally, its entries are removed, because n8n stores its records.
 */
export class WriteAheadLog {
	private readonly exclusive: Limiter;
	private readonly access: StoreAccess;
	private readonly texts: LogTexts;

	constructor(
		private readonly store: DeduplicationStore,
		readonly origin: ExecutionOrigin,
		private readonly options: LogOptions,
		private readonly begun = new BegunRequests(),
	) {
		this.exclusive = options.exclusive ?? (async (run) => await runExclusive(store, run));
		this.texts = new LogTexts(origin, options.isFirstAttempt);
		const { totalBegun = () => begun.total } = options;
		// A retry writes two texts per entry.
		const maxEntries = () => MAX_OTHERS + 2 * totalBegun();
		this.access = { store, exclusive: this.exclusive, maxEntries };
	}

	get isFirstAttempt(): boolean {
		return this.options.isFirstAttempt;
	}

	/**
	 * Writes the entries of a request that is about to be sent.
	 *
	 * @returns whether an earlier attempt of the execution may have started it
	 * @throws NotSent if the entries can't be written
	 */
	async begin(target: unknown, payload = target): Promise<boolean> {
		const names = namesOf(target, payload);
		const more = this.begun.isMarked ? [] : [...this.texts.mark];
		let ofFoundMark: string[] = [];
		let isBegun = false;
		let pending = names;
		while (pending.length > 0) {
			const entries = pending.map((name) => ({ name, texts: this.nextTexts(name) }));
			const texts = [...entries.flatMap((entry) => entry.texts), ...more, ...ofFoundMark];
			const write = async () => await this.begun.writer.add(this.access, texts);
			const { result: added, isRepeated } = await repeatOnStore(write, this.options.pause).catch(
				(error: unknown) => {
					for (const name of names) this.begun.removeLatest(name);
					throw error;
				},
			);
			ofFoundMark = this.begun.isMarked ? [] : this.noteMark(added, isRepeated);
			const [earlier, own] = this.existing(entries, added, isRepeated);
			if (earlier.length > 0) isBegun = true;
			if (own.length > 0 && this.options.isFirstAttempt) more.push(this.texts.sharedStart);
			pending = own.map(({ name }) => name);
		}
		if (ofFoundMark.length > 0)
			await this.begun.writer.add(this.access, ofFoundMark).catch(() => undefined);
		return isBegun;
	}

	/**
	 * Removes the entries of the latest request with this target and payload, which took no effect. Never throws: if they
	 * stay, a retry reports the request as unknown.
	 */
	async release(target: unknown, payload = target): Promise<void> {
		const remove = namesOf(target, payload).flatMap((name) => {
			const nth = this.begun.removeLatest(name);
			return nth === undefined ? [] : this.texts.request(name, nth);
		});
		if (remove.length > 0)
			await this.begun.writer.remove(this.access, remove).catch(() => undefined);
		if (this.begun.total === 0) await this.removeMark().catch(() => undefined);
	}

	/** Removes the mark, unless it's shared. */
	private async removeMark(): Promise<void> {
		const texts = [...this.texts.mark, this.texts.sharedMark];
		await this.exclusive(async () => {
			// A request may have been started since.
			if (!this.begun.unmark()) return;
			this.begun.writer.forget(texts);
			const added = await this.store.add([this.texts.sharedMark]);
			if (added.length > 0) await removeAll(this.store, texts);
		});
	}

	/**
	 * Whether an earlier attempt may have started each of these, in order. Leaves no entries. If the payloads don't show
	 * which requests to a target were started, all requests to it may have been.
	 *
	 * @param areRepeatable which of them may be sent again if exactly they were started
	 * @throws OutcomeUnknown if n8n's store can't be reached
	 */
	async findBegun(
		targets: readonly unknown[],
		payloads: readonly unknown[] = targets,
		areRepeatable: readonly boolean[] = [],
	): Promise<boolean[]> {
		if (this.options.isFirstAttempt) return targets.map(() => false);
		const requests = targets.map((target, index) => namesOf(target, payloads[index]));
		const found = await this.findEarlier(requests.flat()).catch((error: unknown) => {
			throw earlierUnreadable(error);
		});
		let position = 0;
		const states = requests.map((names) => {
			const [name = '', exactName = name] = names;
			const [isTarget = false, isExact = isTarget] = found.slice(position, position + names.length);
			position += names.length;
			return { name, exactName, isTarget, isExact };
		});
		const begunOf = countBy(
			states.filter(({ isTarget }) => isTarget),
			'name',
		);
		const exactOf = countBy(
			states.filter(({ isExact }) => isExact),
			'name',
		);
		return states.map(({ name, exactName, isExact }, index) => {
			const isCertain = (begunOf[name] ?? 0) <= (exactOf[name] ?? 0);
			if (isExact ? areRepeatable[index] === true : isCertain) return false;
			this.begun.add(name);
			if (isExact && exactName !== name) this.begun.add(exactName);
			return true;
		});
	}

	/**
	 * Whether an earlier attempt may have started a request to this target. Unlike with `findBegun`, this attempt can start
	 * it later as if it hadn't asked.
	 *
	 * @throws OutcomeUnknown if n8n's store can't be reached
	 */
	async wasBegun(target: unknown): Promise<boolean> {
		if (this.options.isFirstAttempt) return false;
		const [isBegun = false] = await this.findEarlier(namesOf(target, target)).catch(
			(error: unknown) => {
				throw earlierUnreadable(error);
			},
		);
		return isBegun;
	}

	/**
	 * Whether an earlier attempt may have started any request whose result n8n didn't store, such as that of an item that
	 * can't be read now. Leaves no entries. True if n8n's store can't be reached.
	 */
	async mayHaveBegunAny(): Promise<boolean> {
		if (this.options.isFirstAttempt) return false;
		try {
			const { added, isRepeated } = await this.lookUp([...this.texts.mark, this.texts.earlier]);
			return !added.has(this.texts.earlier) || this.isMarkOfEarlier(added, isRepeated);
		} catch {
			return true;
		}
	}

	/** @returns what to add if the mark was already there */
	private noteMark(added: ReadonlySet<string>, isRepeated: boolean): string[] {
		const [mark = ''] = this.texts.mark;
		const isFound = !added.has(mark);
		this.begun.noteMark(isFound);
		if (!isFound) return [];
		// The mark again, because another execution may have removed it in between.
		const shared = [...this.texts.mark, this.texts.sharedMark];
		if (this.options.isFirstAttempt) return shared;
		// For later questions, because the store now has this attempt's mark, too.
		return this.isMarkOfEarlier(added, isRepeated) ? [...shared, this.texts.earlier] : [];
	}

	private isMarkOfEarlier(added: ReadonlySet<string>, isRepeated: boolean): boolean {
		const [mark = '', ownMark] = this.texts.mark;
		if (ownMark === undefined || added.has(mark)) return false;
		return isRepeated || added.has(ownMark);
	}

	/** For each name, whether its next entry is from an earlier attempt. Skips the entries of this attempt. */
	private async findEarlier(names: readonly string[]): Promise<boolean[]> {
		const counts = this.begun.copy();
		const isEarlier = names.map(() => false);
		let pending = names.map((name, index) => ({ name, index }));
		while (pending.length > 0) {
			const entries = pending.map((entry) => ({
				...entry,
				texts: this.texts.request(entry.name, counts.add(entry.name)),
			}));
			const { added, isRepeated } = await this.lookUp(entries.flatMap(({ texts }) => texts));
			const [earlier, own] = this.existing(entries, added, isRepeated);
			for (const { index } of earlier) isEarlier[index] = true;
			pending = own;
		}
		return isEarlier;
	}

	/** Adds texts to see which were new, and removes those again. If that fails, a later retry reports requests as unknown. */
	private async lookUp(texts: string[]) {
		let added: string[] = [];
		const remove = async () => {
			await removeAll(this.store, added);
			added = [];
		};
		const find = async () => {
			added = await this.store.add(texts);
			const found = new Set(added);
			await remove().catch(() => undefined);
			return found;
		};
		const { pause } = this.options;
		const { result, isRepeated } = await repeatOnStore(
			async () => await this.exclusive(find),
			pause,
		);
		if (added.length > 0) {
			await repeatOnStore(async () => await this.exclusive(remove), pause).catch(() => undefined);
		}
		return { added: result, isRepeated };
	}

	/**
	 * The existing entries: those of earlier attempts, and those of this one, from before it waited or from another
	 * sub-execution. After an error, all texts of an entry may be from the attempt before.
	 */
	private existing<T extends { texts: string[] }>(
		entries: readonly T[],
		added: ReadonlySet<string>,
		isRepeated: boolean,
	): [earlier: T[], own: T[]] {
		const isAmbiguous = isRepeated && !this.options.isFirstAttempt;
		const existing = entries.filter(({ texts: [request = ''] }) => !added.has(request));
		return partition(existing, ({ texts }) => isAmbiguous || texts.some((text) => added.has(text)));
	}

	/**
	 * Removes the entries of this execution, because n8n has stored its records. The entries of a retry stay: a second
	 * retry of the same execution needs them.
	 *
	 * @param stored the requests that n8n has stored records of, if not all
	 */
	async clear(stored?: BegunRequests): Promise<void> {
		if (!this.options.isFirstAttempt) return;
		const texts = this.begun
			.takeAll(stored)
			.flatMap(({ target, nth }) => this.texts.request(target, nth));
		if (this.begun.unmark()) texts.push(...this.texts.mark);
		if (texts.length === 0) return;
		await this.exclusive(async () => {
			const [sharedStart, sharedMark] = [this.texts.sharedStart, this.texts.sharedMark];
			const all = [...texts, sharedStart, sharedMark];
			this.begun.writer.forget(all);
			const added = await this.store.add(all);
			if (!added.includes(sharedStart)) return;
			const isMarkShared = !added.includes(sharedMark);
			// The store has all of these, so an equal count means that it has nothing else.
			const isAllOwn = !isMarkShared && (await this.store.count()) === all.length;
			if (isAllOwn) await this.store.clear();
			else {
				const shared = isMarkShared ? [...this.texts.mark, sharedMark] : [];
				await removeAll(this.store, difference(all, shared));
			}
		});
	}

	/** The requests that were started until now. */
	state(): BegunRequests {
		return this.begun.copy();
	}

	/** Counts one more request with this target or payload. */
	private nextTexts(name: string): string[] {
		return this.texts.request(name, this.begun.add(name));
	}
}

function earlierUnreadable(error: unknown): OutcomeUnknown {
	const cause = error instanceof ExplainedError ? error.originalMessage : String(error);
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
