import { ShowsNoEnd } from '../shared/calls/readBack';
import { ExplainedError, NotSent, OutcomeUnknown } from '../shared/api/errors';

/** Told to the workflow's owner, so that no call goes missing without a word. */
export function notVerified(callId: string, error: unknown): ExplainedError {
	if (error instanceof ShowsNoEnd) {
		return new OutcomeUnknown(
			`Call ${callId} was reported as completed but shows no end, so the workflow was not started for it`,
			'If it goes on, the workflow starts when its end is reported. If it is over, read it with Get Call, and add its status to Finished Statuses among the options of the trigger.',
		);
	}
	const [what, resolution, originalMessage] =
		error instanceof ExplainedError
			? [error.message, error.resolution, error.originalMessage]
			: [error instanceof Error ? error.message : String(error), '', undefined];
	return new NotSent(
		`Call ${callId} was reported as completed but could not be read back, so the workflow was not started for it`,
		`${what}. ${resolution} Then read this call with Get Call.`,
		originalMessage,
	);
}

const MOST_NAMED = 50;

/** The same for calls that were being verified when the trigger was closed. */
export function notFinished(callIds: readonly string[]): ExplainedError {
	const named = callIds.slice(0, MOST_NAMED).join(', ');
	const more = callIds.length > MOST_NAMED ? ` and ${callIds.length - MOST_NAMED} more` : '';
	return new OutcomeUnknown(
		`${callIds.length === 1 ? 'A completed call was' : `${callIds.length} completed calls were`} still being verified when the trigger was stopped, so the workflow was not started`,
		`Read them with Get Call: ${named}${more}.`,
	);
}
