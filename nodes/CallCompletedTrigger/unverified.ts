import chunk from 'lodash/chunk';
import partition from 'lodash/partition';
import uniq from 'lodash/uniq';
import { asSentence, ExplainedError, NotSent, OutcomeUnknown } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/resolution';
import { PICKED } from '../shared/calls/callEnd';
import { FormerOutcome, NotEndedYet } from '../shared/calls/readBack';
import { MAX_NAMED, named, quoted } from '../shared/values';
import { MAX_UNKNOWN_AT_ONCE } from './readBudget';

/** A reported call, and the error that kept it from being verified. */
export type Unverified = { callId: string; error: unknown };

/** Messages of one kind per batch, because anyone may report calls that were never placed. */
const MAX_MESSAGES = 10;

/** The messages to the workflow's owner about a batch of calls that couldn't be verified. */
export function unverifiedMessages(calls: readonly Unverified[]): ExplainedError[] {
	const [withoutEnd, others] = partition(calls, ({ error }) => error instanceof NotEndedYet);
	const [unchanged, notRead] = partition(others, ({ error }) => error instanceof FormerOutcome);
	return [
		...toMessages(withoutEnd).map(showsNoEnd),
		...toMessages(unchanged).map(showsFormerOutcome),
		...toMessages(notRead).map(couldNotBeRead),
	];
}

/** Splits calls into messages. The last one has the rest. */
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
			? `Call ${idsOf(calls)} was reported as completed, but its record doesn't show an end yet, so the workflow wasn't started`
			: `${calls.length} calls were reported as completed, but their records don't show an end yet, so the workflow wasn't started for them`,
		onScreenOnly([next, ...finalStatuses(calls)].join(' ')),
	);
}

/** The advice for calls with other statuses. The status `picked` alone never shows an end. */
function finalStatuses(calls: readonly Unverified[]): string[] {
	const shown = calls.flatMap(({ error }) => (error instanceof NotEndedYet ? error.status : []));
	const others = uniq(shown.filter((status) => typeof status === 'string' && status !== PICKED));
	if (others.length === 0) return [];
	const which =
		others.length === 1
			? `If the status ${named(others, quoted)} means that a call has ended, add it`
			: `Of the statuses ${named(others, quoted)}, add those that mean that a call has ended`;
	return [`${which} to 'Finished Statuses' in the options of the trigger.`];
}

function showsFormerOutcome(calls: readonly Unverified[]): ExplainedError {
	const isOne = calls.length === 1;
	const next = isOne
		? 'Read it with Get Call. If its record never shows the reported outcome, the report is old, wrong, or forged.'
		: `Read them with Get Call: ${idsOf(calls)}. If a record never shows the reported outcome, the report is old, wrong, or forged.`;
	return new OutcomeUnknown(
		isOne
			? `Call ${idsOf(calls)} was reported with another outcome than its record shows, so the workflow wasn't started for the reported one`
			: `${calls.length} calls were reported with other outcomes than their records show, so the workflow wasn't started for the reported ones`,
		onScreenOnly(next),
	);
}

function couldNotBeRead(calls: readonly Unverified[]): ExplainedError {
	const isOne = calls.length === 1;
	const error = calls[0]?.error;
	const [message, resolution, originalMessage] =
		error instanceof ExplainedError
			? [error.message, error.resolution, error.originalMessage]
			: [error instanceof Error ? error.message : String(error)];
	const then = isOne
		? 'When this is fixed, read the call with Get Call'
		: `When this is fixed, read the calls with Get Call: ${idsOf(calls)}`;
	return new NotSent(
		isOne
			? `Call ${idsOf(calls)} was reported as completed, but couldn't be read, so the workflow wasn't started`
			: `${calls.length} calls were reported as completed, but couldn't be read, so the workflow wasn't started for them`,
		onScreenOnly(
			[message, resolution, then]
				.filter((text) => text !== undefined)
				.map(asSentence)
				.join(' '),
		),
		originalMessage,
	);
}

/** The message about calls that were being verified when the trigger closed. */
export function notFinished(callIds: readonly string[]): ExplainedError {
	const which =
		callIds.length === 1 ? 'A completed call was' : `${callIds.length} completed calls were`;
	return new OutcomeUnknown(
		`${which} still being verified when the trigger was stopped, so the workflow wasn't started`,
		onScreenOnly(`Read them with Get Call: ${named(callIds, String)}.`),
	);
}

const MADE_UP =
	'Someone may be sending forged requests to the URL of this trigger. To get another URL, replace the trigger with a new one and use its URL in Place Call.';

/** The message about requests that had to wait, because too many others had unknown calls. */
export function overBudget(count: number): ExplainedError {
	return new NotSent(
		`${counted(count, 'notification')} of completed calls had to wait, because many reported calls don't exist or can't be read`,
		onScreenOnly(
			`After the first ${MAX_UNKNOWN_AT_ONCE} such calls, the trigger reads one per second. Calls that this n8n has placed or read don't wait. ${MADE_UP}`,
		),
	);
}

/** The message about requests that were rejected, because too many others were waiting. */
export function rejected(count: number, max: number): ExplainedError {
	return new OutcomeUnknown(
		`${counted(count, 'notification')} of completed calls ${count === 1 ? 'was' : 'were'} rejected, because ${max.toLocaleString('en-US')} others were waiting`,
		onScreenOnly(
			`The sender was asked to try again later. If it doesn't, read the calls with Get Call > Get Many. ${MADE_UP}`,
		),
	);
}

function counted(count: number, noun: string): string {
	return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

function idsOf(calls: readonly Unverified[]): string {
	return named(calls, ({ callId }) => callId);
}
