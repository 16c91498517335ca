import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { runKey, RunMemory } from '../shared/n8n/once';
import type { FeedOutcome } from '../shared/service/campaignFeed/feed';

/** How far a feed came before it stopped, kept as long as n8n keeps its first row. */
const stoppedFeeds = new RunMemory<FeedOutcome>();

/**
 * n8n's "Retry On Fail" runs the whole node again on the very same items. What an earlier try
 * pushed, or may have pushed, is known from here and never sent a second time.
 */
export class EarlierTry {
	private readonly key: string;
	private readonly first: INodeExecutionData | undefined;

	constructor(context: IExecuteFunctions) {
		this.key = runKey(context);
		this.first = context.getInputData()[0];
	}

	outcome(): FeedOutcome | undefined {
		return this.first && stoppedFeeds.get(this.first, this.key);
	}

	keep(outcome: FeedOutcome): void {
		if (this.first !== undefined) stoppedFeeds.set(this.first, this.key, outcome);
	}
}
