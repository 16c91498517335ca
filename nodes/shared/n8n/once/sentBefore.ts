import { asSentence, type ExplainedError, OutcomeUnknown } from '../../api/errors';
import type { PreparedRequest } from './preparedRequest';

/** The error of an item that an earlier attempt sent, or may have sent, although this one can't send it. */
export function maybeSentBefore(error: ExplainedError): OutcomeUnknown {
	const { message, resolution, resolutionForModel: forModel, originalMessage, origin } = error;
	const onScreen = `${asSentence(resolution)} Then retry the execution again. An earlier attempt may have sent this item, so don't send it in a new execution.`;
	return new OutcomeUnknown(message, { onScreen, forModel }, { originalMessage, origin });
}

/** The outcome of a request that an earlier attempt started, and of which n8n has no result. */
export function begunEarlier<Deps>(request?: PreparedRequest<Deps>): OutcomeUnknown {
	const error = new OutcomeUnknown(
		'An earlier attempt of this execution may have sent this, and n8n has no record of the result',
		{
			onScreen: "It wasn't sent again. Check the service before you send it in a new execution.",
			forModel: 'It was not sent again.',
		},
	);
	return request?.withDetails?.(error) ?? error;
}
