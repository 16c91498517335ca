import { NodeOperationError, type ITriggerFunctions } from 'n8n-workflow';
import { Batcher } from '../shared/n8n/triggers/batcher';
import type { ChatEnded } from '../shared/chat/endings';
import { MAX_NAMED, named, displayText } from '../shared/values';
import { idText, MAX_FRAME_CHARS } from '../shared/chat/frames';
import type { SessionEvent } from './eventStarter';
import { isFinal } from './followedSessions';

/** Whatever it held started no execution. */
export type TooLargeFrame = { sessionId: string; chars: number };

export type Loss = { sessionId: string; ending: ChatEnded };

const TRIED_AGAIN =
	'The trigger tries again by itself, after a minute and then less and less often, up to every 15 minutes.';

/** Tells the workflow's owner, by failed executions and n8n's error workflow, what was lost and why. */
export class LossReporter {
	readonly sessions: Batcher<Loss>;

	readonly events: Batcher<SessionEvent>;

	readonly frames: Batcher<TooLargeFrame>;

	/** `signal` is aborted when the trigger is closed: then all is told at once. */
	constructor(context: ITriggerFunctions, signal: AbortSignal) {
		this.sessions = new Batcher(signal, (losses) =>
			context.saveFailedExecution(sessionsLost(context, losses)),
		);
		this.events = new Batcher(signal, (events) => {
			const error = eventsLost(context, events);
			context.logger.error(error.message, { originalMessage: error.description });
			context.saveFailedExecution(error);
		});
		this.frames = new Batcher(signal, (frames) =>
			context.saveFailedExecution(framesLost(context, frames)),
		);
	}
}

export function sessionsLost(context: ITriggerFunctions, losses: Loss[]): NodeOperationError {
	const [first] = losses;
	const several = losses.length > 1;
	const message = several
		? `${losses.length} chat sessions are not followed`
		: `The chat session ${first?.sessionId ?? ''} is not followed: ${lowerFirst(first?.ending.message ?? '')}`;
	const advice = losses
		.slice(0, MAX_NAMED)
		.map(({ sessionId, ending }) =>
			displayText(
				several ? `${sessionId}: ${ending.message}. ${ending.description}` : ending.description,
			),
		);
	const more = losses.length - advice.length;
	if (more > 0) advice.push(`${more} more sessions are not followed.`);
	// In the editor the trial is over.
	const isTriedAgain =
		context.getMode() !== 'manual' && losses.some(({ ending }) => !isFinal(ending));
	const description = [...advice, ...(isTriedAgain ? [TRIED_AGAIN] : [])].join(' ');
	return new NodeOperationError(context.getNode(), message, { description });
}

export function framesLost(
	context: ITriggerFunctions,
	frames: TooLargeFrame[],
): NodeOperationError {
	const list = named(
		frames,
		({ sessionId, chars }) => `${sessionId} (${chars.toLocaleString('en-US')} characters)`,
	);
	const message =
		frames.length === 1
			? 'What came in a chat session was too large to be read'
			: `What came in chat sessions was too large to be read, ${frames.length} times`;
	const most = MAX_FRAME_CHARS.toLocaleString('en-US');
	const description = `It started no execution: the trigger reads ${most} characters at most. Look at these conversations yourself: ${list}.`;
	return new NodeOperationError(context.getNode(), message, { description });
}

function eventsLost(context: ITriggerFunctions, events: SessionEvent[]): NodeOperationError {
	const list = named(events, ({ sessionId, event }) =>
		displayText(`${event.type} (${idText(event.envelope.event_id) ?? 'no ID'}) of ${sessionId}`),
	);
	const message =
		events.length === 1
			? 'A chat event started no execution'
			: `${events.length} chat events started no execution`;
	const description = `n8n did not take them before the trigger was closed, or could not start an execution (its log says why). Unless the service sends them again, look at these conversations yourself: ${list}.`;
	return new NodeOperationError(context.getNode(), message, { description });
}

function lowerFirst(text: string): string {
	return text.charAt(0).toLowerCase() + text.slice(1);
}
