import type { INodeExecutionData } from 'n8n-workflow';
import type { Deliveries, Job } from '../../core/claims/deliveries';
import { NotSent } from '../../core/service/errors';
import { hashOf } from '../../core/values/hash';
import { isJsonObject, numberIn } from '../../core/values/json';
import { runExclusive } from '../../core/values/keyedMutex';
import { agentRunOf, approvedRequest } from '../caller/rows';
import { openMemory } from '../claims/executionMemory';
import type { OperationRun } from './operations';
import { jobOf, type PreparedRequest } from './preparedRequest';

/**
 * Sends the request of a model. A person is called once in the execution or MCP session, and the same request again gets the
 * same result, also if it comes before that. A message may be sent again once it was delivered, as customers say "yes" twice.
 *
 * @param deliver sends the job, or returns its earlier result
 */
export async function deliverForModel(
	run: OperationRun,
	deliveries: Deliveries,
	request: PreparedRequest,
	deliver: (job: Job) => Promise<INodeExecutionData[]>,
): Promise<INodeExecutionData[]> {
	const { context, caller, result } = run;
	const { payload, target, once, isOnlyChecked = false, happened, nextStep } = request;
	const { mcpSession } = caller;
	const id = hashOf([agentRunOf(context), payload]);
	const isPerson = typeof once === 'object';
	// *Retry* starts from zero.
	const within = context.getExecutionId();
	const delivered = openMemory(run, `delivered in ${within}`, isJsonObject, {});
	const approvedId = approvedRequest(context);
	const approval = approvedId && hashOf([approvedId, payload]);
	const countNow = () => numberIn(delivered[id]) ?? 0;
	// Before it waits, so that a request that comes again while it's in flight is the same one.
	const countBefore = countNow();
	// Requests that can undo each other wait for each other.
	const meant = isPerson ? once.person : once === 'item' ? id : (target ?? id);
	// Without a session, the same request isn't recognized.
	const lock = mcpSession === '' ? {} : hashOf([mcpSession ?? within, meant]);
	return await runExclusive(lock, async () => {
		const count = once === undefined ? countNow() : countBefore;
		// Without an execution, nothing shows whether a message was delivered before.
		const isOnce = isPerson || (once === 'item' && mcpSession === undefined);
		const job = jobOf(request, { id, who: `${id} ${count}`, isClaimed: isOnce && !isOnlyChecked });
		const isReplay = deliveries.known(job)?.kind === 'done';
		if (approval !== undefined && approval in delivered) throw repeatedByN8n();
		const output = await deliver(job);
		if (approval !== undefined) delivered[approval] = 1;
		delivered[id] = count + 1;
		result.completed = {
			...{ output, isReplay, repeatable: !isPerson },
			happened: happened(output),
			nextStep: nextStep?.(output),
		};
		return output;
	});
}

function repeatedByN8n(): NotSent {
	return new NotSent(
		"n8n repeats an approved request for each row of the agent's input. This one was done once, and not again",
		'Ignore this result, unless it is about your own request. Do not repeat the request.',
		{ isTransient: false, isFinal: true },
	);
}
