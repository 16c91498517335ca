import type { INodeExecutionData } from 'n8n-workflow';
import type { Explanation } from '../../core/service/resolution';

/** A request that a run has completed. */
export type CompletedRequest = {
	output: INodeExecutionData[];
	happened: string;
	/** Undefined if nothing more is to do for it. */
	nextStep?: string | undefined;
	/** Whether an earlier tool request completed it. */
	isReplay: boolean;
	/** Whether the same request may be repeated, such as a chat message. */
	repeatable: boolean;
	/** Whether it stopped before the end. `output` then shows what was completed and what wasn't. */
	isPartial?: boolean;
};

/** What a run of the node did. A model gets it with the result of its tool request, and nobody else reads it. */
export class RunResult {
	completed: CompletedRequest | undefined;
	/** What happened, if the run only reads. */
	readSummary: string | undefined;
	/** What must be known besides, such as that a list isn't whole. */
	readonly hints: Explanation[] = [];

	/** Of the requests for several agents, the last one stands for all. */
	setCompleted(completed: CompletedRequest): void {
		const isReplay = completed.isReplay && this.completed?.isReplay !== false;
		this.completed = { ...completed, isReplay };
	}

	/** Other requests than the completed ones failed. */
	setPartly(items: readonly INodeExecutionData[], rejected: string[]): void {
		if (this.completed === undefined) return;
		const output = [{ json: { completed: items.map(({ json }) => json), rejected } }];
		this.completed = { ...this.completed, output, isPartial: true };
	}

	/** @param readSummary what happened, if the run succeeds */
	setReadOnly(readSummary = 'The data was read.'): void {
		this.readSummary = readSummary;
	}
}
