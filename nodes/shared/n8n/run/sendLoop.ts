import compact from 'lodash/compact';
import once from 'lodash/once';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { explained, isAboutRequest } from '../../api/errors';
import { type Limiter, noLimit } from '../../keyedMutex';
import { runIndexOf } from '../once/executionStore';
import { SendOnce } from '../once/sendOnce';
import type { PreparedRequest, Quota } from '../once/preparedRequest';
import { isRepeatable, replay } from '../once/requestRecord';
import { completedBefore, maybeSentBefore } from '../once/sentBefore';
import { runsAsTool } from '../tools/toolRun';
import { completedNotes, forEachItem, type ItemLoopOptions, pair, tryEachItem } from './itemLoop';

export type SendLoopOptions<Deps> = Pick<ItemLoopOptions, 'concurrency' | 'completedText'> & {
	/** Creates what every request needs, such as the API client. */
	createDeps: () => Promise<Deps>;
	/** Runs once before the first item is sent, with all items that earlier attempts didn't settle. Not for tools. */
	beforeFirst?: (indexes: number[]) => Promise<void>;
	/** Orders items that must be sent one after another. */
	limiterFor?: (index: number) => Limiter;
	/** How many requests a model may ask for. */
	quota?: (index: number) => Quota;
};

/** Sends the other items, and nothing twice. */
const SEND_WITH_RETRY =
	"To send the other items, set 'On Error' in 'Settings' to 'Continue', save the workflow, and retry this execution with the currently saved workflow. It doesn't send completed and unknown items again.";
const OTHERS_NOT_SENT = `The other items weren't sent. ${SEND_WITH_RETRY}`;
const NOTHING_SENT_IN_RUN = `Nothing was sent in this run of the node, but earlier runs of this execution may have sent items, so a new execution may send them again. ${SEND_WITH_RETRY}`;

/**
 * Sends each item once. Replays the stored results of earlier attempts (see {@link SendOnce}), and checks the
 * other items before the first one is sent.
 */
export async function sendEachItem<Deps>(
	context: IExecuteFunctions,
	prepare: (index: number) => PreparedRequest<Deps>,
	{ createDeps, beforeFirst, limiterFor, quota, ...options }: SendLoopOptions<Deps>,
): Promise<INodeExecutionData[]> {
	const handler = new SendOnce(context, createDeps, quota);
	const isTool = runsAsTool(context);
	const indexes = [...context.getInputData().keys()];
	const requests = new Map<number, PreparedRequest<Deps>>();
	const invalid = await tryEachItem(context, (index) => {
		const request = prepare(index);
		requests.set(index, request);
		handler.assignKey(request, index);
	});
	if (!isTool) await handler.findEarlier(requests);

	const requestOf = (index: number): PreparedRequest<Deps> => {
		const request = requests.get(index);
		if (request !== undefined) return request;
		const error = invalid.get(index);
		const record = handler.earlierRecordAt(index);
		if (record !== undefined && 'completed' in record) throw completedBefore(explained(error));
		const mayBeSent = record !== undefined || handler.mayHaveMore;
		throw mayBeSent ? maybeSentBefore(explained(error)) : error;
	};
	const earlierOutput = (index: number): INodeExecutionData[] | undefined => {
		const record = handler.recordOf(index);
		if (record === undefined) return undefined;
		const output = replay(record);
		return requestOf(index).formatOutput?.(output) ?? output;
	};
	const isUnknown = (index: number, request = requests.get(index)) => {
		const record = handler.recordOf(index);
		if (record === undefined || 'completed' in record) return false;
		return !isRepeatable(record, request?.idempotencyKey);
	};
	const isSettled = (index: number) => handler.recordOf(index) !== undefined;
	const sendFirst = once(async () => {
		await beforeFirst?.(indexes.filter((index) => !isSettled(index)));
	});
	const notSent = new Set<number>();
	let stopsForGood = false;
	const send = async (index: number): Promise<INodeExecutionData[]> => {
		const request = requestOf(index);
		if (!isTool && !isSettled(index)) await sendFirst();
		requests.delete(index);
		const result = handler.run(request, limiterFor?.(index) ?? noLimit, index);
		const output = await result.catch((error: unknown) => {
			stopsForGood ||= isUnknown(index, request) || isAboutRequest(error);
			// The result for a model explains why nothing was sent.
			const fallback = isTool ? undefined : request.fallbackOutput?.(error);
			if (fallback === undefined) throw error;
			notSent.add(index);
			return fallback;
		});
		return request.formatOutput?.(output) ?? output;
	};

	// An attempt of *Retry On Fail* reaches an unknown outcome in its turn. *Retry* stops before the first request, and
	// reports the items with an unknown outcome, and those that completed.
	const stops = handler.mayHaveMore && indexes.some((index) => isUnknown(index));
	let checkNote = runIndexOf(context) > 0 ? NOTHING_SENT_IN_RUN : undefined;
	if (stops) {
		const completed: INodeExecutionData[] = [];
		await tryEachItem(context, (index) => {
			completed.push(...pair(earlierOutput(index) ?? [], index));
		});
		const notes = completedNotes(context, options.completedText, completed);
		const hasOthers = !indexes.every(isSettled);
		checkNote = compact([hasOthers && OTHERS_NOT_SENT, ...notes]).join(' ');
	}
	// An invalid item isn't one of the others.
	const check = (index: number) => {
		if (earlierOutput(index) === undefined) requestOf(index).check?.();
	};
	return await forEachItem(context, send, {
		...options,
		isCompleted: (index) => !notSent.has(index),
		unsentNote: () => (stopsForGood ? OTHERS_NOT_SENT : undefined),
		earlierOutput,
		...((stops || !handler.hasEarlierRecords) && {
			check,
			...(checkNote !== undefined && { checkNote }),
		}),
	});
}
