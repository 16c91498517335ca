import compact from 'lodash/compact';
import range from 'lodash/range';
import type { INodeExecutionData } from 'n8n-workflow';
import {
	type Job,
	type JobOutcome,
	LeftOut,
	maybeSentBefore,
	outcomeByError,
} from '../../core/ledger/ledger';
import { explained } from '../../core/service/errors';
import { hashOf } from '../../core/values/hash';
import { isJsonObject, type JsonObject } from '../../core/values/json';
import { noLimit } from '../../core/values/keyedMutex';
import { counted } from '../../core/values/values';
import { runIndexOf } from '../nodeRun';
import { openLedger } from '../ledger/openLedger';
import type { PreparedRequest } from '../ledger/preparedRequest';
import { deliverForModel } from '../ledger/toolRequests';
import { requireRunning } from '../execution/cancel';
import { asItems, forEachItem, type ItemLoopOptions, rowsAt, tryEach } from './itemLoop';
import type { OperationRun } from './operations';

const HANDLE_OTHERS =
	"To handle the other items anyway, set 'On Error' in 'Settings' to 'Continue'.";
const SEND_OTHERS =
	"To send the items that weren't sent, set 'On Error' in 'Settings' to 'Continue', save the workflow, and choose 'Retry with currently saved workflow' for this execution in the list of executions. It doesn't send completed and unknown items again. A new execution does.";

/**
 * Sends the request of each item once, by the ledger, and returns its output, also of an earlier attempt.
 *
 * All requests are prepared first. Then the ledger finds those that earlier attempts settled, and the others are checked.
 * Unless the node continues on errors, none is sent if one of them can't be.
 */
export async function deliverEachItem(
	run: OperationRun,
	prepare: (index: number) => PreparedRequest,
	{ concurrency = 1, partNames = [''] }: Pick<ItemLoopOptions, 'concurrency' | 'partNames'> = {},
): Promise<INodeExecutionData[]> {
	const { context, caller, account } = run;
	const ledger = openLedger<JsonObject[]>(run);
	const isModel = caller.kind === 'model';
	const { length: perItem } = partNames;
	const itemIndexOf = (index: number) => Math.floor(index / perItem);
	const indexes = range(context.getInputData().length * perItem);
	const requests = new Map<number, PreparedRequest>();
	const jobs = new Map<number, Job>();
	const invalid = await tryEach(indexes, (index) => {
		const request = prepare(index);
		requests.set(index, request);
		if (!isModel) jobs.set(index, jobOf(itemIndexOf(index), request));
	});
	const sentEarlier = new Set(Object.values(ledger.entries).map(({ item }) => item));
	const mayHaveBegun = !isModel && (await ledger.findBegun([...jobs.values()]));

	const requestOf = (index: number): PreparedRequest => {
		const request = requests.get(index);
		if (request !== undefined) return request;
		// It can't be read now, although an earlier attempt may have sent it.
		const error = invalid.get(index);
		throw mayHaveBegun || sentEarlier.has(itemIndexOf(index))
			? maybeSentBefore(explained(error))
			: error;
	};
	const isSettled = (index: number): boolean => {
		const job = jobs.get(index);
		return job !== undefined && ledger.isSettled(job);
	};
	const earlierOutput = (index: number): INodeExecutionData[] | undefined => {
		const job = jobs.get(index);
		const outcome = job && ledger.known(job);
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
	const deliver = async (job: Job, { queue = noLimit, reserve, send }: PreparedRequest) =>
		// Within the queue, so that an earlier failure also stops the later items of its chat session.
		await queue(async () => {
			const known = ledger.isSettled(job) ? ledger.known(job) : undefined;
			if (known !== undefined) return outputOf(known);
			await reserve?.();
			const deps = { context, caller, account: await account() };
			// The execution may have ended while this request waited for an earlier one.
			requireRunning(run);
			const outcome = await ledger.deliver(job, async () => {
				try {
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
			job === undefined ? deliverForModel(run, ledger, request, deliver) : deliver(job, request);
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
		if (!hasBegun) return indexes.length > perItem ? HANDLE_OTHERS : '';
		if (indexes.length < 2 && runIndexOf(context) === 0) return '';
		const sent = completed.filter((index) => !leftOut.has(index));
		const count = `${sent.length} of ${counted(indexes.length, 'request')}`;
		const list = perItem === 1 ? rowsAt(sent, context.getInputData()) : count;
		return compact([sent.length > 0 && `Completed ${when}: ${list}.`, SEND_OTHERS]).join(' ');
	};
	const options = { concurrency, partNames, check, earlierOutput, stopText };
	return await forEachItem(run, task, options);
}

/** With an edited text, it's still the same request. In each attempt, n8n passes the same items. */
function jobOf(item: number, request: PreparedRequest): Job {
	const { target, payload, idempotencyKey, withDetails } = request;
	const key = `${hashOf(target ?? payload)}#${item}`;
	return { key, target, owner: { item }, idempotencyKey, withDetails };
}

/** @throws the error of a job that isn't done */
function outputOf(outcome: JobOutcome<JsonObject[]>): INodeExecutionData[] {
	if (outcome.kind === 'skipped') return [];
	if (outcome.kind !== 'done') throw outcome.error;
	return asItems(outcome.result);
}
