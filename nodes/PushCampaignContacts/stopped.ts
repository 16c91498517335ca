import type {
	IExecuteFunctions,
	INodeExecutionData,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';
import { toErrorItem, toNodeError } from '../shared/n8n/nodeErrors';
import type { FeedOutcome } from './feed/feed';
import { countRows, describeOutcome } from './feed/report';
import { explained, ExplainedError, InvalidInput, ServiceRefusal } from '../shared/api/errors';
import { isJsonObject } from '../shared/json';
import { openProgress } from './feedMemory';

/** n8n's own error for a feed that did not reach its end, telling what became of every row. */
export function feedStopped(
	context: IExecuteFunctions,
	error: unknown,
	outcome: FeedOutcome,
): NodeApiError | NodeOperationError {
	// It is about the feed, so the message names no single item; the index leads to where it stopped.
	const position = { itemIndex: firstRowOf(outcome), of: 1 };
	const nodeError = toNodeError(context.getNode(), error, position);
	if (error instanceof ServiceRefusal || hasBegun(outcome)) {
		const [summary, ...rows] = describeOutcome(outcome);
		nodeError.description = [summary, nodeError.description, ...rows].join('\n');
	}
	return nodeError;
}

/** What became of the rows when this try could not even begin: what an earlier one did still holds. */
export function couldNotBegin(context: IExecuteFunctions, error: unknown): FeedOutcome {
	const stopped =
		error instanceof ExplainedError
			? error
			: new InvalidInput(
					error instanceof Error ? error.message : String(error),
					'Nothing was sent.',
				);
	const items = context.getInputData();
	const earlier = earlierTries(context, items);
	// Where nothing can be read of earlier tries, they may have sent any row.
	const status = earlier === undefined ? 'unknown' : 'not_sent';
	const outcome = earlier ?? { received: items.length, pushed: [], unsentRows: [] };
	const known = new Set([
		...outcome.pushed.flatMap(({ rows }) => rows),
		...outcome.unsentRows.map(({ index }) => index),
	]);
	const reason = `${stopped.message}. ${stopped.resolution}`;
	for (const index of items.keys()) {
		if (!known.has(index)) outcome.unsentRows.push({ index, status, reason });
	}
	outcome.unsentRows.sort((one, other) => one.index - other.index);
	return { ...outcome, stopped };
}

function earlierTries(
	context: IExecuteFunctions,
	items: INodeExecutionData[],
): FeedOutcome | undefined {
	try {
		return openProgress(context).known(items);
	} catch (error) {
		explained(error);
		return undefined;
	}
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
	const details = { ...(isJsonObject(json.details) && json.details), ...countRows(outcome) };
	// Paired with no row, or n8n would mix the data of that one into the item.
	return [{ json: { ...json, details }, pairedItem: [] }];
}

/** Whether there is more to tell than that nothing was sent. */
function hasBegun({ pushed, unsentRows }: FeedOutcome): boolean {
	return pushed.length > 0 || unsentRows.some(({ status }) => status !== 'not_sent');
}

function firstRowOf({ unsentRows }: FeedOutcome): number {
	const stoppedAt = unsentRows.find(({ status }) => status === 'unknown' || status === 'not_sent');
	return stoppedAt?.index ?? 0;
}
