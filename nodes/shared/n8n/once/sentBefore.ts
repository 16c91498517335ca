import type { IExecuteFunctions } from 'n8n-workflow';
import { asSentence, type ExplainedError, OutcomeUnknown } from '../../api/errors';
import { isJsonObject } from '../../json';
import { openRecord } from './executionStore';
import { openNotes } from './openNotes';
import type { PreparedRequest } from './preparedRequest';

/**
 * Whether an earlier attempt of the execution may have sent anything, also if the items can't be read now. True if n8n's
 * store can't be reached.
 *
 * @param name of the records of the requests
 */
export async function mayBeSentBefore(
	context: IExecuteFunctions,
	name = 'requests',
): Promise<boolean> {
	try {
		const records = openRecord(context, name, isJsonObject, {});
		if (Object.keys(records).length > 0) return true;
		const notes = await openNotes(context);
		return (await notes?.findEarlier([])) !== undefined;
	} catch {
		return true;
	}
}

/** The error of an item that an earlier attempt sent, or may have sent, although this one can't send it. */
export function maybeSentBefore(error: ExplainedError): OutcomeUnknown {
	const { message, resolution, resolutionForModel: forModel, originalMessage, origin } = error;
	const onScreen = `${asSentence(resolution)} Then retry the execution again. An earlier attempt may have sent this item, so don't send it in a new execution.`;
	return new OutcomeUnknown(message, { onScreen, forModel }, { originalMessage, origin });
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
