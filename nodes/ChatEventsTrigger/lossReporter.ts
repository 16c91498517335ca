import compact from 'lodash/compact';
import groupBy from 'lodash/groupBy';
import lowerFirst from 'lodash/lowerFirst';
import { NodeOperationError, type ITriggerFunctions } from 'n8n-workflow';
import type { ExplainedError } from '../core/service/errors';
import { pause } from '../core/values/clock';
import { clock } from '../host/clock';
import { counted, MAX_NAMED, named, displayText } from '../core/values/values';
import { idText } from '../core/chat/frames';
import { EVENT_LIMITS, type SessionEvent } from './eventStarter';

/** `next`: what follows. */
type Loss = { sessionId: string; error: ExplainedError; next?: string };

const RETRIED = 'The trigger tries again automatically, at intervals of up to 15 minutes.';
/** n8n restarts a published trigger only if the node changed. */
const GIVEN_UP = 'Unpublish the workflow, then publish it.';
/** Publishing may not help, because the next request to watch another one stores the list without it. */
const UNWATCHED = 'Then watch the session again, with Chat Session > Watch.';

/** When the service is down, many sessions fail soon after one another, and each report is a failed execution. */
const REPORT_AFTER_MS = 30_000;

/**
 * Reports lost sessions and events as failed executions, which also start n8n's error workflow.
 *
 * @param signal aborted when the trigger is closed. Then everything is reported immediately.
 */
export function lossReporter(context: ITriggerFunctions, signal: AbortSignal) {
	const batched = <T>(report: (all: T[]) => void) => {
		const batch: T[] = [];
		return (some: T[]) => {
			const isFirst = batch.length === 0 && some.length > 0;
			for (const one of some) batch.push(one);
			if (isFirst) void pause(clock, REPORT_AFTER_MS, signal).then(() => report(batch.splice(0)));
		};
	};
	return {
		sessions: batched<Loss>((losses) => {
			for (const some of Object.values(groupBy(losses, 'next'))) {
				context.saveFailedExecution(sessionsLost(context, some));
			}
		}),
		events: batched<SessionEvent>((events) => {
			const error = eventsLost(context, events);
			context.logger.error(error.message, { originalMessage: error.description });
			context.saveFailedExecution(error);
		}),
	};
}

/**
 * What follows the loss of a session.
 *
 * @param isRetried whether the connection tries again automatically
 * @param watches whether the trigger follows watched sessions
 */
export function whatFollows(isRetried: boolean, watches: boolean): string {
	if (isRetried) return RETRIED;
	return watches ? UNWATCHED : GIVEN_UP;
}

export function sessionsLost(context: ITriggerFunctions, losses: Loss[]): NodeOperationError {
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
		first?.next,
	]).join(' ');
	return new NodeOperationError(context.getNode(), message, { description });
}

function eventsLost(context: ITriggerFunctions, events: SessionEvent[]): NodeOperationError {
	const list = named(events, ({ sessionId, event }) =>
		displayText(`${event.type} (${idText(event.envelope.event_id) ?? 'no ID'}) of ${sessionId}`),
	);
	const message = `${counted(events.length, 'chat event')} didn't start an execution`;
	const description = `The trigger was closed before n8n received them, ${EVENT_LIMITS.waiting.toLocaleString('en-US')} other events were waiting for an execution, or n8n couldn't start one (see the n8n log). Unless the service sends them again, check these conversations in the service: ${list}.`;
	return new NodeOperationError(context.getNode(), message, { description });
}
