import uniq from 'lodash/uniq';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import {
	ExplainedError,
	OutcomeUnknown,
	type Outcome,
	type ErrorOrigin,
} from '../shared/api/errors';
import { forEveryone } from '../shared/api/resolution';
import { formOf } from '../shared/modelForms';
import { requireShallow } from '../shared/n8n/forms/fieldValue';
import { sendEachItem } from '../shared/n8n/run/sendLoop';
import type { OperationRun } from '../shared/n8n/run/operations';
import { noteCompleted, noteReadOnly } from '../shared/n8n/tools/toolRun';
import { InputRowsOfRun } from './inputRows';
import type { PushOutcome } from './push/pushTypes';
import { countRows, dryRunSummary, summaryLine } from './push/summary';
import { type FinishedPush, pushedItems, rejectedItems } from './pushOutput';
import { readPushSettings } from './pushSettings';
import { runPush } from './runPush';

/** As a tool, a node has one output, so the item contains the rejected rows as well. */
export async function pushForModel(run: OperationRun): Promise<INodeExecutionData[][]> {
	const { context } = run;
	const input = new InputRowsOfRun(run);
	const settings = await readPushSettings(run);
	if (settings.dryRun) return await performDryRunForModel(run, input);
	const inputRows = await input.open();
	const rows = requireShallow(await inputRows.output([...Array(inputRows.source.count).keys()]));
	// The same number with other texts is a new request, but the number is in the campaign already.
	const earlier = { isKnown: false };
	const send = async () => {
		const push = await runPush(run, input);
		const { outcome } = push;
		earlier.isKnown = outcome.hasSent !== true;
		const pushed = await itemForModel(push);
		if (outcome.stopped !== undefined) {
			if (countRows(outcome).pushed === 0) throw outcome.stopped;
			noteCompleted(context, {
				output: pushed,
				isReplay: false,
				repeatable: false,
				isPartial: true,
			});
			throw withCounts(outcome.stopped, outcome);
		}
		const isNew = outcome.rejectedRows.size > outcome.rejectedRows.count('duplicate');
		const isInCampaign = earlier.isKnown && !isNew && outcome.received > 0;
		const isNobody = outcome.pushed.every((request) => request.rows.size === 0);
		if (isNobody && !isInCampaign) throw nobodyPushed(outcome);
		return pushed;
	};
	const createDeps = async () => await Promise.resolve();
	const output = await sendEachItem(
		context,
		() => ({
			payload: { settings, rows },
			// The push records its own requests.
			target: undefined,
			send,
		}),
		{
			createDeps,
		},
	);
	if (earlier.isKnown) noteCompleted(context, { output, isReplay: true, repeatable: false });
	return [output];
}

/** The responses to all requests, and the rejected rows. */
async function itemForModel(push: FinishedPush): Promise<INodeExecutionData[]> {
	const [first, ...others] = pushedItems(push).map(({ json }) => json);
	const rejected = await rejectedForModel(push);
	const further = others.length > 0 && { further_requests: others };
	return [{ json: { ...first, ...further, rejected } }];
}

/** A dry run has no effect, so the model may push the same contacts afterwards. */
async function performDryRunForModel(
	run: OperationRun,
	input: InputRowsOfRun,
): Promise<INodeExecutionData[][]> {
	noteReadOnly(run.context);
	const push = await runPush(run, input);
	const rejected = await rejectedForModel(push);
	const bound =
		push.outcome.readyIsUpperBound === true
			? ' The ready contacts may include numbers that were pushed before.'
			: '';
	noteReadOnly(
		run.context,
		`Nothing was pushed, because this tool only checks the contacts. ${summaryLine(push.outcome)}${bound}`,
	);
	return [[{ json: { ...dryRunSummary(push.outcome), rejected } }]];
}

async function rejectedForModel(push: FinishedPush): Promise<IDataObject[]> {
	const items = await rejectedItems(push, 'requests');
	return items.map(({ json }) => json);
}

/** Nobody is called for what a model pushed. The description has the reasons. */
class NobodyPushed extends ExplainedError {
	override readonly name = 'NobodyPushed';

	constructor(
		message: string,
		description: string,
		readonly outcome: Outcome,
		override readonly isFinal = false,
	) {
		super(message, forEveryone(description));
	}
}

/** The error of a push that stopped after it pushed rows. */
class PushStopped extends ExplainedError {
	override readonly name = 'PushStopped';
	readonly outcome: Outcome;
	override readonly isTransient: boolean;
	override readonly origin: ErrorOrigin;

	constructor(message: string, cause: ExplainedError) {
		super(message, cause.explanation.resolution, cause.originalMessage);
		this.outcome = cause.outcome;
		this.isTransient = cause.isTransient;
		this.origin = cause.origin;
	}
}

function withCounts(stopped: ExplainedError, outcome: PushOutcome): ExplainedError {
	const message = `${summaryLine(outcome)} ${stopped.message}`;
	return stopped instanceof OutcomeUnknown
		? stopped.withText({ message })
		: new PushStopped(message, stopped);
}

function nobodyPushed(outcome: PushOutcome): NobodyPushed {
	if (outcome.received === 0) {
		const give = `Give at least one contact with a phone number. ${formOf('Contacts')}`;
		return new NobodyPushed('No contact was given, so nothing was sent', give, 'not_sent');
	}
	const reasons = uniq(Array.from(outcome.rejectedRows, ({ reason }) => reason));
	const isUnknown = outcome.rejectedRows.count('unknown') > 0;
	const isSent = outcome.pushed.length > 0 || outcome.hasRejections === true;
	return new NobodyPushed(
		summaryLine(outcome),
		reasons.join(' '),
		isUnknown ? 'unknown' : isSent ? 'rejected' : 'not_sent',
		outcome.rejectedRows.count('pushed_before') === outcome.rejectedRows.size,
	);
}
