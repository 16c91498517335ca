import type { IExecuteFunctions } from 'n8n-workflow';
import { ExecutionMemory } from '../shared/n8n/executionMemory';
import { emptyRecord, FeedProgress, isFeedRecord, type FeedRecord } from './feed/progress';

/** Feeds of one record one after another: as a tool, the node may be called again before it is done. */
const turns = new WeakMap<FeedRecord, Promise<unknown>>();

/**
 * How far the feed of this run has come, kept with the execution: on *Retry On Fail* and on *Retry*
 * what was pushed, or may have been, is known from here and never sent a second time.
 *
 * @throws InvalidInput where what an earlier try did cannot be read
 */
export function openProgress(context: IExecuteFunctions): FeedProgress {
	const memory = new ExecutionMemory(context, 'feed', isFeedRecord);
	const record = memory.read() ?? emptyRecord();
	memory.write(record);
	return new FeedProgress(record);
}

export async function inTurn<T>({ record }: FeedProgress, feed: () => Promise<T>): Promise<T> {
	const earlier = turns.get(record) ?? Promise.resolve();
	const mine = earlier.then(feed, feed);
	turns.set(record, mine);
	return await mine;
}
