import compact from 'lodash/compact';
import range from 'lodash/range';
import type { INodeExecutionData } from 'n8n-workflow';
import { Batches } from '../../core/claims/batches';
import { maybeSentBefore } from '../../core/claims/claims';
import {
	type Deliveries,
	type Job,
	type JobOutcome,
	LeftOut,
	outcomeByError,
} from '../../core/claims/deliveries';
import { explained, type ExplainedError } from '../../core/service/errors';
import { hashOf } from '../../core/values/hash';
import { isJsonObject } from '../../core/values/json';
import { noLimit } from '../../core/values/keyedMutex';
import { itemId, mayHaveSent, openDeliveries } from '../claims/openDeliveries';
import { type PreparedRequest, repeatKeyOf } from '../claims/preparedRequest';
import { deliverForModel } from '../claims/toolRequests';
import { isCanceled, requireRunning } from '../execution/cancel';
import { runIndexOf } from '../nodeRun';
import { asItems, forEachItem, type ItemLoopOptions, rowsAt, tryEach } from './itemLoop';
import type { OperationRun } from './operations';

const HANDLE_OTHERS =
	"To handle the other items anyway, set 'On Error' in 'Settings' to 'Continue'.";
const SEND_OTHERS =
	"To send the items that weren't sent, set 'On Error' in 'Settings' to 'Continue', save the workflow, and choose 'Retry with currently saved workflow' for this execution in the list of executions. It doesn't send completed and unknown items again. A new execution does.";

type DeliveryOptions = Pick<ItemLoopOptions, 'concurrency'> & {
	/** Reserves what these items need besides, such as a call of a limit. They are sent next. */
	reserve?: (indexes: number[]) => Promise<void>;
};

/**
 * Sends the request of each item once, and returns its output, also of an earlier attempt.
 *
 * All requests are prepared and checked first. Unless the node continues on errors, none is sent if one of them can't be.
 */
export async function deliverEachItem(
	run: OperationRun,
	prepare: (index: number) => PreparedRequest,
	{ concurrency = 1, reserve = async () => {} }: DeliveryOptions = {},
): Promise<INodeExecutionData[]> {
	const { context, caller, account } = run;
	const deliveries = openDeliveries(run);
	const isModel = caller.kind === 'model';
	const rows = context.getInputData();
	const indexes = range(rows.length);
	const requests = new Map<number, PreparedRequest>();
	const jobs = new Map<number, Job>();
	/** Those that may be sent. */
	const sendable = new Map<number, Job>();
	const firstItems = new Map<string, number>();
	// If n8n can't tell, no item can be claimed either.
	const isFirst = await deliveries.isFirst().catch(() => true);
	const invalid = await tryEach(indexes, (index) => {
		const request = prepare(index);
		requests.set(index, request);
		if (isModel) return;
		const job = jobOf(itemId(context, index), request, isFirst);
		jobs.set(index, job);
		request.instead ??= whyNotAgain(deliveries, job, request, firstItems.get(job.who));
		if (request.instead === undefined) firstItems.set(job.who, index);
		// An earlier attempt may have sent what this one leaves out.
		if (request.instead === undefined || !isFirst) sendable.set(index, job);
	});
	const mayHaveBegun = !isModel && invalid.size > 0 && (await mayHaveSent(run));

	const requestOf = (index: number): PreparedRequest => {
		const request = requests.get(index);
		if (request !== undefined) return request;
		// It can't be read now, although an earlier attempt may have sent it.
		const error = invalid.get(index);
		throw mayHaveBegun ? maybeSentBefore(explained(error)) : error;
	};
	const isSettled = (index: number): boolean => {
		const job = jobs.get(index);
		return job !== undefined && deliveries.isSettled(job);
	};
	const earlierOutput = (index: number): INodeExecutionData[] | undefined => {
		const job = jobs.get(index);
		const outcome = job && deliveries.known(job);
		if (outcome === undefined) return undefined;
		const output = outputOf(outcome);
		return requestOf(index).formatOutput?.(output) ?? output;
	};
	const check = (index: number): void => {
		const request = requestOf(index);
		// An item that isn't sent again stops the node before the first request.
		if (isSettled(index)) earlierOutput(index);
		else if (!isModel) request.check?.();
	};
	const isSent = (index: number) => firstItems.get(jobs.get(index)?.who ?? '') === index;
	const reserveSent = async (claimed: number[]) => await reserve(claimed.filter(isSent));
	const batches = new Batches(deliveries, indexes.length, sendable, reserveSent);
	// What an earlier attempt may have sent in its first batch stops the node before its first request.
	if (!isFirst && !isModel) await batches.lookUp();
	const deliver = async (
		job: Job,
		{ queue = noLimit, instead, send }: PreparedRequest,
		claim: () => Promise<void>,
	) =>
		// Within the queue, so that an earlier failure also stops the later items of its chat session.
		await queue(async () => {
			const known = deliveries.isSettled(job) ? deliveries.known(job) : undefined;
			if (known !== undefined) return outputOf(known);
			await claim();
			const deps = { context, caller, account: await account() };
			// The execution may have ended while this request waited for an earlier one.
			requireRunning(run);
			const outcome = await deliveries.deliver(job, async () => {
				try {
					if (instead !== undefined) throw instead;
					const output = await send(deps);
					return { kind: 'done', result: output.map(({ json }) => json).filter(isJsonObject) };
				} catch (error) {
					return outcomeByError(error);
				}
			});
			return outputOf(outcome);
		});
	const leftOut = new Set<number>();
	let hasBegun = runIndexOf(context) > 0 || indexes.some(isSettled);
	const task = async (index: number): Promise<INodeExecutionData[]> => {
		hasBegun = true;
		const request = requestOf(index);
		requests.delete(index);
		const job = jobs.get(index);
		const delivered =
			job === undefined
				? deliverForModel(run, deliveries, request, deliver)
				: deliver(job, request, async () => await batches.claim(index)).finally(
						async () => await batches.end(index),
					);
		const output = await delivered.catch((error: unknown) => {
			// The result for a model explains why nothing was sent.
			if (isModel || !(error instanceof LeftOut)) throw error;
			leftOut.add(index);
			return asItems(error.output);
		});
		return request.formatOutput?.(output) ?? output;
	};
	// Lists what was completed, so that nothing is sent twice in a new execution.
	const stopText = (completed: number[], when: string): string => {
		if (!hasBegun) return indexes.length > 1 ? HANDLE_OTHERS : '';
		if (indexes.length < 2 && runIndexOf(context) === 0) return '';
		const sent = completed.filter((index) => !leftOut.has(index));
		const list = sent.length > 0 && `Completed ${when}: ${rowsAt(sent, rows)}.`;
		return compact([list, SEND_OTHERS]).join(' ');
	};
	const options = { concurrency, check, earlierOutput, stopText };
	return await forEachItem(run, task, options).finally(async () => {
		const freed = deliveries.free([...sendable.values()]);
		// n8n stores a canceled execution as it is a moment later, so its error can't wait for n8n's database.
		if (!isCanceled(context)) await freed;
	});
}

/**
 * The job of an item. With an edited text, it's still the same request. A check is claimed in a retry, because what an earlier
 * attempt may have sent isn't possible any more.
 */
function jobOf(id: string, request: PreparedRequest, isFirst: boolean): Job {
	const { once, target, payload, withDetails, isOnlyChecked = false } = request;
	const isOnce = once !== undefined && !(isOnlyChecked && isFirst);
	const job = { id, isOnce, repeatKey: repeatKeyOf(request), withDetails };
	if (typeof once === 'object') return { ...job, who: once.person };
	return { ...job, who: `${id} ${hashOf(target ?? payload)}` };
}

/** @param first the index of the first item with the same person */
function whyNotAgain(
	deliveries: Deliveries,
	job: Job,
	{ once }: PreparedRequest,
	first: number | undefined,
): ExplainedError | undefined {
	if (typeof once !== 'object' || deliveries.isSettled(job)) return undefined;
	if (first !== undefined) return once.again({ item: first, isUnknown: false });
	const other = deliveries.ofOther(job);
	return other && once.again({ item: null, ...other });
}

/** @throws the error of a job that isn't done */
function outputOf(outcome: JobOutcome): INodeExecutionData[] {
	if (outcome.kind !== 'done') throw outcome.error;
	return asItems(outcome.result);
}
