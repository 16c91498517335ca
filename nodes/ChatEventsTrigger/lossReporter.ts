import compact from 'lodash/compact';
import lowerFirst from 'lodash/lowerFirst';
import { NodeOperationError, type ITriggerFunctions } from 'n8n-workflow';
import type { ExplainedError } from '../core/service/errors';
import { pause } from '../core/values/clock';
import { clock } from '../host/clock';
import { counted, MAX_NAMED, named, displayText } from '../core/values/values';
import { idText } from '../core/chat/frames';
import { EVENT_LIMITS, type SessionEvent } from './eventStarter';

type Loss = { sessionId: string; error: ExplainedError };

const RETRIED = 'The trigger tries again automatically, at intervals of up to 15 minutes.';
/** n8n restarts a published trigger only if the node changed. A watched session isn't in its list any more. */
const GIVEN_UP =
	'Unpublish the workflow, then publish it. A session that was watched needs Chat Session > Watch instead.';

/** When the service is down, many sessions fail soon after one another, and each report is a failed execution. */
const REPORT_AFTER_MS = 30_000;

/**
 * Reports lost sessions and events as failed executions, which also start n8n's error workflow.
 *
 * @param signal aborted when the trigger is closed. Then everything is reported immediately.
 */
export function lossReporter(context: ITriggerFunctions, signal: AbortSignal) {
	const batched = <T>(errorOf: (all: T[]) => NodeOperationError) => {
		const batch: T[] = [];
		const report = () => {
			const error = errorOf(batch.splice(0));
			context.logger.error(error.message, { originalMessage: error.description });
			context.saveFailedExecution(error);
		};
		return (some: T[]) => {
			const isFirst = batch.length === 0 && some.length > 0;
			for (const one of some) batch.push(one);
			if (isFirst) void pause(clock, REPORT_AFTER_MS, signal).then(report);
		};
	};
	return {
		retried: batched<Loss>((losses) => sessionsLost(context, losses, RETRIED)),
		givenUp: batched<Loss>((losses) => sessionsLost(context, losses, GIVEN_UP)),
		events: batched<SessionEvent>((events) => eventsLost(context, events)),
	};
}

export function sessionsLost(
	context: ITriggerFunctions,
	losses: Loss[],
	whatFollows?: string,
): NodeOperationError {
	const [first] = losses;
	const areSeveral = losses.length > 1;
	const message = areSeveral
		? `${losses.length} chat sessions aren't connected`
		: `Chat session ${first?.sessionId} isn't connected: ${lowerFirst(first?.error.message)}`;
	const reasons = losses.slice(0, MAX_NAMED).map(({ sessionId, error }) => {
		const which = areSeveral ? `${sessionId}: ${error.message}. ` : '';
		return displayText(which + error.description);
	});
	const more = losses.length - reasons.length;
	const description = compact([
		...reasons,
		more > 0 && `And ${counted(more, 'more session')}.`,
		whatFollows,
	]).join(' ');
	return new NodeOperationError(context.getNode(), message, { description });
}

function eventsLost(context: ITriggerFunctions, events: SessionEvent[]): NodeOperationError {
	const list = named(events, ({ sessionId, event }) =>
		displayText(`${event.type} (${idText(event.event_id) ?? 'no ID'}) of ${sessionId}`),
	);
	const message = `${counted(events.length, 'chat event')} didn't start an execution`;
	const description = `The trigger was closed before n8n received them, ${EVENT_LIMITS.waiting.toLocaleString('en-US')} other events were waiting for an execution, or n8n couldn't start one (see the n8n log). Unless the service sends them again, check these conversations in the service: ${list}.`;
	return new NodeOperationError(context.getNode(), message, { description });
}
