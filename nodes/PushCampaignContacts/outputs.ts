import omit from 'lodash/omit';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { REASON_COLUMN, STATUS_COLUMN, type FeedOutcome, type PushedRequest } from './feed/feed';
import { countRows } from './feed/report';
import { summarize } from './feed/summary';
import { feedRows } from './feedRows';

/** One item for each request that the service took: first what became of the whole feed, then the answer. */
export function pushedItems(outcome: FeedOutcome): INodeExecutionData[] {
	const feed = countRows(outcome);
	return outcome.pushed.map((request) => ({
		json: { feed, ...omit(request.answer, 'feed') },
		pairedItem: pairs([request]),
	}));
}

export function summaryItem(outcome: FeedOutcome): INodeExecutionData {
	return { json: summarize(outcome), pairedItem: pairs(outcome.pushed) };
}

/** Each row for which nobody is called, as it came in, with the reason. */
export function rejectedItems(
	context: IExecuteFunctions,
	{ unsentRows }: FeedOutcome,
	withDuplicates: boolean,
): INodeExecutionData[] {
	const items = feedRows(context);
	return unsentRows
		.filter(({ status }) => withDuplicates || status !== 'duplicate')
		.map(({ index, status, reason }) => ({
			json: { ...items[index]?.json, [STATUS_COLUMN]: status, [REASON_COLUMN]: reason },
			pairedItem: { item: index },
		}));
}

/** A request stands for all of its rows that can be called. */
function pairs(requests: readonly PushedRequest[]): Array<{ item: number }> {
	return requests.flatMap(({ rows }) => rows.map((item) => ({ item })));
}
