import once from 'lodash/once';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { explained } from '../../api/errors';
import { type Limiter, noLimit } from '../../keyedMutex';
import { IdempotencyHandler } from '../idempotency/handler';
import type { PreparedRequest } from '../idempotency/preparedRequest';
import { replay } from '../idempotency/requestRecord';
import { completedBefore, maybeSentBefore, mayHaveBegunAny } from '../idempotency/sentBefore';
import { runsAsTool } from '../tools/toolRun';
import { completedNotes, forEachItem, type ItemLoopOptions, pair, tryEachItem } from './itemLoop';

export type SendLoopOptions<Deps> = Pick<ItemLoopOptions, 'concurrency' | 'completedText'> & {
	/** Creates what every request needs, such as the API client. */
	createDeps: () => Promise<Deps>;
	/** Runs once before the first item is sent, with all items that earlier attempts didn't settle. Not for tools. */
	beforeFirst?: (indexes: number[]) => Promise<void>;
	/** Orders items that must be sent one after another. */
	limiterFor?: (index: number) => Limiter;
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
	{ createDeps, beforeFirst, limiterFor, ...options }: SendLoopOptions<Deps>,
): Promise<INodeExecutionData[]> {
	const prepared = new Map<number, PreparedRequest<Deps>>();
	const notSent = new Set<number>();
	const firstRequestOf: RequestOf<Deps> = (index) => {
		const request = prepared.get(index) ?? prepare(index);
		prepared.set(index, request);
		return request;
	};
	const { handler, mayUnreadBeSent } = await openHandler(context, createDeps, firstRequestOf);
	const requestOf: RequestOf<Deps> = (index) => {
		try {
			return firstRequestOf(index);
		} catch (error) {
			const { itemRecords } = handler;
			if (itemRecords.wasCompleted(index)) throw completedBefore(explained(error));
			const mayBeSent = mayUnreadBeSent || itemRecords.mayBeSent(index);
			throw mayBeSent ? maybeSentBefore(explained(error)) : error;
		}
	};
	const earlierOutput: EarlierOutput = (index) => {
		const record = handler.itemRecords.of(index);
		if (record === undefined) return undefined;
		const output = replay(record);
		return requestOf(index).formatOutput?.(output) ?? output;
	};
	const isSettled = (index: number) => handler.itemRecords.of(index) !== undefined;
	const sendFirst = once(async () => {
		if (beforeFirst === undefined) return;
		// With *On Error* set to continue, the others aren't prepared yet. Each fails on its own.
		await tryEachItem(context, (index) => requestOf(index));
		await beforeFirst([...context.getInputData().keys()].filter((index) => !isSettled(index)));
	});
	const send = async (index: number): Promise<INodeExecutionData[]> => {
		const request = requestOf(index);
		if (!runsAsTool(context) && !isSettled(index)) await sendFirst();
		prepared.delete(index);
		const result = handler.run(request, limiterFor?.(index) ?? noLimit, index);
		const output = await result.catch((error: unknown) => {
			// The result for a model explains why nothing was sent.
			const fallback = runsAsTool(context) ? undefined : request.fallbackOutput?.(error);
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

/** Finds out what earlier attempts did for each item, and whether they may have sent items that can't be read now. */
async function openHandler<Deps>(
	context: IExecuteFunctions,
	createDeps: () => Promise<Deps>,
	requestOf: RequestOf<Deps>,
): Promise<{ handler: IdempotencyHandler<Deps>; mayUnreadBeSent: boolean }> {
	const handler = new IdempotencyHandler(context, createDeps);
	// The loop reports items that can't be read now.
	const forEachRequest = async (action: (request: PreparedRequest<Deps>, index: number) => void) =>
		await tryEachItem(context, (index) => action(requestOf(index), index));
	const { isFirstAttempt } = handler;
	if (!isFirstAttempt) {
		await forEachRequest((request, index) => handler.itemRecords.matchPerson(request, index));
		await forEachRequest((request, index) => handler.itemRecords.matchPayload(request, index));
	}
	let mayUnreadBeSent = false;
	const mayHaveBegun = !runsAsTool(context) && (await handler.mayHaveBegun());
	if (mayHaveBegun) {
		const items = new Map<number, PreparedRequest<Deps>>();
		const unread = await forEachRequest((request, index) => {
			if (request.idempotent !== true) items.set(index, request);
		});
		await handler.recordBegun(items);
		mayUnreadBeSent = unread.size > 0 && (await mayHaveBegunAny(context));
	}
	return { handler, mayUnreadBeSent };
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
	const { isFirstAttempt, itemRecords } = handler;
	const checkNew = (index: number) => {
		if (itemRecords.of(index) === undefined) requestOf(index).check?.();
	};
	const checks = isFirstAttempt ? { check: checkNew } : {};
	if (runsAsTool(context) || !(await handler.mayHaveBegun())) return checks;
	const indexes = [...context.getInputData().keys()];
	if (!indexes.some((index) => itemRecords.isBlocked(index))) return checks;
	const completed: INodeExecutionData[] = [];
	await tryEachItem(context, (index) => {
		completed.push(...pair(earlierOutput(index) ?? [], index));
	});
	const notes = [NOTHING_SENT_NOW, ...completedNotes(context, completedText, completed)];
	// An invalid item isn't one of the others.
	const check = (index: number) => {
		if (earlierOutput(index) === undefined) requestOf(index).check?.();
	};
	return { check, checkNote: notes.join(' ') };
}
