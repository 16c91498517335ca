import type { INodeExecutionData } from 'n8n-workflow';
import type { Deliveries, Job } from '../../core/claims/deliveries';
import { ExplainedError, NotSent } from '../../core/service/errors';
import { hashOf } from '../../core/values/hash';
import { isJsonObject, numberIn } from '../../core/values/json';
import { runExclusive } from '../../core/values/keyedMutex';
import { type CallerRun, USER } from '../caller/caller';
import { agentRunOf, approvedRequest } from '../caller/rows';
import type { RunResult } from '../execution/runResult';
import { openMemory } from './executionMemory';
import { openClaims } from './openClaims';
import { type PreparedRequest, type Quota, repeatKeyOf } from './preparedRequest';

/**
 * Sends the request of a model. A person is called once in the execution or MCP session, and the same request again gets the
 * same result, also if it comes before that. A message may be sent again once it was delivered, as customers say "yes" twice.
 *
 * @param deliver sends the job, or returns its earlier result
 */
export async function deliverForModel(
	run: CallerRun & { result: RunResult },
	deliveries: Deliveries,
	request: PreparedRequest,
	deliver: (
		job: Job,
		request: PreparedRequest,
		claim: () => Promise<void>,
	) => Promise<INodeExecutionData[]>,
): Promise<INodeExecutionData[]> {
	const { context, caller, result } = run;
	const { payload, target, once, quota, happened, nextStep, withDetails } = request;
	const { mcpSession } = caller;
	const toolRequest = hashOf([agentRunOf(context), payload]);
	const isPerson = typeof once === 'object';
	// *Retry* starts from zero.
	const within = context.getExecutionId();
	const delivered = openMemory(run, `delivered in ${within}`, isJsonObject, {});
	const approvedId = approvedRequest(context);
	const approval = approvedId && hashOf([approvedId, payload]);
	const countNow = () => numberIn(delivered[toolRequest]) ?? 0;
	// Before it waits, so that a request that comes again while it's in flight is the same one.
	const countBefore = countNow();
	// Requests that can undo each other wait for each other.
	const meant = isPerson ? once.person : once === 'item' ? toolRequest : (target ?? toolRequest);
	// Without a session, the same request isn't recognized.
	const lock = mcpSession === '' ? {} : hashOf([mcpSession ?? within, meant]);
	return await runExclusive(lock, async () => {
		const count = once === undefined ? countNow() : countBefore;
		const job: Job = {
			...{ repeatKey: repeatKeyOf(request), withDetails },
			who: isPerson ? once.person : `${toolRequest} ${count}`,
			id: toolRequest,
			// Without an execution, nothing shows whether a message was delivered before.
			isOnce:
				request.isOnlyChecked !== true &&
				(isPerson || (once === 'item' && mcpSession === undefined)),
		};
		// The record of another request for the person says more than the claim.
		const other = isPerson ? deliveries.ofOther(job) : undefined;
		let giveBack = async () => {};
		const claim = async () => {
			if (other !== undefined) return;
			const toSend = await deliveries.claim([job]);
			if (quota !== undefined && toSend.length > 0) giveBack = await takeOfQuota(run, quota);
		};
		const isReplay = deliveries.known(job)?.kind === 'done';
		if (approval !== undefined && approval in delivered) throw repeatedByN8n();
		const instead =
			request.instead ?? (isPerson && other ? once.again({ item: null, ...other }) : undefined);
		const output = await deliver(job, { ...request, instead }, claim)
			.catch(async (error: unknown) => {
				if (error instanceof ExplainedError && error.outcome !== 'unknown') await giveBack();
				throw error;
			})
			.finally(async () => await deliveries.free([job]));
		if (approval !== undefined) delivered[approval] = 1;
		delivered[toolRequest] = count + 1;
		result.completed = {
			...{ output, isReplay, repeatable: !isPerson },
			happened: happened(output),
			nextStep: nextStep?.(output),
		};
		return output;
	});
}

/**
 * Takes one of the requests that a model may ask for, for one row in one agent run, or in one MCP session.
 *
 * @returns gives it back
 * @throws NotSent if none is left
 */
async function takeOfQuota(run: CallerRun, { unit, max }: Quota): Promise<() => Promise<void>> {
	const claims = await openClaims(run);
	const agentRun = agentRunOf(run.context);
	for (let nth = 0; nth < max; nth++) {
		const name = `${unit} ${nth} of ${agentRun}`;
		if ((await claims.add([name])).size > 0) return async () => await claims.remove([name]);
	}
	throw new NotSent(
		`Nothing was sent, because this run has used its limit of ${max} ${unit}${max === 1 ? '' : 's'}`,
		`Do not ask for another ${unit} now. Tell ${USER} what was done and what remains to be done.`,
		{ isFinal: true, isTransient: false },
	);
}

function repeatedByN8n(): NotSent {
	return new NotSent(
		"n8n repeats an approved request for each row of the agent's input. This one was done once, and not again",
		'Ignore this result, unless it is about your own request. Do not repeat the request.',
		{ isTransient: false, isFinal: true },
	);
}
