import compact from 'lodash/compact';
import range from 'lodash/range';
import type { INodeExecutionData } from 'n8n-workflow';
import { maybeSentBefore } from '../../core/claims/claims';
import { type Job, type JobOutcome, LeftOut, outcomeByError } from '../../core/claims/deliveries';
import { explained, InvalidInput } from '../../core/service/errors';
import { hashOf } from '../../core/values/hash';
import { isJsonObject } from '../../core/values/json';
import { noLimit } from '../../core/values/keyedMutex';
import { itemId, mayHaveSent, openDeliveries } from '../claims/executionMemory';
import { requireRunning } from '../execution/cancel';
import { runIndexOf } from '../nodeRun';
import { asItems, forEachItem, type ItemLoopOptions, rowsAt, tryEach } from './itemLoop';
import type { OperationRun } from './operations';
import { jobOf, type PreparedRequest } from './preparedRequest';
import { deliverForModel } from './toolRequests';

const HANDLE_OTHERS =
	"To handle the other items anyway, set 'On Error' in 'Settings' to 'Continue'.";
const SEND_OTHERS =
	"To send the items that weren't sent, set 'On Error' in 'Settings' to 'Continue', save the workflow, and choose 'Retry with currently saved workflow' for this execution in the list of executions. It doesn't send completed and unknown items again. A new execution does.";

/** Items that are claimed together, because n8n writes all claims of a node each time. If it's killed, as many are unknown. */
const ITEMS_PER_BATCH = 50;

type DeliveryOptions = Pick<ItemLoopOptions, 'concurrency'> & {
	/** What these items need besides, such as a call of a limit. They are sent next. */
	reserve?: (indexes: number[]) => Promise<void>;
	/** These certainly had no effect. Never throws. */
	release?: (indexes: number[]) => Promise<void>;
};

/**
 * Sends the request of each item once, and returns its output, also of an earlier attempt.
 *
 * All requests are prepared and checked first. Unless the node continues on errors, none is sent if one of them can't be.
 */
export async function deliverEachItem(
	run: OperationRun,
	prepare: (index: number) => PreparedRequest,
	{ concurrency = 1, reserve = async () => {}, release = async () => {} }: DeliveryOptions = {},
): Promise<INodeExecutionData[]> {
	const { context, caller, account } = run;
	const deliveries = openDeliveries(run);
	const isModel = caller.kind === 'model';
	const rows = context.getInputData();
	const indexes = range(rows.length);
	const requests = new Map<number, PreparedRequest>();
	const jobs = new Map<number, Job>();
	const firstItems = new Map<string, number>();
	// If n8n can't tell, no item can be claimed either.
	const isFirst = await deliveries.isFirst().catch(() => true);
	const invalid = await tryEach(indexes, (index) => {
		const request = prepare(index);
		requests.set(index, request);
		if (isModel) return;
		const { once, target, payload, isOnlyChecked = false } = request;
		const id = itemId(context, index);
		// With an edited text, it's still the same request.
		const job = jobOf(request, { id, who: `${id} ${hashOf(target ?? payload)}`, isClaimed: false });
		jobs.set(index, job);
		const first = firstItems.get(job.who);
		if (first !== undefined && typeof once === 'object' && !deliveries.isSettled(job)) {
			const firstJob = jobs.get(first);
			// Also if the first one is in the record by then, because it was in an earlier batch.
			job.again = () => {
				const before = firstJob && deliveries.before(firstJob);
				// Otherwise, the first one wasn't sent because of another run of the node.
				const wasSent = before === undefined || before.kind === 'done';
				return once.again({ item: wasSent ? first : null, isUnknown: before?.kind === 'unknown' });
			};
			request.instead ??= once.again({ item: first, isUnknown: false });
		}
		const isSent = request.instead === undefined;
		if (isSent) firstItems.set(job.who, index);
		// An earlier attempt may have sent what this one leaves out.
		job.isClaimed = once !== undefined && (!isFirst || (isSent && !isOnlyChecked));
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
		const { instead } = requestOf(index);
		// An item that isn't sent again stops the node before the first request.
		if (isSettled(index)) earlierOutput(index);
		// In a retry, only its claim shows whether an earlier attempt has sent it.
		else if (isFirst && !isModel && instead instanceof InvalidInput) throw instead;
	};
	const jobsOf = (some: number[]) => compact(some.map((index) => jobs.get(index)));
	const withJobs = (some: number[], chosen: Job[]) =>
		some.filter((index) => chosen.some((job) => job === jobs.get(index)));
	const claim = async (some: number[]): Promise<void> => {
		const claimed = withJobs(some, await deliveries.claim(jobsOf(some)));
		const sent = claimed.filter((index) => requests.get(index)?.instead === undefined);
		await reserve(sent).catch((error: unknown) => {
			for (const index of sent) requestOf(index).instead = explained(error);
		});
	};
	const free = async (some: number[]): Promise<void> =>
		await release(withJobs(some, await deliveries.free(jobsOf(some))));

	const deliver = async (job: Job, { instead, send }: PreparedRequest) => {
		const before = deliveries.before(job);
		if (before !== undefined) return outputOf(before);
		const deps = { context, caller, account: await account() };
		// The execution may have ended while this request waited for an earlier one.
		requireRunning(run);
		const sendOnce = async (): Promise<JobOutcome> => {
			try {
				const output = await send(deps);
				return { kind: 'done', result: output.map(({ json }) => json).filter(isJsonObject) };
			} catch (error) {
				return outcomeByError(error);
			}
		};
		return outputOf(await deliveries.deliver(job, sendOnce, instead));
	};
	const deliverToolRequest = async (index: number, request: PreparedRequest) =>
		await deliverForModel(run, deliveries, request, async (job) => {
			jobs.set(index, job);
			await claim([index]);
			return await deliver(job, request).finally(async () => await free([index]));
		});
	const leftOut = new Set<number>();
	let hasBegun = runIndexOf(context) > 0 || indexes.some(isSettled);
	const task = async (index: number): Promise<INodeExecutionData[]> => {
		hasBegun = true;
		const request = requestOf(index);
		const { queue = noLimit } = request;
		const job = jobs.get(index);
		const delivered =
			job === undefined
				? deliverToolRequest(index, request)
				: // An earlier failure also stops the later items of its chat session.
					queue(async () => await deliver(job, request));
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
	const batches = isModel ? undefined : { size: ITEMS_PER_BATCH, begin: claim, end: free };
	const options = { concurrency, check, earlierOutput, stopText, batches };
	return await forEachItem(run, task, options);
}

/** @throws the error of a job that isn't done */
function outputOf(outcome: JobOutcome): INodeExecutionData[] {
	if (outcome.kind !== 'done') throw outcome.error;
	return asItems(outcome.result);
}
