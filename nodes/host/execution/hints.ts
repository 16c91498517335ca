import type { IExecuteFunctions } from 'n8n-workflow';
import { asSentence } from '../../core/service/errors';
import type { Explanation } from '../../core/service/resolution';
import { displayText } from '../../core/values/values';
import { callerOf } from '../caller/caller';

/**
 * What isn't an error, but must be known, such as entries that may be missing. n8n shows it beside the output. As a tool,
 * the model gets it with the result.
 */
export function addHints(context: IExecuteFunctions, ...hints: Explanation[]): void {
	addHintsForPerson(context, ...hints);
	addHintsForModel(context, ...hints);
}

/** For a hint that a model learns in another way. */
export function addHintsForPerson(context: IExecuteFunctions, ...hints: Explanation[]): void {
	const shown = hints.map((hint) => ({ message: displayText(textOnScreen(hint)) }));
	context.addExecutionHints(...shown);
}

/** What happened, and what to do, in one text. */
export function textOnScreen({ message, resolution: { onScreen } }: Explanation): string {
	return `${asSentence(message)} ${onScreen}`.trim();
}

/** For a hint that a person doesn't need, because the form shows it, such as its limit. */
export function addHintsForModel(context: IExecuteFunctions, ...hints: Explanation[]): void {
	callerOf(context).result.hints.push(...hints);
}
