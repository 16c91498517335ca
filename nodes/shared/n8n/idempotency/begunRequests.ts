/** How many requests to each target one execution has begun, as far as this process knows. */
export class BegunRequests {
	private readonly counts = new Map<string, number>();
	private sum = 0;

	get total(): number {
		return this.sum;
	}

	/** @returns which request to this target it is, from 0 */
	add(target: string): number {
		const nth = this.counts.get(target) ?? 0;
		this.counts.set(target, nth + 1);
		this.sum++;
		return nth;
	}

	/** @returns which request to this target doesn't count any more, if any did */
	removeLatest(target: string): number | undefined {
		const nth = (this.counts.get(target) ?? 0) - 1;
		if (nth < 0) return undefined;
		this.counts.set(target, nth);
		this.sum--;
		return nth;
	}

	/** A copy that counts on by itself. */
	copy(): BegunRequests {
		const copy = new BegunRequests();
		for (const [target, count] of this.counts) copy.counts.set(target, count);
		copy.sum = this.sum;
		return copy;
	}

	/**
	 * All that count; from then on none does.
	 *
	 * @param then if given, a target to which more was begun since is left as it is
	 */
	takeAll(then?: BegunRequests): Array<{ target: string; nth: number }> {
		const taken = [...this.counts].filter(
			([target, count]) => then === undefined || then.counts.get(target) === count,
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

/** What this process knows of one execution at one node, over all runs of the node. */
export type RunningExecution = {
	readonly begun: BegunRequests;
	/** The signals to stop it, of whose parts the end is awaited: after a wait it is another part. */
	readonly watched: WeakSet<object>;
};

const MAX_EXECUTIONS = 1_000;

/** The executions of this process that have begun requests, by node. */
export class RunningExecutions {
	private readonly byNode = new Map<string, Map<string, RunningExecution>>();

	open(node: string, executionId: string): RunningExecution {
		const executions = this.byNode.get(node) ?? new Map<string, RunningExecution>();
		this.byNode.set(node, executions);
		const known = executions.get(executionId);
		if (known !== undefined) return known;
		const execution: RunningExecution = { begun: new BegunRequests(), watched: new WeakSet() };
		executions.set(executionId, execution);
		const [oldest] = executions.keys();
		if (executions.size > MAX_EXECUTIONS && oldest !== undefined) executions.delete(oldest);
		return execution;
	}

	close(node: string, executionId: string): void {
		const executions = this.byNode.get(node);
		executions?.delete(executionId);
		if (executions?.size === 0) this.byNode.delete(node);
	}

	/** How many requests all executions have begun at this node. */
	total(node: string): number {
		let total = 0;
		for (const { begun } of this.byNode.get(node)?.values() ?? []) total += begun.total;
		return total;
	}
}
