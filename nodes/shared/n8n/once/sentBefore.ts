import type { IExecuteFunctions } from 'n8n-workflow';
import { asSentence, ExplainedError, InvalidInput, OutcomeUnknown } from '../../api/errors';
import { forEveryone } from '../../api/resolution';
import { isJsonObject } from '../../json';
import { messageOf } from '../../values';
import { openRecord } from './executionStore';
import { openNotes } from './openNotes';
import type { PreparedRequest } from './preparedRequest';

/**
 * Whether an earlier attempt of the execution may have sent anything, also if the items can't be read now. True if n8n's
 * store can't be reached.
 */
async function mayBeSentBefore(context: IExecuteFunctions): Promise<boolean> {
	try {
		const records = openRecord(context, 'requests', isJsonObject, {});
		if (Object.keys(records).length > 0) return true;
		const notes = await openNotes(context);
		return (await notes?.findEarlier([])) !== undefined;
	} catch {
		return true;
	}
}

/** In a retry, an error before the first request doesn't show that nothing was sent. */
export async function beforeSending(context: IExecuteFunctions, error: unknown): Promise<unknown> {
	const isUnknown = error instanceof ExplainedError && error.outcome === 'unknown';
	return isUnknown || !(await mayBeSentBefore(context)) ? error : maybeSentBefore(error);
}

/** The error of an item that an earlier attempt sent, or may have sent, although this one can't send it. */
export function maybeSentBefore(error: unknown): OutcomeUnknown {
	const { message, resolution, resolutionForModel, originalMessage, origin } =
		error instanceof ExplainedError
			? error
			: new InvalidInput(messageOf(error), forEveryone('Resolve this.'));
	return new OutcomeUnknown(
		message.replace(/nothing was sent$/i, '$& in this attempt'),
		{
			onScreen: `${asSentence(resolution)} Then retry the execution again. An earlier attempt may have sent this item, so don't send it in a new execution.`,
			forModel: resolutionForModel,
		},
		{ originalMessage, origin },
	);
}

/** The outcome of a request that an attempt started, and of which n8n has no result. */
export function begunEarlier<Deps>({ withDetails }: PreparedRequest<Deps>): OutcomeUnknown {
	const error = new OutcomeUnknown(
		'An earlier attempt of this execution may have sent this, and n8n has no record of the result',
		{
			onScreen: "It wasn't sent again. Check the service before you send it in a new execution.",
			forModel: 'It was not sent again.',
		},
	);
	return withDetails?.(error) ?? error;
}
