import { asSentence, ExplainedError, OutcomeUnknown } from '../../shared/api/errors';
import { onScreenOnly } from '../../shared/api/resolution';
import type { ApiMapping, MappingName } from '../../shared/apiMapping';
import { requiredForList } from '../../shared/calls/readCallList';
import { isUnknownCall } from '../../shared/calls/readBack';
import type { JsonObject } from '../../shared/json';
import { plainText } from '../../shared/values';
import { MAX_OUTCOMES } from './readState';

const NEXT_READING = 'The next reading tries again, and no call is lost.';

const NEXT_FIRST_READING =
	"The next reading tries again. Calls that were created before publishing and end before it succeeds don't start the workflow.";

export const PUBLISH_LATER =
	"Publish the workflow again while fewer calls are placed, or set 'Start From'.";

/** A failure whose text is already about the reading. */
class ReadingFault extends OutcomeUnknown {}

/** The list was read, except entries without an ID. */
export class EntriesSkipped extends ReadingFault {}

/** The fields of the API mapping that a reading needs. */
export function requiredForReading(apiMapping: ApiMapping): MappingName[] {
	return requiredForList({ limit: Infinity, pageSize: undefined }, apiMapping);
}

/**
 * The message about a reading that failed.
 *
 * @param isFirst whether no reading has succeeded yet
 */
export function readingFailed(error: unknown, isFirst: boolean): ExplainedError {
	if (error instanceof ReadingFault) return error;
	const [message, resolution, original] = textOf(error);
	return new ReadingFault(
		`The calls couldn't be read: ${message}`,
		onScreenOnly(`${resolution} ${isFirst ? NEXT_FIRST_READING : NEXT_READING}`.trim()),
		original,
	);
}

/** The message about calls of the list whose records couldn't be read. */
export function callsNotRead(failures: readonly unknown[]): ExplainedError {
	// A call without a record says less than a failure of the service.
	const first = failures.find((error) => !isUnknownCall(error)) ?? failures[0];
	const [message, resolution, original] = textOf(first);
	const { length } = failures;
	return new ReadingFault(
		`${length === 1 ? '1 call of the call list' : `${length} calls of the call list`} couldn't be read, so the workflow wasn't started yet`,
		onScreenOnly([asSentence(message), resolution, NEXT_READING].join(' ')),
		original,
	);
}

/** The message about an outcome for which n8n couldn't start the workflow. */
export function notStarted({ call_id: callId }: JsonObject): ExplainedError {
	return new ReadingFault(
		`n8n couldn't start the workflow for call ${plainText(callId)}`,
		onScreenOnly(`The reason is in n8n's log. ${NEXT_READING}`),
	);
}

/** The message about entries without an ID in a list that has other calls. */
export function entriesSkipped(count: number): EntriesSkipped {
	return new EntriesSkipped(
		'Entries of the call list without a call_id were skipped',
		onScreenOnly(
			`${count === 1 ? '1 entry has' : `${count} entries have`} no call_id. The other calls start the workflow. If the service adds an ID later, the next reading finds the call. Otherwise, ask your service provider.`,
		),
	);
}

/**
 * The message about a list of which no entry has an ID.
 *
 * @param count of its entries
 */
export function noCallId(count: number, apiMapping: ApiMapping): ExplainedError {
	return new ReadingFault(
		`${count === 1 ? '1 entry' : `${count} entries`} of the call list ${count === 1 ? 'has' : 'have'} no call_id`,
		onScreenOnly(apiMapping.resolution('callListPath', 'callListItemPath')),
	);
}

export function tooManyOutcomes(): ExplainedError {
	return new ReadingFault(
		`The trigger can't remember more than ${MAX_OUTCOMES.toLocaleString('en-US')} completed calls, so it doesn't read more of them`,
		onScreenOnly(
			"Choose a campaign or contact lists in 'Calls Of'. The trigger forgets the calls of a contact list when its campaign shows that it's completed.",
		),
	);
}

function textOf(error: unknown): [message: string, resolution: string, original?: string] {
	if (error instanceof ExplainedError) {
		const { message, resolution, originalMessage } = error;
		return originalMessage === undefined
			? [message, resolution]
			: [message, resolution, originalMessage];
	}
	return [error instanceof Error ? error.message : String(error), ''];
}
