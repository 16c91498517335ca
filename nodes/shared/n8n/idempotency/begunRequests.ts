import { BoundedMap } from '../../boundedMap';

type Counts = Map<string, number>;

/** Counts the requests that one execution has started, by target. Only in this process. */
export class BegunRequests {
	private sum = 0;
	/** Whether the store has a mark of this execution, beside its requests. */
	isMarked = false;
	/** Whether the mark may also be that of another execution, so that it must stay. */
	isMarkShared = false;

	/** @param counts by target; shared by the sub-executions of one parent, which number their requests together */
	constructor(private readonly counts: Counts = new Map()) {}

	get total(): number {
		return this.sum;
	}

	/** @returns the index of this request among those to the same target, from 0 */
	add(target: string): number {
		const nth = this.counts.get(target) ?? 0;
		this.counts.set(target, nth + 1);
		this.sum++;
		return nth;
	}

	/** @returns the index of the removed request, or undefined if there was none */
	removeLatest(target: string): number | undefined {
		const nth = (this.counts.get(target) ?? 0) - 1;
		if (nth < 0) return undefined;
		this.counts.set(target, nth);
		this.sum--;
		return nth;
	}

	/** @returns whether the mark must be removed, because no request is left that it's for */
	unmark(): boolean {
		const isMarkLeft = this.isMarked && !this.isMarkShared && this.sum === 0;
		if (isMarkLeft) this.isMarked = false;
		return isMarkLeft;
	}

	/** An independent copy. */
	copy(): BegunRequests {
		const copy = new BegunRequests(new Map(this.counts));
		copy.sum = this.sum;
		return copy;
	}

	/**
	 * Removes and returns all requests.
	 *
	 * @param snapshot if given, keeps the targets that have got more requests since
	 */
	takeAll(snapshot?: BegunRequests): Array<{ target: string; nth: number }> {
		const taken = [...this.counts].filter(
			([target, count]) => snapshot === undefined || snapshot.counts.get(target) === count,
		);
		for (const [target, count] of taken) {
			this.counts.delete(target);
			this.sum -= count;
		}
		return taken.flatMap(([target, count]) =>
			Array.from({ length: count }, (_, nth) => ({ target, nth })),
		);
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
		const counts: Counts = this.countsByParent.get(key) ?? new Map<string, number>();
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
