import chunk from 'lodash/chunk';
import uniq from 'lodash/uniq';
import { asSentence, ExplainedError, NotSent, OutcomeUnknown } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/modelAdvice';
import { PICKED } from '../shared/calls/callEnd';
import { NotEndedYet } from '../shared/calls/readBack';
import { MAX_NAMED, named, quoted } from '../shared/values';
import { MAX_UNKNOWN_AT_ONCE } from './readBudget';

/** A call that was reported as completed, and why it could not be verified. */
export type Unverified = { callId: string; error: unknown };

/** Messages of one kind at one time: anyone may report calls that were never placed. */
const MAX_MESSAGES = 10;

/** What the workflow's owner is told of calls that could not be verified at about the same time. */
export function notVerified(calls: readonly Unverified[]): ExplainedError[] {
	const withoutEnd = calls.filter(({ error }) => error instanceof NotEndedYet);
	const notRead = calls.filter(({ error }) => !(error instanceof NotEndedYet));
	return [...toMessages(withoutEnd).map(showsNoEnd), ...toMessages(notRead).map(couldNotBeRead)];
}

/** The last message counts what has no place in the others. */
function toMessages(calls: readonly Unverified[]): Unverified[][] {
	const parts = chunk(calls, MAX_NAMED);
	const rest = parts.splice(MAX_MESSAGES - 1).flat();
	return rest.length === 0 ? parts : [...parts, rest];
}

function showsNoEnd(calls: readonly Unverified[]): ExplainedError {
	const isOne = calls.length === 1;
	const next = isOne
		? 'If the call is still in progress, the workflow starts when its end is reported. If it has ended, read it with Get Call.'
		: `For calls that are still in progress, the workflow starts when their end is reported. Read the others with Get Call: ${idsOf(calls)}.`;
	return new OutcomeUnknown(
		isOne
			? `Call ${idsOf(calls)} was reported as completed but shows no end, so the workflow was not started for it`
			: `${calls.length} calls were reported as completed but show no end, so the workflow was not started for them`,
		onScreenOnly([next, ...finalStatuses(calls)].join(' ')),
	);
}

/** What to do if calls have ended with a status of the account's own. `picked` alone never is an end. */
function finalStatuses(calls: readonly Unverified[]): string[] {
	const shown = calls.flatMap(({ error }) => (error instanceof NotEndedYet ? error.status : []));
	const own = uniq(shown.filter((status) => typeof status === 'string' && status !== PICKED));
	if (own.length === 0) return [];
	const which =
		own.length === 1
			? `If the status ${named(own, quoted)} means that a call has ended, add it`
			: `Of the statuses ${named(own, quoted)}, add those that mean that a call has ended`;
	return [`${which} to 'Finished Statuses' in the options of the trigger.`];
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
		onScreenOnly(
			[what, resolution, then]
				.filter((text) => text !== undefined)
				.map(asSentence)
				.join(' '),
		),
		originalMessage,
	);
}

/** The same for calls that were being verified when the trigger was closed. */
export function notFinished(callIds: readonly string[]): ExplainedError {
	const which =
		callIds.length === 1 ? 'A completed call was' : `${callIds.length} completed calls were`;
	return new OutcomeUnknown(
		`${which} still being verified when the trigger was stopped, so the workflow was not started`,
		onScreenOnly(`Read them with Get Call: ${named(callIds, String)}.`),
	);
}

const MADE_UP =
	'Someone may be sending made-up reports to the URL of this trigger. To get another URL, replace the trigger with a new one and use its URL in Place Call.';

/** Reports that have to wait, because too many others are about calls that the service does not know. */
export function overBudget(reports: number): ExplainedError {
	return new NotSent(
		`${counted(reports, 'report')} of completed calls had to wait, because many reported calls are unknown to the service or can't be read`,
		onScreenOnly(
			`After the first ${MAX_UNKNOWN_AT_ONCE} such calls, one a second is looked up. Calls that this n8n has placed or read don't wait. ${MADE_UP}`,
		),
	);
}

/** Reports for which there was no room. */
export function rejected(reports: number, room: number): ExplainedError {
	return new OutcomeUnknown(
		`${counted(reports, 'report')} of completed calls were rejected, because ${room.toLocaleString('en-US')} others were waiting`,
		onScreenOnly(
			`The sender was asked to try again later. If it doesn't, read the calls with Get Call › Get Many. ${MADE_UP}`,
		),
	);
}

function counted(count: number, what: string): string {
	return `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`;
}

function idsOf(calls: readonly Unverified[]): string {
	return named(calls, ({ callId }) => callId);
}
