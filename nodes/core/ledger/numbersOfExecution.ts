import isEmpty from 'lodash/isEmpty';
import type { JsonObject } from '../values/json';

/** What a run of a node knows of the numbers, and how the runs tell each other apart. */
type Run = {
	/** By number, such as its phone key or a hash of it: the run that had it. Changed in place. */
	done: JsonObject;
	/** The same of all nodes of the workflow, for numbers whose outcome is unknown. */
	unknown: JsonObject;
	/** This run, as the others see it in `done`. */
	run: string | number;
	/** Whether a number of an earlier run counts. By default, it always does. */
	counts?: (earlier: unknown) => boolean;
	/** This run among those of all nodes, so that its own unknown numbers don't count. By default, they do. */
	nodeRun?: string;
};

/**
 * The numbers that runs of a node have called, or pushed to a campaign, in one execution. n8n runs a node several times, such
 * as in a loop, or for several connected outputs before it, and a model may ask several times.
 */
export class NumbersOfExecution {
	constructor(private readonly own: Run) {}

	get hasUnknown(): boolean {
		return !isEmpty(this.own.unknown);
	}

	isDone(number: string): boolean {
		const { done, counts } = this.own;
		const earlier = done[number];
		return earlier !== undefined && (counts?.(earlier) ?? true);
	}

	isUnknown(number: string): boolean {
		const { unknown, nodeRun } = this.own;
		const earlier = unknown[number];
		return earlier !== undefined && earlier !== nodeRun;
	}

	/** @returns whether no run had it before */
	add(number: string, isUnknown: boolean): boolean {
		const { done, unknown, run, nodeRun = run } = this.own;
		const isNew = done[number] === undefined;
		done[number] = run;
		if (isUnknown) unknown[number] = nodeRun;
		return isNew;
	}
}
