import once from 'lodash/once';
import type {
	IExecuteFunctions,
	INodeExecutionData,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';
import { ServiceRejection } from '../shared/api/errors';
import { isJsonObject } from '../shared/json';
import { isCanceled, WHY_CANCELED } from '../shared/n8n/run/cancel';
import { toErrorItem, toNodeError } from '../shared/n8n/run/nodeErrors';
import type { OperationRun } from '../shared/n8n/run/operations';
import { displayText } from '../shared/values';
import { openRows } from './openRows';
import { describeOutcome, hintsFor } from './push/pushReport';
import type { RowSource } from './push/rows';
import { countRows } from './push/summary';
import { type FinishedPush, pushedOutput, rejectedItems } from './pushOutput';
import { readOutput } from './pushSettings';
import { outcomeOfFailedStart, runPush } from './runPush';

/** Pushes the rows. Returns the *Pushed* and *Rejected* outputs. */
export async function pushRows(run: OperationRun): Promise<INodeExecutionData[][]> {
	const open = once(async () => await openRows(run));
	try {
		return await pushAndOutput(run, open);
	} finally {
		await open().then(
			async (source) => await source.close(),
			() => undefined,
		);
	}
}

async function pushAndOutput(
	run: OperationRun,
	open: () => Promise<RowSource>,
): Promise<INodeExecutionData[][]> {
	const { context } = run;
	const { output, ...push } = await runPush(run, open).catch(async (error: unknown) => {
		const failed = await outcomeOfFailedStart(context, open, error);
		if (!context.continueOnFail()) throw pushStopped(run, error, failed);
		return { ...failed, output: orElse(() => readOutput(run.parameters.at(0)), 'requests') };
	});
	const { outcome } = push;
	if (outcome.stopped !== undefined && !context.continueOnFail()) {
		throw pushStopped(run, outcome.stopped, push);
	}

	const hints = [...hintsFor(outcome), ...push.notes];
	context.addExecutionHints(...hints.map((hint) => ({ message: displayText(hint) })));
	return [
		[...stoppedItem(context, push), ...(await pushedOutput(push, output))],
		await rejectedItems(push, output),
	];
}

/** A field, if it can be read. The error is about another one, or about this one. */
function orElse<T>(read: () => T, fallback: T): T {
	try {
		return read();
	} catch {
		return fallback;
	}
}

/**
 * The item of the error output. n8n moves it there from *Pushed*, and runs the node again for it if *Retry On Fail* is
 * on. The rows are in *Rejected*.
 */
function stoppedItem(context: IExecuteFunctions, push: FinishedPush): INodeExecutionData[] {
	const { outcome } = push;
	if (outcome.stopped === undefined) return [];
	if (context.getNode().onError !== 'continueErrorOutput') return [];
	const { json } = toErrorItem(outcome.stopped, positionOf(push));
	const details = { ...(isJsonObject(json.details) && json.details), ...countRows(outcome) };
	// n8n would mix the data of a paired row into the item.
	return [{ json: { ...json, details }, pairedItem: [] }];
}

/** n8n's error for a push that stopped: first what to do, then what happened to the rows. */
function pushStopped(
	{ context, parameters }: OperationRun,
	error: unknown,
	push: FinishedPush,
): NodeApiError | NodeOperationError {
	const { outcome, source, notes } = push;
	const { pushed, notPushed } = outcome;
	const nodeError = toNodeError(context.getNode(), error, positionOf(push));
	// Otherwise, there is nothing to report but that nothing was sent.
	const hasResults = pushed.length > 0 || notPushed.size > notPushed.count('not_sent');
	if (!(error instanceof ServiceRejection) && !hasResults) return nodeError;
	const { nextSteps, groups, details } = describeOutcome(outcome, {
		names: source.names,
		isDryRun: orElse(() => parameters.at(0).collection('options').switch('dryRun', false), false),
	});
	const lines = [
		isCanceled(context) ? WHY_CANCELED : '',
		nodeError.description ?? '',
		...[...nextSteps, ...groups].map(displayText),
	].filter((line) => line !== '');
	nodeError.description = lines.join('\n');
	// n8n shows this one on the screen, as HTML. It would join the lines of the description.
	nodeError.context.descriptionTemplate = lines.join('<br>');
	for (const detail of [...details, ...notes]) nodeError.messages.push(displayText(detail));
	return nodeError;
}

/** The error is about all rows, so its message names no item. The index leads to the row where the push stopped. */
function positionOf({ outcome, source }: FinishedPush): { itemIndex: number; of: number } {
	const [stoppedAt = 0] = outcome.notPushed.rowsWith('unknown', 'not_sent');
	return { itemIndex: source.inputOf(stoppedAt), of: 1 };
}
