import once from 'lodash/once';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { explained } from '../../api/errors';
import { type Limiter, noLimit } from '../../keyedMutex';
import { IdempotencyHandler } from '../once/handler';
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

type RequestOf<Deps> = (index: number) => PreparedRequest<Deps>;
type EarlierOutput = NonNullable<ItemLoopOptions['earlierOutput']>;

const NOTHING_SENT_NOW = 'This attempt sent nothing. Run the other items in a new execution.';

/**
 * Sends each item once. Replays the stored results of earlier attempts (see {@link IdempotencyHandler}), and checks the
 * other items before the first one is sent.
 */
export async function sendEachItem<Deps>(
	context: IExecuteFunctions,
	prepare: RequestOf<Deps>,
	{ createDeps, beforeFirst, limiterFor, quota, ...options }: SendLoopOptions<Deps>,
): Promise<INodeExecutionData[]> {
	const handler = new IdempotencyHandler(context, createDeps, quota);
	const isTool = runsAsTool(context);
	const prepared = new Map<number, PreparedRequest<Deps>>();
	const notSent = new Set<number>();
	let mayUnreadBeSent = false;
	const requestOf: RequestOf<Deps> = (index) => {
		try {
			const request = prepared.get(index) ?? prepare(index);
			prepared.set(index, request);
			return request;
		} catch (error) {
			const record = handler.earlierRecordAt(index);
			if (record !== undefined && 'completed' in record) throw completedBefore(explained(error));
			const mayBeSent = record !== undefined || mayUnreadBeSent;
			throw mayBeSent ? maybeSentBefore(explained(error)) : error;
		}
	};
	if (!isTool) mayUnreadBeSent = await findEarlier(context, handler, requestOf);
	const earlierOutput: EarlierOutput = (index) => {
		const record = handler.recordOf(index);
		if (record === undefined) return undefined;
		const output = replay(record);
		return requestOf(index).formatOutput?.(output) ?? output;
	};
	const isSettled = (index: number) => handler.recordOf(index) !== undefined;
	const sendFirst = once(async () => {
		if (beforeFirst === undefined) return;
		// With *On Error* set to continue, the others aren't prepared yet. Each fails on its own.
		await tryEachItem(context, (index) => requestOf(index));
		await beforeFirst([...context.getInputData().keys()].filter((index) => !isSettled(index)));
	});
	const send = async (index: number): Promise<INodeExecutionData[]> => {
		const request = requestOf(index);
		if (!isTool && !isSettled(index)) await sendFirst();
		prepared.delete(index);
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
	return await forEachItem(context, send, {
		...options,
		isCompleted: (index) => !notSent.has(index),
		earlierOutput,
		...(await checksBefore(context, handler, requestOf, earlierOutput, options)),
	});
}

/**
 * Finds out what earlier attempts did for each item.
 *
 * @returns whether they may have sent items that can't be read now
 */
async function findEarlier<Deps>(
	context: IExecuteFunctions,
	handler: IdempotencyHandler<Deps>,
	requestOf: RequestOf<Deps>,
): Promise<boolean> {
	const mayHaveMore = await handler.mayHaveMore();
	if (!handler.hasEarlierRecords && !mayHaveMore) return false;
	const requests = new Map<number, PreparedRequest<Deps>>();
	// The loop reports items that can't be read now.
	await tryEachItem(context, (index) => {
		const request = requestOf(index);
		handler.assignKey(request, index);
		requests.set(index, request);
	});
	if (mayHaveMore) await handler.recordEarlier(requests);
	return mayHaveMore;
}

/**
 * The checks before the first request. A retry stops here if an outcome is unknown. It reports the items with an unknown
 * outcome, and those that completed.
 */
async function checksBefore<Deps>(
	context: IExecuteFunctions,
	handler: IdempotencyHandler<Deps>,
	requestOf: RequestOf<Deps>,
	earlierOutput: EarlierOutput,
	{ completedText }: Pick<ItemLoopOptions, 'completedText'>,
): Promise<Pick<ItemLoopOptions, 'check' | 'checkNote'>> {
	const isBlocked = (index: number) => {
		const record = handler.recordOf(index);
		if (record === undefined || 'completed' in record) return false;
		return !isRepeatable(record, requestOf(index).idempotencyKey);
	};
	// An invalid item isn't one of the others.
	const check = (index: number) => {
		if (earlierOutput(index) === undefined) requestOf(index).check?.();
	};
	const isAnyBlocked = [...context.getInputData().keys()].some(isBlocked);
	// An attempt of *Retry On Fail* reaches it in its turn.
	const stops = isAnyBlocked && (await handler.mayHaveMore());
	if (!stops) return handler.hasEarlierRecords ? {} : { check };
	const completed: INodeExecutionData[] = [];
	await tryEachItem(context, (index) => {
		completed.push(...pair(earlierOutput(index) ?? [], index));
	});
	const notes = [NOTHING_SENT_NOW, ...completedNotes(context, completedText, completed)];
	return { check, checkNote: notes.join(' ') };
}
