import compact from 'lodash/compact';
import once from 'lodash/once';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { isAboutRequest } from '../../api/errors';
import { type Limiter, noLimit } from '../../keyedMutex';
import { runIndexOf } from '../once/executionStore';
import { SendOnce } from '../once/sendOnce';
import type { PreparedRequest, Quota } from '../once/preparedRequest';
import { runsAsTool } from '../tools/toolRun';
import { completedTexts, forEachItem, type ItemLoopOptions, pair, tryEachItem } from './itemLoop';

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
	"To send the other items, set 'On Error' in 'Settings' to 'Continue', save the workflow, and choose 'Retry with currently saved workflow' for this execution in the list of executions. It doesn't send completed and unknown items again.";
const OTHERS_NOT_SENT = `The other items weren't sent. ${SEND_WITH_RETRY}`;
const NOTHING_MORE_SENT = `Nothing more was sent. ${SEND_WITH_RETRY}`;
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
	let stopsForGood = false;
	const send = async (index: number): Promise<INodeExecutionData[]> => {
		const request = requestOf(index);
		if (!isTool && !isSettled(index)) await sendFirst();
		requests.delete(index);
		const result = handler.run(request, limiterFor?.(index) ?? noLimit, index);
		const output = await result.catch((error: unknown) => {
			stopsForGood ||= handler.isUnknown(index, request) || isAboutRequest(error);
			// The result for a model explains why nothing was sent.
			const fallback = isTool ? undefined : request.fallbackOutput?.(error);
			if (fallback === undefined) throw error;
			notSent.add(index);
			return fallback;
		});
		return request.formatOutput?.(output) ?? output;
	};

	// An item that isn't sent again stops the node before the first request. The error lists the items that completed.
	const textAfterEarlier = async (): Promise<string> => {
		const hasUnknown = indexes.some((index) => handler.isUnknown(index, requests.get(index)));
		const completed: INodeExecutionData[] = [];
		await tryEachItem(context, (index) => {
			completed.push(...pair(earlierOutput(index) ?? [], index));
		});
		const texts = completedTexts(context, options.completedText, completed);
		const ofOthers = hasUnknown ? !indexes.every(isSettled) && OTHERS_NOT_SENT : NOTHING_MORE_SENT;
		return compact([ofOthers, ...texts]).join(' ');
	};
	const check = (index: number) => {
		const request = requestOf(index);
		if (isSettled(index)) handler.earlierOutput(index);
		else request.check?.();
	};
	return await forEachItem(context, send, {
		...options,
		isCompleted: (index) => !notSent.has(index),
		unsentText: () => (stopsForGood ? OTHERS_NOT_SENT : undefined),
		earlierOutput,
		// A model may repeat a request that can't be sent any more, such as one for a time that has passed.
		...(!isTool && { check }),
		...(runIndexOf(context) > 0 && { invalidText: () => NOTHING_SENT_IN_RUN }),
		...(handler.hasEarlier && { invalidText: textAfterEarlier }),
	});
}
