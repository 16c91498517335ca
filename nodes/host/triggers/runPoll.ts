import type { Failure, INodeExecutionData, IPollFunctions } from 'n8n-workflow';
import { ExplainedError, InvalidInput, ServiceRejection } from '../../core/service/errors';
import { TOO_MANY_REQUESTS } from '../../core/service/http';
import { onScreenOnly } from '../../core/service/resolution';
import type { JsonObject } from '../../core/values/json';
import { asItems } from '../run/itemLoop';
import { toNodeError } from '../http/nodeErrors';
import { PollTime } from './pollTime';

/** Runs `poll()` of a trigger. All its events start one execution. */
export async function runPoll(
	context: IPollFunctions,
	poll: (context: IPollFunctions, time: PollTime) => Promise<JsonObject[]>,
): Promise<INodeExecutionData[][] | null> {
	try {
		if (context.getNode().executeOnce === true) {
			throw new InvalidInput(
				"'Execute Once' in the settings of this trigger must be off",
				onScreenOnly('Turn it off. With it, n8n drops all events of a check except the first one.'),
			);
		}
		const events = await poll(context, new PollTime(context));
		return events.length > 0 ? [asItems(events)] : null;
	} catch (error) {
		throw withCause(toNodeError(context.getNode(), error), error);
	}
}

/** n8n waits longer until the next check if a person must do something first, or as long as the service asks. */
function withCause<E extends Error>(nodeError: E, error: unknown): E & { failure?: Failure } {
	const failure = failureOf(error);
	return failure === undefined ? nodeError : Object.assign(nodeError, { failure });
}

function failureOf(error: unknown): Failure | undefined {
	if (!(error instanceof ExplainedError)) return undefined;
	// Of one call or contact list.
	const rejection = error.cause ?? error;
	if (rejection instanceof ServiceRejection) {
		const { status, retryAfterMs } = rejection;
		if (status === 401) return { cause: 'credential-invalid' };
		if (status === TOO_MANY_REQUESTS)
			return { cause: 'rate-limited', ...(retryAfterMs !== undefined && { retryAfterMs }) };
	}
	return { cause: error.isTransient ? 'temporarily-unavailable' : 'configuration-invalid' };
}
