import difference from 'lodash/difference';
import type { IExecuteFunctions } from 'n8n-workflow';
import { removeAll, type DeduplicationStore } from '../deduplicationStore';
import { shortFingerprint } from '../hash';
import { RecentIds } from '../recentIds';
import { originOf, type ExecutionOrigin } from './executionOrigin';
import { exclusiveOnStore, openNodeStore, type StoreUse } from './nodeStore';

/** Entries of other executions to keep: of those that n8n did not end itself, and of retries. */
const MAX_OTHERS = 20_000;

/** 72 bits. */
const NAME_LENGTH = 12;

const USE: StoreUse = {
	message: "n8n can't note what is about to be sent, so nothing was sent",
	description:
		"Try again. If that doesn't help, ask your n8n administrator to check the database of n8n.",
};

/** By target: how many requests this process has begun for the execution. */
type BegunCounts = Map<string, number>;

type Batch = {
	add: string[];
	remove: string[];
	/** The texts that were not there before. */
	added: Promise<ReadonlySet<string>>;
};

type LogOptions = {
	/** Whether nobody can have begun anything before: the execution is neither a retry nor part of one. */
	isFirstAttempt: boolean;
	/** Whether the node keeps something else in the store, which must stay. */
	isSharedStore?: boolean;
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

	constructor(
		private readonly store: DeduplicationStore,
		readonly origin: ExecutionOrigin,
		private readonly options: LogOptions,
		private readonly begun: BegunCounts = new Map(),
	) {}

	/**
	 * Notes a request that is about to be sent.
	 *
	 * @returns whether an earlier attempt of the execution has begun it
	 * @throws NotSent if it couldn't be noted
	 */
	async begin(target: unknown): Promise<boolean> {
		const name = nameOf(target);
		for (;;) {
			const texts = this.textsOf(name, this.count(name));
			const added = await this.write({ add: texts });
			const [request = '', own = request] = texts;
			if (added.has(request)) return false;
			// Unless the note is new, it is this execution's own, of before a wait or of another sub-execution.
			if (!this.options.isFirstAttempt && added.has(own)) return true;
		}
	}

	/**
	 * Removes the note of the latest request to this target, which surely took no effect. Never throws: with a note
	 * that stays, a retry reports the request as unknown.
	 */
	async release(target: unknown): Promise<void> {
		const name = nameOf(target);
		const nth = (this.begun.get(name) ?? 0) - 1;
		if (nth < 0) return;
		this.begun.set(name, nth);
		await this.write({ remove: this.textsOf(name, nth) }).catch(() => undefined);
	}

	/**
	 * Which of these an earlier attempt has begun, in order. The others are as if they were never looked up.
	 *
	 * @throws NotSent if n8n's store can't be reached
	 */
	async findBegun(targets: readonly unknown[]): Promise<boolean[]> {
		const counts = new Map(this.begun);
		const requests = targets.map((target) => {
			const name = nameOf(target);
			const nth = counts.get(name) ?? 0;
			counts.set(name, nth + 1);
			return this.requestText(name, nth);
		});
		const added = new Set(await this.store.add(requests));
		await removeAll(this.store, [...added]);
		const areBegun = requests.map((request) => !added.has(request));
		targets.forEach((target, index) => {
			if (areBegun[index] === true) this.count(nameOf(target));
		});
		return areBegun;
	}

	/** Removes the notes of this execution. */
	async clear(): Promise<void> {
		const texts = [...this.begun].flatMap(([name, count]) =>
			Array.from({ length: count }, (_, nth) => this.requestText(name, nth)),
		);
		const isAllOwn =
			this.options.isSharedStore !== true && (await this.store.count()) <= texts.length;
		if (isAllOwn) await this.store.clear();
		else await removeAll(this.store, texts);
	}

	/** The number of the next request to this target. */
	private count(name: string): number {
		const nth = this.begun.get(name) ?? 0;
		this.begun.set(name, nth + 1);
		return nth;
	}

	/** What stands for a request, and for whose it is where that can be another attempt's. */
	private textsOf(name: string, nth: number): string[] {
		const request = this.requestText(name, nth);
		return this.options.isFirstAttempt
			? [request]
			: [request, `${request} ${this.origin.executionId}`];
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
		const added = this.last.then(async () => {
			this.batch = undefined;
			// First, because a request that is sent again has the same note.
			if (remove.length > 0) await removeAll(this.store, remove);
			if (add.length === 0) return new Set<string>();
			const all = difference([...this.lastTexts, ...add], difference(remove, add));
			const most = this.options.isSharedStore === true ? undefined : MAX_OTHERS + 2 * this.total();
			const isNew = new Set(await this.store.add(all, most));
			this.lastTexts = add;
			return isNew;
		});
		this.last = added.catch(() => undefined);
		return { add, remove, added };
	}

	private total(): number {
		let total = 0;
		for (const count of this.begun.values()) total += count;
		return total;
	}
}

/** Undefined where n8n keeps nothing that could be retried. */
export async function openWriteAheadLog(
	context: IExecuteFunctions,
	options: Pick<LogOptions, 'isSharedStore'> = {},
): Promise<WriteAheadLog | undefined> {
	const origin = await originOf(context);
	if (origin === undefined) return undefined;
	const isFirstAttempt = !origin.isSubExecution && context.getMode() !== 'retry';
	const key = [context.getExecutionId(), context.getNode().id].join(' ');
	const known = counts.get(key);
	const begun = known ?? new Map<string, number>();
	counts.set(key, begun);
	const log = new WriteAheadLog(
		exclusiveStore(context),
		origin,
		{ ...options, isFirstAttempt },
		begun,
	);
	if (known === undefined && isFirstAttempt) clearWhenEnded(context, log, key);
	return log;
}

const MAX_EXECUTIONS = 1_000;

/** By execution and node: a node that runs several times in an execution counts on. */
const counts = new RecentIds<BegunCounts>(MAX_EXECUTIONS);

/** n8n reads and writes the store as a whole, so one write must not begin before another has ended. */
function exclusiveStore(context: IExecuteFunctions): DeduplicationStore {
	const store = openNodeStore(context, USE);
	const exclusive = async <T>(run: () => Promise<T>) => await exclusiveOnStore(context, run);
	return {
		add: async (texts, max) => await exclusive(async () => await store.add(texts, max)),
		remove: async (texts) => await exclusive(async () => await store.remove(texts)),
		clear: async () => await exclusive(async () => await store.clear()),
		count: async () => await store.count(),
	};
}

/**
 * n8n stores an execution before it calls the handler. One that was stopped is stored without what its nodes
 * remember, and the notes of a retry show a second retry of the same execution what was begun: both stay.
 */
function clearWhenEnded(context: IExecuteFunctions, log: WriteAheadLog, key: string): void {
	context.onExecutionFinish?.(async () => {
		counts.delete(key);
		if (context.getExecutionCancelSignal()?.aborted !== true) await log.clear();
	});
}

function nameOf(target: unknown): string {
	return shortFingerprint(target, NAME_LENGTH);
}
