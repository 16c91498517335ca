import chunk from 'lodash/chunk';
import { asSentence, ExplainedError, NotSent, OutcomeUnknown } from '../shared/api/errors';
import { ShowsNoEnd } from '../shared/calls/readBack';
import { MOST_NAMED, named } from '../shared/values';

/** A call that was reported as completed, and why it could not be verified. */
export type Unverified = { callId: string; error: unknown };

/** Messages of one kind at one time: anyone may report calls that were never placed. */
const MOST_MESSAGES = 10;

/** What the workflow's owner is told of calls that could not be verified at about the same time. */
export function notVerified(calls: readonly Unverified[]): ExplainedError[] {
	const withoutEnd = calls.filter(({ error }) => error instanceof ShowsNoEnd);
	const notRead = calls.filter(({ error }) => !(error instanceof ShowsNoEnd));
	return [...toMessages(withoutEnd).map(showsNoEnd), ...toMessages(notRead).map(couldNotBeRead)];
}

/** The last message counts what has no place in the others. */
function toMessages(calls: readonly Unverified[]): Unverified[][] {
	const parts = chunk(calls, MOST_NAMED);
	const rest = parts.splice(MOST_MESSAGES - 1).flat();
	return rest.length === 0 ? parts : [...parts, rest];
}

function showsNoEnd(calls: readonly Unverified[]): ExplainedError {
	const isOne = calls.length === 1;
	return new OutcomeUnknown(
		isOne
			? `Call ${idsOf(calls)} was reported as completed but shows no end, so the workflow was not started for it`
			: `${calls.length} calls were reported as completed but show no end, so the workflow was not started for them`,
		isOne
			? 'If it goes on, the workflow starts when its end is reported. If it is over, read it with Get Call, and add its status to Finished Statuses among the options of the trigger.'
			: `For those that go on, the workflow starts when their end is reported. Read the others with Get Call, and add their statuses to Finished Statuses among the options of the trigger: ${idsOf(calls)}.`,
	);
}

function couldNotBeRead(calls: readonly Unverified[]): ExplainedError {
	const isOne = calls.length === 1;
	const error = calls[0]?.error;
	const [what, resolution, originalMessage] =
		error instanceof ExplainedError
			? [error.message, error.resolution, error.originalMessage]
			: [error instanceof Error ? error.message : String(error)];
	const then = isOne
		? 'Once that is put right, read this call with Get Call'
		: `Once that is put right, read these calls with Get Call: ${idsOf(calls)}`;
	return new NotSent(
		isOne
			? `Call ${idsOf(calls)} was reported as completed but could not be read back, so the workflow was not started for it`
			: `${calls.length} calls were reported as completed but could not be read back, so the workflow was not started for them`,
		[what, resolution, then]
			.filter((text) => text !== undefined)
			.map(asSentence)
			.join(' '),
		originalMessage,
	);
}

/** The same for calls that were being verified when the trigger was closed. */
export function notFinished(callIds: readonly string[]): ExplainedError {
	const which =
		callIds.length === 1 ? 'A completed call was' : `${callIds.length} completed calls were`;
	return new OutcomeUnknown(
		`${which} still being verified when the trigger was stopped, so the workflow was not started`,
		`Read them with Get Call: ${named(callIds, String)}.`,
	);
}

function idsOf(calls: readonly Unverified[]): string {
	return named(calls, ({ callId }) => callId);
}
