import { ExplainedError, NotSent } from '../shared/service/core/explained';

/** Told to the workflow's owner, so that no call goes missing without a word. */
export function notVerified(callId: string, error: unknown): NotSent {
	const [what, todo, said] =
		error instanceof ExplainedError
			? [error.message, error.todo, error.said]
			: [error instanceof Error ? error.message : String(error), '', undefined];
	return new NotSent(
		`Call ${callId} was reported as completed but could not be read back, so the workflow was not started for it`,
		`${what}. ${todo} Then read this call with Get Call.`,
		said,
	);
}
