import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { JsonObject } from '../../json';
import type { Limiter } from '../../keyedMutex';
import { IdempotencyHandler } from '../idempotency/handler';
import type { PreparedRequest } from '../idempotency/preparedRequest';
import { isSearchable, replay } from '../idempotency/requestRecord';
import { runsAsTool } from '../tools/toolRun';
import { completedNotes, forEachItem, type ItemLoopOptions, pair, tryEachItem } from './itemLoop';
import { toNodeError } from './nodeErrors';

export type SendLoopOptions<Deps> = Pick<ItemLoopOptions, 'concurrency' | 'completedText'> & {
	/** Creates what every request needs, such as the API client. */
	createDeps: () => Promise<Deps>;
	/** Gets the stored results of earlier attempts before the first item is sent. */
	onEarlierResults?: (records: JsonObject[]) => void;
	/** Orders items that must be sent one after another. */
	limiterFor?: (index: number) => Limiter;
};

type RequestOf<Deps> = (index: number) => PreparedRequest<Deps>;
type EarlierOutput = NonNullable<ItemLoopOptions['earlierOutput']>;

const NOTHING_SENT_NOW = 'This attempt sent nothing. Run the other items in a new execution.';

const noLimit: Limiter = async (job) => await job();

/**
 * Sends each item once. Replays the stored results of earlier attempts (see {@link IdempotencyHandler}), and checks the
 * other items before the first one is sent.
 */
export async function sendEachItem<Deps>(
	context: IExecuteFunctions,
	prepare: RequestOf<Deps>,
	{ createDeps, onEarlierResults, limiterFor, ...options }: SendLoopOptions<Deps>,
): Promise<INodeExecutionData[]> {
	const prepared = new Map<number, PreparedRequest<Deps>>();
	const notSent = new Set<number>();
	const requestOf: RequestOf<Deps> = (index) => {
		const request = prepared.get(index) ?? prepare(index);
		prepared.set(index, request);
		return request;
	};
	const handler = await openHandler(context, createDeps, requestOf);
	onEarlierResults?.(handler.earlierResults);
	/** False after an edit with an invalid value, for example. */
	const isReadable = (index: number): boolean => {
		try {
			requestOf(index);
			return true;
		} catch {
			return false;
		}
	};
	const earlierOutput: EarlierOutput = (index) => {
		const record = handler.recordOf(index);
		if (record === undefined) return undefined;
		const output = replay(record);
		const request = isReadable(index) ? requestOf(index) : undefined;
		return request?.formatOutput?.(output) ?? output;
	};
	const send = async (index: number): Promise<INodeExecutionData[]> => {
		const request = requestOf(index);
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
	const sendOrReplay = async (index: number): Promise<INodeExecutionData[]> => {
		const output = isReadable(index) ? undefined : earlierOutput(index);
		return output ?? (await send(index));
	};
	return await forEachItem(context, sendOrReplay, {
		...options,
		isCompleted: (index) => !notSent.has(index),
		earlierOutput,
		...(handler.isFirstAttempt && {
			check: (index) => {
				if (handler.recordOf(index) === undefined) requestOf(index).check?.();
			},
		}),
		...(await checksOfRetry(context, handler, earlierOutput, options)),
	});
}

/** Finds out what earlier attempts did for each item. */
async function openHandler<Deps>(
	context: IExecuteFunctions,
	createDeps: () => Promise<Deps>,
	requestOf: RequestOf<Deps>,
): Promise<IdempotencyHandler<Deps>> {
	try {
		const handler = new IdempotencyHandler(context, createDeps);
		if (!handler.isFirstAttempt) {
			const unreadable = await tryEachItem(context, (index) =>
				handler.matchEarlierItem(requestOf(index), index),
			);
			for (const index of unreadable.keys()) handler.matchEarlierIndex(index);
		}
		if (runsAsTool(context) || !(await handler.mayHaveBegun())) return handler;
		const items = new Map<number, PreparedRequest<Deps>>();
		// The loop reports items that can't be read.
		await tryEachItem(context, (index) => {
			const request = requestOf(index);
			if (request.idempotent !== true) items.set(index, request);
		});
		await handler.recordBegun(items);
		return handler;
	} catch (error) {
		throw toNodeError(context.getNode(), error);
	}
}

/**
 * Stops a retry before the first request if an outcome is unknown. Reports the items with an unknown outcome, and those
 * that completed.
 */
async function checksOfRetry<Deps>(
	context: IExecuteFunctions,
	handler: IdempotencyHandler<Deps>,
	earlierOutput: EarlierOutput,
	{ completedText }: Pick<ItemLoopOptions, 'completedText'>,
): Promise<Pick<ItemLoopOptions, 'check' | 'checkNote'>> {
	if (runsAsTool(context) || !(await handler.mayHaveBegun())) return {};
	const indexes = [...context.getInputData().keys()];
	const isUnknown = indexes.some((index) => {
		const record = handler.recordOf(index);
		return record !== undefined && !('completed' in record) && !isSearchable(record);
	});
	if (!isUnknown) return {};
	const completed: INodeExecutionData[] = [];
	await tryEachItem(context, (index) => {
		completed.push(...pair(earlierOutput(index) ?? [], index));
	});
	const notes = [NOTHING_SENT_NOW, ...completedNotes(context, completedText, completed)];
	return { check: earlierOutput, checkNote: notes.join(' ') };
}
