import compact from 'lodash/compact';
import once from 'lodash/once';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { type Limiter, noLimit } from '../../core/values/keyedMutex';
import { runIndexOf } from '../once/executionStore';
import { SendOnce } from '../once/sendOnce';
import type { PreparedRequest, Quota } from '../once/preparedRequest';
import { callerOf } from '../caller/caller';
import { counted } from '../../core/values/values';
import { forEachItem, type ItemLoopOptions, ranges, tryEach } from './itemLoop';

export type SendLoopOptions<Deps> = Pick<ItemLoopOptions, 'concurrency' | 'partNames'> & {
	/** Creates what every request needs, such as the API client. */
	createDeps: () => Promise<Deps>;
	/** Runs once before the first item is sent, with all items that earlier attempts didn't settle. Not for tools. */
	beforeFirst?: (indexes: number[]) => Promise<void>;
	/** Orders items that must be sent one after another. */
	limiterFor?: (index: number) => Limiter;
	/** How many requests a model may ask for. */
	quota?: (index: number) => Quota;
};

const HANDLE_OTHERS =
	"To handle the other items anyway, set 'On Error' in 'Settings' to 'Continue'.";
const SEND_OTHERS =
	"To send the items that weren't sent, set 'On Error' in 'Settings' to 'Continue', save the workflow, and choose 'Retry with currently saved workflow' for this execution in the list of executions. It doesn't send completed and unknown items again. A new execution does.";

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
	const isTool = callerOf(context).kind === 'model';
	const { length: perItem } = options.partNames ?? [''];
	const indexes = [...Array(context.getInputData().length * perItem).keys()];
	const requests = new Map<number, PreparedRequest<Deps>>();
	const invalid = await tryEach(indexes, (index) => {
		requests.set(index, prepare(index));
	});
	if (!isTool) await handler.findEarlier(requests);

	const requestOf = (index: number): PreparedRequest<Deps> => {
		const request = requests.get(index);
		if (request === undefined) throw handler.errorOfInvalid(index, invalid.get(index));
		return request;
	};
	const earlierOutput = (index: number): INodeExecutionData[] | undefined => {
		const output = handler.earlierOutput(index);
		return output && (requestOf(index).formatOutput?.(output) ?? output);
	};
	const isSettled = (index: number) => handler.isSettled(index, requests.get(index));
	const sendFirst = once(async () => {
		await beforeFirst?.(indexes.filter((index) => !isSettled(index)));
	});
	const notSent = new Set<number>();
	let hasBegun = runIndexOf(context) > 0 || indexes.some(isSettled);
	const send = async (index: number): Promise<INodeExecutionData[]> => {
		hasBegun = true;
		const request = requestOf(index);
		if (!isTool && !isSettled(index)) await sendFirst();
		requests.delete(index);
		const result = handler.run(request, limiterFor?.(index) ?? noLimit, index);
		const output = await result.catch((error: unknown) => {
			// The result for a model explains why nothing was sent.
			const fallback = isTool ? undefined : request.fallbackOutput?.(error);
			if (fallback === undefined) throw error;
			notSent.add(index);
			return fallback;
		});
		return request.formatOutput?.(output) ?? output;
	};

	const check = (index: number) => {
		const request = requestOf(index);
		// An item that isn't sent again stops the node before the first request.
		if (isSettled(index)) handler.earlierOutput(index);
		else request.check?.();
	};
	return await forEachItem(context, send, {
		...options,
		stopText: (completed) => {
			if (!hasBegun) return indexes.length > perItem ? HANDLE_OTHERS : '';
			const sent = completed.filter((index) => !notSent.has(index));
			if (perItem === 1) return stopTextOf(context, sent);
			return `Completed in this run: ${sent.length} of ${counted(indexes.length, 'request')}. ${SEND_OTHERS}`;
		},
		earlierOutput,
		// A model may repeat a request that can't be sent any more, such as one for a time that has passed.
		...(!isTool && { check }),
	});
}

/** Lists the completed items, so that nothing is sent twice in a new execution. */
function stopTextOf(context: IExecuteFunctions, completed: number[]): string {
	const isOnlyItem = context.getInputData().length < 2 && runIndexOf(context) === 0;
	if (isOnlyItem) return '';
	const rows = completed.length === 1 ? 'row' : 'rows';
	const list = completed.length > 0 && `Completed in this run: ${rows} ${ranges(completed)}.`;
	return compact([list, SEND_OTHERS]).join(' ');
}
