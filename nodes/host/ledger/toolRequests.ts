import type { INodeExecutionData } from 'n8n-workflow';
import type { Job, Ledger } from '../../core/ledger/ledger';
import { NotSent } from '../../core/service/errors';
import { hashOf } from '../../core/values/hash';
import { type JsonObject, numberIn } from '../../core/values/json';
import { runExclusive } from '../../core/values/keyedMutex';
import { openValues } from './executionMemory';
import type { CallerRun } from '../caller/caller';
import type { RunResult } from '../execution/runResult';
import type { PreparedRequest } from './preparedRequest';

/**
 * Sends the request of a model once in one agent run or MCP session. The same request again gets the same result, also if it
 * comes before that. Different ones to the same target are sent one after another, if they can undo each other.
 *
 * @param deliver sends the job, or returns its earlier result
 */
export async function deliverForModel(
	run: CallerRun & { result: RunResult },
	ledger: Ledger<JsonObject[]>,
	request: PreparedRequest,
	deliver: (job: Job, request: PreparedRequest) => Promise<INodeExecutionData[]>,
): Promise<INodeExecutionData[]> {
	const { context, caller, result } = run;
	const { payload, target, modelMayRepeat, happened, nextStep } = request;
	const { idempotencyKey, quota, withDetails } = request;
	const accounts = Object.values(context.getNode().credentials ?? {}).map(({ id }) => id);
	const toolRequest = hashOf([accounts, payload]);
	const name = modelMayRepeat === 'afterOtherRequest' ? hashOf([accounts, target]) : toolRequest;
	const repeatable = modelMayRepeat === 'afterCompletion';
	// Stored, because an execution that waits for a human review may resume in another process. *Retry* starts from zero. In
	// queue mode, each request of an MCP session has its own execution ID.
	const within = caller.mcpSession === undefined ? context.getExecutionId() : 'session';
	const completedCounts: JsonObject = repeatable ? openValues(run, `completed in ${within}`) : {};
	const { agent, recognizesRepeats } = caller;
	const isReviewed = agent?.isReviewed === true;
	// n8n repeats a request that a person approved for each row of the agent's input.
	const approved: JsonObject = isReviewed ? openValues(run, `approved in ${within}`) : {};
	const approval = hashOf([agent?.toolCallId, toolRequest]);
	// Before it waits, so that a request that comes again while it's in flight is the same one.
	const occurrence = numberIn(completedCounts[toolRequest]) ?? 0;
	const key = `${name}#${occurrence}`;
	const owner = { tool_request: toolRequest };
	const job: Job = { key, target, owner, idempotencyKey, quota, withDetails };
	const asking = [caller.mcpSession ?? within, agent?.run, agent?.row.key];
	// Without a session, the next request is another one, and waits for none.
	const lock = recognizesRepeats ? hashOf([...asking, name]) : {};
	return await runExclusive(lock, async () => {
		const isReplay = ledger.known(job)?.kind === 'done';
		if (approval in approved) throw repeatedByN8n();
		const output = await deliver(job, request);
		approved[approval] = true;
		completedCounts[toolRequest] = occurrence + 1;
		result.setCompleted({
			...{ output, isReplay, repeatable },
			happened: happened(output),
			nextStep: nextStep?.(output, recognizesRepeats),
		});
		return output;
	});
}

function repeatedByN8n(): NotSent {
	return new NotSent(
		"n8n repeats an approved request for each row of the agent's input. This one was done once, and not again",
		{
			onScreen: '',
			forModel:
				'Ignore this result, unless it is about your own request. Do not repeat the request.',
		},
		{ isTransient: false, isFinal: true },
	);
}
