import { BoundedMap } from '../../boundedMap';
import { StoreWriter } from './storeWriter';

/** What shows in the store that an execution has begun any request. */
type Mark = {
	/** Whether it may also be that of another execution, so that it must stay. */
	isShared: boolean;
};

/** The requests of one execution, or of all sub-executions of one parent, which number them together and share a mark. */
class Counts {
	/** Undefined if it isn't in the store, or was removed. */
	mark: Mark | undefined;
	/** One for all, because the entries of their requests must change in the order in which these are counted. */
	readonly writer = new StoreWriter();

	constructor(
		readonly byTarget = new Map<string, number>(),
		public sum = 0,
	) {}
}

/** Counts the requests that one execution has started, by target. Only in this process. */
export class BegunRequests {
	private sum = 0;
	private mark: Mark | undefined;

	constructor(private readonly counts = new Counts()) {}

	get total(): number {
		return this.sum;
	}

	get writer(): StoreWriter {
		return this.counts.writer;
	}

	/** Whether this execution has written the mark. */
	get isMarked(): boolean {
		return this.mark !== undefined && this.mark === this.counts.mark;
	}

	/** @returns the index of this request among those to the same target, from 0 */
	add(target: string): number {
		const { byTarget } = this.counts;
		const nth = byTarget.get(target) ?? 0;
		byTarget.set(target, nth + 1);
		this.count(1);
		return nth;
	}

	/** @returns the index of the removed request, or undefined if there was none */
	removeLatest(target: string): number | undefined {
		const { byTarget } = this.counts;
		const nth = (byTarget.get(target) ?? 0) - 1;
		if (nth < 0) return undefined;
		byTarget.set(target, nth);
		this.count(-1);
		return nth;
	}

	/** @param isFound whether the mark was in the store before. It may be that of another sub-execution of the parent. */
	noteMark(isFound: boolean): void {
		this.counts.mark ??= { isShared: isFound };
		this.mark = this.counts.mark;
	}

	/** @returns whether the mark must be removed, because no request is left that it's for */
	unmark(): boolean {
		const isMarkLeft = this.counts.mark?.isShared === false && this.counts.sum === 0;
		if (isMarkLeft) this.counts.mark = undefined;
		return isMarkLeft;
	}

	/** An independent copy. */
	copy(): BegunRequests {
		const { byTarget, sum } = this.counts;
		const copy = new BegunRequests(new Counts(new Map(byTarget), sum));
		copy.sum = this.sum;
		return copy;
	}

	/**
	 * Removes and returns all requests.
	 *
	 * @param snapshot if given, keeps the targets that have got more requests since
	 */
	takeAll(snapshot?: BegunRequests): Array<{ target: string; nth: number }> {
		const { byTarget } = this.counts;
		const taken = [...byTarget].filter(
			([target, count]) => snapshot === undefined || snapshot.counts.byTarget.get(target) === count,
		);
		for (const [target, count] of taken) {
			byTarget.delete(target);
			this.count(-count);
		}
		return taken.flatMap(([target, count]) =>
			Array.from({ length: count }, (_, nth) => ({ target, nth })),
		);
	}

	private count(requests: number): void {
		this.sum += requests;
		this.counts.sum += requests;
	}
}

/** The state of one execution at one node in this process, for all runs of the node. */
export type RunningExecution = {
	readonly begun: BegunRequests;
	/** Cancel signals of the parts whose end is already awaited. A resumed execution has a new signal. */
	readonly watched: WeakSet<object>;
};

const MAX_EXECUTIONS = 1_000;
const MAX_PARENTS = 100;

/** The executions of this process that have started requests, by node. */
export class RunningExecutions {
	private readonly byNode = new Map<string, Map<string, RunningExecution>>();
	/** Without them, each sub-execution would look for the first free number in n8n's database. */
	private readonly countsByParent = new BoundedMap<Counts>(MAX_PARENTS);

	/** @param parentId of a sub-execution */
	get(node: string, executionId: string, parentId?: string): RunningExecution {
		const executions = this.byNode.get(node) ?? new Map<string, RunningExecution>();
		this.byNode.set(node, executions);
		const known = executions.get(executionId);
		if (known !== undefined) return known;
		const counts = parentId === undefined ? undefined : this.countsOf(node, parentId);
		const execution = { begun: new BegunRequests(counts), watched: new WeakSet() };
		executions.set(executionId, execution);
		const [oldest] = executions.keys();
		if (executions.size > MAX_EXECUTIONS && oldest !== undefined) executions.delete(oldest);
		return execution;
	}

	private countsOf(node: string, parentId: string): Counts {
		const key = JSON.stringify([node, parentId]);
		const counts = this.countsByParent.get(key) ?? new Counts();
		this.countsByParent.set(key, counts);
		return counts;
	}

	close(node: string, executionId: string): void {
		const executions = this.byNode.get(node);
		executions?.delete(executionId);
		if (executions?.size === 0) this.byNode.delete(node);
	}

	/** The number of requests that all executions have started at this node. */
	total(node: string): number {
		let total = 0;
		for (const { begun } of this.byNode.get(node)?.values() ?? []) total += begun.total;
		return total;
	}
}
