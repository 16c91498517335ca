import compact from 'lodash/compact';
import range from 'lodash/range';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { type Entries, failed, type Job, LeftOut, type JobOutcome } from '../../core/ledger/ledger';
import { maybeSentBefore } from '../../core/ledger/maybeSentErrors';
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
 * All requests are prepared first, so that each one has its key. Then the ledger finds those that earlier attempts settled,
 * and the others are checked. Unless the node continues on errors, none is sent if one of them can't be.
 */
export async function deliverEachItem(
	run: Omit<OperationRun, 'parameters'>,
	prepare: (index: number) => PreparedRequest,
	{ concurrency = 1, partNames = [''] }: Pick<ItemLoopOptions, 'concurrency' | 'partNames'> = {},
): Promise<INodeExecutionData[]> {
	const { context, caller, account } = run;
	const ledger = openLedger<JsonObject[]>(context);
	const isModel = caller.kind === 'model';
	const { length: perItem } = partNames;
	const indexes = range(context.getInputData().length * perItem);
	const requests = new Map<number, PreparedRequest>();
	const invalid = await tryEach(indexes, (index) => {
		requests.set(index, prepare(index));
	});
	const sentEarlier = new Set(Object.values(ledger.entries).map(({ item }) => item));
	const jobs = isModel ? new Map<number, Job>() : jobsOf(requests, invalid, ledger.entries);
	const mayHaveBegun = !isModel && (await ledger.findBegun([...jobs.values()]));

	const requestOf = (index: number): PreparedRequest => {
		const request = requests.get(index);
		if (request !== undefined) return request;
		// It can't be read now, although an earlier attempt may have sent it.
		const error = invalid.get(index);
		throw mayHaveBegun || sentEarlier.has(index) ? maybeSentBefore(explained(error)) : error;
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
			requireRunning(context);
			const outcome = await ledger.deliver(job, async () => {
				try {
					const output = await send(deps);
					return { kind: 'done', result: output.map(({ json }) => json).filter(isJsonObject) };
				} catch (error) {
					return failed(error);
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
	const stopText = (completed: number[], when: string): string => {
		if (!hasBegun) return indexes.length > perItem ? HANDLE_OTHERS : '';
		const sent = completed.filter((index) => !leftOut.has(index));
		if (perItem === 1) return stopTextOf(context, sent, when);
		const count = `${sent.length} of ${counted(indexes.length, 'request')}`;
		return compact([sent.length > 0 && `Completed ${when}: ${count}.`, SEND_OTHERS]).join(' ');
	};
	const options = { concurrency, partNames, check, earlierOutput, stopText };
	return await forEachItem(run, task, options);
}

/**
 * The key is the target, and how many other requests to it came before: with an edited text, it's still the same request. An
 * item with an entry keeps its key, also if another item was invalid then, or is now.
 *
 * @param invalid the items without a request
 */
function jobsOf(
	requests: ReadonlyMap<number, PreparedRequest>,
	invalid: ReadonlyMap<number, unknown>,
	entries: Entries<JsonObject[]>,
): Map<number, Job> {
	const ownKeys = new Map(
		Object.entries(entries).map(([key, { item }]) => [`${nameOf(key)} ${item}`, key]),
	);
	const taken = new Set<string>();
	const names = new Map(
		[...requests].map(([index, { target, payload }]) => [index, hashOf(target ?? payload)]),
	);
	for (const [index, name] of names) taken.add(ownKeys.get(`${name} ${index}`) ?? '');
	for (const [key, { item = -1 }] of Object.entries(entries)) if (invalid.has(item)) taken.add(key);
	const counts = new Map<string, number>();
	const nextKey = (name: string): string => {
		const nth = counts.get(name) ?? 0;
		counts.set(name, nth + 1);
		const key = `${name}#${nth}`;
		return taken.has(key) ? nextKey(name) : key;
	};
	return new Map(
		[...requests].map(([index, request]): [number, Job] => {
			const { target, idempotencyKey, withDetails } = request;
			const name = names.get(index) ?? '';
			const key = ownKeys.get(`${name} ${index}`) ?? nextKey(name);
			return [index, { key, target, owner: { item: index }, idempotencyKey, withDetails }];
		}),
	);
}

const nameOf = (key: string) => key.split('#', 1)[0];

/** @throws the error of a job that isn't done */
function outputOf(outcome: JobOutcome<JsonObject[]>): INodeExecutionData[] {
	if (outcome.kind === 'skipped') return [];
	if (outcome.kind !== 'done') throw outcome.error;
	return asItems(outcome.result);
}

/** Lists the completed items, so that nothing is sent twice in a new execution. */
function stopTextOf(context: IExecuteFunctions, completed: number[], when: string): string {
	const items = context.getInputData();
	if (items.length < 2 && runIndexOf(context) === 0) return '';
	const list = completed.length > 0 && `Completed ${when}: ${rowsAt(completed, items)}.`;
	return compact([list, SEND_OTHERS]).join(' ');
}
