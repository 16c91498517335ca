import difference from 'lodash/difference';
import uniq from 'lodash/uniq';
import type { IExecuteFunctions } from 'n8n-workflow';
import { OTHER_TEXTS, removeAll, type DeduplicationStore } from '../../deduplicationStore';
import { shortFingerprint } from '../../hash';
import { runExclusive, type Limiter } from '../../keyedMutex';
import { BegunRequests, RunningExecutions } from './begunRequests';
import { originOf, type ExecutionOrigin } from './executionOrigin';
import { runExclusiveOnStore, nodeKeyOf, openNodeStore, type StoreUse } from './nodeStore';

/** Entries of other executions to keep: of those that n8n did not end itself, and of retries. */
const MAX_OTHERS = 20_000;

/** 72 bits. */
const NAME_LENGTH = 12;

const USE: StoreUse = {
	message: "n8n can't note what is about to be sent, so it was not sent",
	description:
		"Try again. If that doesn't help, ask your n8n administrator to check the database of n8n.",
};

type Batch = {
	add: string[];
	remove: string[];
	/** The texts that were not there before. */
	added: Promise<ReadonlySet<string>>;
};

type LogOptions = {
	/** Whether nobody can have begun anything before: the execution is neither a retry nor part of one. */
	isFirstAttempt: boolean;
	/** Whether the node may keep something else in the store, which must stay: see {@link OTHER_TEXTS}. */
	isSharedStore?: boolean;
	/** Runs after whatever else uses the store in this process. */
	exclusive?: Limiter;
	/** How many requests all executions of this process have begun at the node: their notes must stay. */
	totalBegun?: () => number;
};

/**
 * Notes each request in n8n's database before it leaves. n8n stores what a node remembers only when the execution
 * ends: if n8n is killed or restarted, or the execution is stopped, a *Retry* starts without it. The notes show what
 * the execution had begun by then.
 *
 * A request is known by the start of its execution, its target, and how many requests to that target the execution
 * began before. The notes of an execution that ended in order are removed, because it stores its own record.
 */
export class WriteAheadLog {
	private last: Promise<unknown> = Promise.resolve();
	private batch: Batch | undefined;
	/** Written again with the next batch: a worker that writes at the same moment may have undone them. */
	private lastTexts: string[] = [];
	/** Of a store that may have other texts: found out once, with the first batch. */
	private mayTrim: boolean | undefined;
	private readonly exclusive: Limiter;
	private readonly totalBegun: () => number;

	constructor(
		private readonly store: DeduplicationStore,
		readonly origin: ExecutionOrigin,
		private readonly options: LogOptions,
		private readonly begun = new BegunRequests(),
	) {
		this.exclusive = options.exclusive ?? (async (run) => await runExclusive(store, run));
		this.totalBegun = options.totalBegun ?? (() => begun.total);
	}

	get isFirstAttempt(): boolean {
		return this.options.isFirstAttempt;
	}

	/**
	 * Notes a request that is about to be sent.
	 *
	 * @returns whether an earlier attempt of the execution has begun it
	 * @throws NotSent if it couldn't be noted
	 */
	async begin(target: unknown): Promise<boolean> {
		const name = nameOf(target);
		const more: string[] = [];
		for (;;) {
			const texts = this.textsOf(name, this.begun.add(name));
			const added = await this.write({ add: [...texts, ...more] }).catch((error: unknown) => {
				this.begun.removeLatest(name);
				throw error;
			});
			const [request = '', own = request] = texts;
			if (added.has(request)) return false;
			// Unless the note is new, it is this execution's own, of before a wait or of another sub-execution.
			if (this.options.isFirstAttempt) more.push(this.sharedStartText());
			else if (added.has(own)) return true;
		}
	}

	/**
	 * Removes the note of the latest request to this target, which surely took no effect. Never throws: with a note
	 * that stays, a retry reports the request as unknown.
	 */
	async release(target: unknown): Promise<void> {
		const name = nameOf(target);
		const nth = this.begun.removeLatest(name);
		if (nth === undefined) return;
		await this.write({ remove: this.textsOf(name, nth) }).catch(() => undefined);
	}

	/**
	 * Which of these an earlier attempt has begun, in order. The others are as if they were never looked up.
	 *
	 * @throws NotSent if n8n's store can't be reached
	 */
	async findBegun(targets: readonly unknown[]): Promise<boolean[]> {
		const names = targets.map(nameOf);
		const counts = this.begun.copy();
		const requests = names.map((name) => this.requestText(name, counts.add(name)));
		const areBegun = await this.exclusive(async () => {
			const added = new Set(await this.store.add(requests));
			await removeAll(this.store, [...added]);
			return requests.map((request) => !added.has(request));
		});
		names.forEach((name, index) => {
			if (areBegun[index] === true) this.begun.add(name);
		});
		return areBegun;
	}

	/**
	 * Removes the notes of this execution: n8n has stored what its nodes remember. The notes of a retry stay, because
	 * they show a second retry of the same execution what was begun.
	 *
	 * @param stored what was begun by then, if that isn't all
	 */
	async clear(stored?: BegunRequests): Promise<void> {
		if (!this.options.isFirstAttempt) return;
		const texts = this.begun
			.takeAll(stored)
			.map(({ target, nth }) => this.requestText(target, nth));
		if (texts.length === 0) return;
		await this.exclusive(async () => {
			const mark = this.sharedStartText();
			const all = [...texts, mark];
			this.lastTexts = difference(this.lastTexts, all);
			const added = await this.store.add(all);
			if (!added.includes(mark)) return;
			// All are there, so nothing else is.
			const isAllOwn = (await this.store.count()) === all.length;
			if (isAllOwn) await this.store.clear();
			else await removeAll(this.store, all);
		});
	}

	/** What was begun until now. */
	state(): BegunRequests {
		return this.begun.copy();
	}

	/** What stands for a request, and for whose it is where that can be another attempt's. */
	private textsOf(name: string, nth: number): string[] {
		const request = this.requestText(name, nth);
		return this.options.isFirstAttempt
			? [request]
			: [request, `${request} ${this.origin.executionId}`];
	}

	/**
	 * Says that another execution started at the same millisecond and counts on from the notes of the first: without
	 * them, a retry wouldn't find those of the other.
	 */
	private sharedStartText(): string {
		return `shared start ${this.origin.startedAt}`;
	}

	private requestText(name: string, nth: number): string {
		return `request ${this.origin.startedAt} ${name} ${nth}`;
	}

	/** Changes that come while n8n writes are written together. */
	private async write({
		add = [],
		remove = [],
	}: Partial<Pick<Batch, 'add' | 'remove'>>): Promise<ReadonlySet<string>> {
		this.batch ??= this.nextBatch();
		this.batch.add.push(...add);
		this.batch.remove.push(...remove);
		return await this.batch.added;
	}

	private nextBatch(): Batch {
		const [add, remove]: [string[], string[]] = [[], []];
		const writeAll = async (): Promise<ReadonlySet<string>> => {
			this.batch = undefined;
			// First, because a request that is sent again has the same note.
			if (remove.length > 0) await removeAll(this.store, remove);
			const again = difference(this.lastTexts, remove, add);
			this.lastTexts = add.length === 0 ? again : uniq(add);
			if (add.length === 0) return new Set<string>();
			const texts = [...again, ...this.lastTexts];
			return new Set(await this.store.add(texts, await this.maxEntries()));
		};
		const added = this.last.then(async () => await this.exclusive(writeAll));
		this.last = added.catch(() => undefined);
		return { add, remove, added };
	}

	/** Undefined if the store has what must stay. */
	private async maxEntries(): Promise<number | undefined> {
		// A request of a retry has two notes.
		const max = MAX_OTHERS + 2 * this.totalBegun();
		if (this.options.isSharedStore !== true) return max;
		this.mayTrim ??= (await this.store.count()) > max ? !(await hasOtherTexts(this.store)) : false;
		return this.mayTrim ? max : undefined;
	}
}

const running = new RunningExecutions();

/** Stands for the signal of an execution that has none. */
const UNSTOPPABLE = {};

/**
 * Undefined where n8n keeps nothing that could be retried.
 *
 * @throws NotSent if n8n can't tell what the execution belongs to
 */
export async function openWriteAheadLog(
	context: IExecuteFunctions,
	options: Pick<LogOptions, 'isSharedStore'> = {},
): Promise<WriteAheadLog | undefined> {
	const origin = await originOf(context);
	if (origin === undefined) return undefined;
	const [node, executionId] = [nodeKeyOf(context), context.getExecutionId()];
	const execution = running.open(node, executionId);
	const log = new WriteAheadLog(
		openNodeStore(context, USE),
		origin,
		{
			...options,
			isFirstAttempt: !origin.isSubExecution && context.getMode() !== 'retry',
			exclusive: async (run) => await runExclusiveOnStore(context, run),
			totalBegun: () => running.total(node),
		},
		execution.begun,
	);
	const signal = context.getExecutionCancelSignal();
	const part = signal ?? UNSTOPPABLE;
	if (execution.watched.has(part)) return log;
	execution.watched.add(part);
	// n8n stores an execution before it calls this. One that was stopped is stored without what its nodes remember.
	context.onExecutionFinish?.(async () => {
		running.close(node, executionId);
		if (signal?.aborted !== true) await log.clear();
	});
	return log;
}

/**
 * To be called before n8n stores an execution that waits.
 *
 * @returns what removes the notes once it is stored, with what its nodes remember. Never throws: notes that stay make
 * n8n's list longer, and a retry doesn't need them.
 */
export async function notesOfWaiting(context: IExecuteFunctions): Promise<() => Promise<void>> {
	const log = await openWriteAheadLog(context).catch(() => undefined);
	const stored = log?.state();
	return async () => await log?.clear(stored).catch(() => undefined);
}

async function hasOtherTexts(store: DeduplicationStore): Promise<boolean> {
	const added = await store.add([OTHER_TEXTS]);
	await store.remove(added);
	return added.length === 0;
}

function nameOf(target: unknown): string {
	return shortFingerprint(target, NAME_LENGTH);
}
