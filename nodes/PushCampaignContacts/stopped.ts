import type {
	IExecuteFunctions,
	INodeExecutionData,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';
import { toErrorItem, toNodeError } from '../shared/n8n/nodeErrors';
import type { FeedOutcome } from '../shared/service/campaignFeed/feed';
import { countRows, describeOutcome } from '../shared/service/campaignFeed/report';
import { ExplainedError, InvalidInput } from '../shared/service/explained';

/** n8n's own error for a feed that did not reach its end, telling what became of every row. */
export function feedStopped(
	context: IExecuteFunctions,
	error: unknown,
	outcome?: FeedOutcome,
): NodeApiError | NodeOperationError {
	// It is about the feed, so the message names no single item; the index leads to where it stopped.
	const position = { itemIndex: firstRowOf(outcome), of: 1 };
	const nodeError = toNodeError(context.getNode(), error, position);
	if (outcome !== undefined) {
		nodeError.description = [describeOutcome(outcome), nodeError.description].join('\n');
	}
	return nodeError;
}

/** Under Continue On Fail every row comes out, also when the feed could not even begin. */
export function nothingSent(context: IExecuteFunctions, error: unknown): FeedOutcome {
	const stopped =
		error instanceof ExplainedError
			? error
			: new InvalidInput(
					error instanceof Error ? error.message : String(error),
					'Nothing was sent.',
				);
	const reason = `${stopped.message}. ${stopped.todo}`;
	const items = context.getInputData();
	return {
		received: items.length,
		pushed: [],
		leftOut: items.map((_item, index) => ({ index, status: 'not_sent', reason })),
		stopped,
	};
}

/**
 * The one item of the error output. n8n moves it there from Pushed, and runs the node again for it
 * when Retry On Fail is on. The rows themselves are in Rejected.
 */
export function stoppedItem(
	context: IExecuteFunctions,
	outcome: FeedOutcome,
): INodeExecutionData[] {
	if (outcome.stopped === undefined) return [];
	if (context.getNode().onError !== 'continueErrorOutput') return [];
	const { json } = toErrorItem(outcome.stopped, { itemIndex: firstRowOf(outcome), of: 1 });
	// Paired with no row, or n8n would mix the data of that one into the item.
	return [{ json: { ...json, details: countRows(outcome) }, pairedItem: [] }];
}

function firstRowOf(outcome: FeedOutcome | undefined): number {
	const stoppedAt = outcome?.leftOut.find(
		({ status }) => status === 'unknown' || status === 'not_sent',
	);
	return stoppedAt?.index ?? 0;
}
