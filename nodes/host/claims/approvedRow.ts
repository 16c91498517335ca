import { NotSent } from '../../core/service/errors';
import type { JsonObject } from '../../core/values/json';
import { keyOf } from '../caller/agent';
import type { CallerRun } from '../caller/caller';
import { addHintsForPerson } from '../execution/runResult';
import { openValues } from './executionMemory';

/**
 * n8n runs an approved tool once for each row of the agent's input, with the fields of that row. So the human review of
 * this package notes for which row it asks, and the tool does nothing for the others.
 */
export function rememberReviewedRow(run: CallerRun): void {
	const { agent } = run.caller;
	const callId = agent?.toolCallId;
	const key = agent?.row.key;
	if (key === undefined || callId === undefined) return;
	const rows = reviewedRows(run);
	// Some models give the requests of several rows the same ID.
	rows[callId] = callId in rows && rows[callId] !== key ? null : key;
}

/**
 * Settles which row asks for a tool behind a human review. After the review of another package, any row may.
 *
 * @throws NotSent if the person approved the request for another row
 */
export function requireApprovedRow(run: CallerRun): void {
	const { agent } = run.caller;
	if (agent === undefined || agent.row.which === 'only' || !agent.isReviewed) return;
	const { rows, possible } = agent.row;
	const key = reviewedRows(run)[agent.toolCallId ?? ''];
	if (typeof key !== 'string') {
		agent.setPossibleRows(rows);
		return;
	}
	const approved = possible.filter((row) => keyOf(row) === key);
	if (approved.length === 0) {
		const error = approvedForAnother();
		addHintsForPerson(run.context, error.explanation);
		throw error;
	}
	agent.setPossibleRows(approved);
}

/** The keys of the rows, by the ID of the tool request. Null if several rows have it. */
function reviewedRows(run: CallerRun): JsonObject {
	return openValues(run, 'reviewed rows', 'agentRun');
}

function approvedForAnother(): NotSent {
	return new NotSent(
		"A person approved this request for another row of the agent's input. Nothing was sent for this row",
		{
			onScreen:
				'n8n runs an approved tool for each row, and only the run for the approved row counts. If no call or message follows for an approved row, set the batch size of the AI Agent node to 1.',
			forModel:
				'Ignore this result, and do not repeat this request. If there is no other result for your own request, it was not approved.',
		},
		{ isTransient: false, isFinal: true },
	);
}
