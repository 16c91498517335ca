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
import { InputRowsOfRun } from './inputRows';
import type { PushOutcome } from './push/pushTypes';
import { describeOutcome, hintsFor } from './push/report';
import { countRows } from './push/summary';
import { type FinishedPush, pushedOutput, rejectedItems } from './pushOutput';
import { type Output, readOutput } from './pushSettings';
import { outcomeOfFailedStart, runPush } from './runPush';

/** Pushes the rows. Returns the *Pushed* and *Rejected* outputs. */
export async function pushRows(run: OperationRun): Promise<INodeExecutionData[][]> {
	const input = new InputRowsOfRun(run);
	try {
		return await pushAndOutput(run, input);
	} finally {
		await input.close();
	}
}

async function pushAndOutput(
	run: OperationRun,
	input: InputRowsOfRun,
): Promise<INodeExecutionData[][]> {
	const { context } = run;
	const { output, ...push } = await runPush(run, input).catch(async (error: unknown) => {
		const failed = await outcomeOfFailedStart(context, input, error);
		if (context.continueOnFail()) return { ...failed, output: outputOf(run) };
		throw pushStopped(run, error, failed);
	});
	const { outcome } = push;
	if (outcome.stopped !== undefined && !context.continueOnFail()) {
		throw pushStopped(run, outcome.stopped, push);
	}

	const hints = [...hintsFor(outcome), ...(push.rows.notes ?? [])];
	context.addExecutionHints(...hints.map((hint) => ({ message: displayText(hint) })));
	return [
		[...stoppedItem(context, push), ...(await pushedOutput(push, output))],
		await rejectedItems(push, output),
	];
}

/** *Output*, even if another field of the form can't be read. */
function outputOf({ parameters }: OperationRun): Output {
	try {
		return readOutput(parameters.at(0));
	} catch {
		return 'requests';
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
	const { json } = toErrorItem(outcome.stopped, {
		itemIndex: inputWhereStopped(push),
		of: 1,
	});
	const details = { ...(isJsonObject(json.details) && json.details), ...countRows(outcome) };
	// n8n would mix the data of a paired row into the item.
	return [{ json: { ...json, details }, pairedItem: [] }];
}

/** n8n's error for a push that stopped: first what to do, then what happened to the rows. */
function pushStopped(
	run: OperationRun,
	error: unknown,
	push: FinishedPush,
): NodeApiError | NodeOperationError {
	const { context } = run;
	const { outcome, rows } = push;
	// The error is about all rows, so its message names no item. The index leads to the row where the push stopped.
	const position = { itemIndex: inputWhereStopped(push), of: 1 };
	const nodeError = toNodeError(context.getNode(), error, position);
	if (error instanceof ServiceRejection || hasResults(outcome)) {
		const { nextSteps, groups, details } = describeOutcome(outcome, {
			names: rows.source.names,
			isDryRun: isDryRun(run),
		});
		const advice = nodeError.description ?? '';
		const lines = [
			isCanceled(context) ? WHY_CANCELED : '',
			advice,
			...[...nextSteps, ...groups].map(displayText),
		].filter((line) => line !== '');
		nodeError.description = lines.join('\n');
		// n8n shows this one on the screen, as HTML. It would join the lines of the description.
		nodeError.context.descriptionTemplate = lines.join('<br>');
		for (const detail of [...details, ...(rows.notes ?? [])]) {
			nodeError.messages.push(displayText(detail));
		}
	}
	return nodeError;
}

/** Whether *Dry Run* is on. False if it can't be read, which is the error then. */
function isDryRun({ parameters }: OperationRun): boolean {
	try {
		return parameters.at(0).collection('options').switch('dryRun', false);
	} catch {
		return false;
	}
}

/** Whether there is more to report than that nothing was sent. */
function hasResults({ pushed, rejectedRows }: PushOutcome): boolean {
	return pushed.length > 0 || rejectedRows.size > rejectedRows.count('not_sent');
}

function inputWhereStopped({ outcome, rows }: FinishedPush): number {
	const [stoppedAt = 0] = outcome.rejectedRows.rowsWith('unknown', 'not_sent').slice(0, 1);
	return rows.inputOf(stoppedAt);
}
