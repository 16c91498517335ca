import isEmpty from 'lodash/isEmpty';
import type { JsonObject } from '../values/json';

/**
 * The numbers that runs of a node have called, or pushed to a campaign, in one execution. n8n runs a node several times, such
 * as in a loop, or for several connected outputs before it, and a model may ask several times.
 */
export class NumbersOfExecution {
	/**
	 * @param done by number, such as its phone key or a hash of it: the run that had it. Changed in place.
	 * @param unknown the same of all nodes of the workflow, for numbers whose outcome is unknown
	 * @param run this run, as the others see it in `done`
	 * @param counts whether a number of an earlier run counts. By default, it always does.
	 * @param nodeRun this run among those of all nodes, so that its own unknown numbers don't count. By default, they do.
	 */
	constructor(
		private readonly done: JsonObject,
		private readonly unknown: JsonObject,
		private readonly run: string | number,
		private readonly counts: (earlier: unknown) => boolean = () => true,
		private readonly nodeRun?: string,
	) {}

	get hasUnknown(): boolean {
		return !isEmpty(this.unknown);
	}

	isDone(number: string): boolean {
		const earlier = this.done[number];
		return earlier !== undefined && this.counts(earlier);
	}

	isUnknown(number: string): boolean {
		const earlier = this.unknown[number];
		return earlier !== undefined && earlier !== this.nodeRun;
	}

	/** @returns whether no run had it before */
	add(number: string, isUnknown: boolean): boolean {
		const isNew = this.done[number] === undefined;
		this.done[number] = this.run;
		if (isUnknown) this.unknown[number] = this.nodeRun ?? this.run;
		return isNew;
	}
}
