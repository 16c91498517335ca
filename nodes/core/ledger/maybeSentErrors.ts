import { asSentence, ExplainedError, InvalidInput, OutcomeUnknown } from '../service/errors';
import { forEveryone } from '../service/resolution';
import { messageOf } from '../values/values';
import type { Job } from './ledger';

/** The error of an item that an earlier attempt sent, or may have sent, although this one can't send it. */
export function maybeSentBefore(error: unknown): OutcomeUnknown {
	const { message, resolution, resolutionForModel, originalMessage, origin } =
		error instanceof ExplainedError
			? error
			: new InvalidInput(messageOf(error), forEveryone('Resolve this.'));
	return new OutcomeUnknown(
		message.replace(/(?:nothing was sent|no call was placed)$/i, '$& in this attempt'),
		{
			onScreen: `${asSentence(resolution)} Then retry the execution again. An earlier attempt may have sent this item, so don't send it in a new execution.`,
			forModel: resolutionForModel,
		},
		{ originalMessage, origin },
	);
}

/** The outcome of a job that an earlier attempt started, and of which n8n has no result. */
export function begunEarlier({ withDetails }: Pick<Job, 'withDetails'> = {}): OutcomeUnknown {
	const error = new OutcomeUnknown(
		'An earlier attempt of this execution may have sent this, and n8n has no record of the result',
		{
			onScreen: "It wasn't sent again. Check the service before you send it in a new execution.",
			forModel: 'It was not sent again.',
		},
	);
	return withDetails?.(error) ?? error;
}
