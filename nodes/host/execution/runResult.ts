import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { asSentence } from '../../core/service/errors';
import type { Explanation } from '../../core/service/explanation';
import { displayText } from '../../core/values/values';

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

/** What a run of the node did. A model gets it with the result of its tool request, and a person the hints. */
export class RunResult {
	completed: CompletedRequest | undefined;
	/** What happened, if the run only reads. */
	readSummary: string | undefined;
	/** What must be known besides, such as that a list isn't whole. */
	readonly hints: Explanation[] = [];

	constructor(private readonly context: IExecuteFunctions) {}

	/** @param readSummary what happened, if the run succeeds */
	setReadOnly(readSummary = 'The data was read.'): void {
		this.readSummary = readSummary;
	}

	/**
	 * What isn't an error, but must be known, such as entries that may be missing. n8n shows it beside the output. As a tool,
	 * the model gets it with the result.
	 */
	addHints(...hints: Explanation[]): void {
		addHintsForPerson(this.context, ...hints);
		this.addHintsForModel(...hints);
	}

	/** For a hint that a person doesn't need, because the form shows it, such as its limit. */
	addHintsForModel(...hints: Explanation[]): void {
		this.hints.push(...hints);
	}
}

/** For a hint that a model learns in another way. */
export function addHintsForPerson(context: IExecuteFunctions, ...hints: Explanation[]): void {
	const shown = hints.map((hint) => ({ message: displayText(textOnScreen(hint)) }));
	context.addExecutionHints(...shown);
}

/** What happened, and what to do, in one text. */
export function textOnScreen({ message, resolution }: Explanation): string {
	return `${asSentence(message)} ${resolution}`.trim();
}
