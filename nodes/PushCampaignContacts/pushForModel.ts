import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { ExplainedError, InvalidInput } from '../core/service/errors';
import { forEveryone } from '../core/service/resolution';
import { isJsonObject } from '../core/values/json';
import { formatOf } from '../core/service/modelFormats';
import { openMemory } from '../host/ledger/executionMemory';
import { hashOf } from '../core/values/hash';
import { counted } from '../core/values/values';
import type { OperationRun } from '../host/run/operations';
import { callerOf } from '../host/caller/caller';
import { runPush } from './push';
import {
	countWith,
	PUSHED_BEFORE_STATUSES,
	type PushOutcome,
	ROW_STATUSES,
	rowsWith,
} from './push/outcome';
import { nameOf, phoneKeyOf } from './push/rows';
import { countRows, pushSummary, summarize, summaryLine } from './push/report';
import {
	addPushHints,
	addPushHintsForModel,
	type FinishedPush,
	notPushedItems,
	requestItems,
} from './pushOutput';
import { readRows } from './readRows';

/**
 * As a tool, a node has one output, so the item contains the rejected rows as well. If a model pushes the same contacts
 * again, their numbers are known, also with other texts.
 */
export async function pushForModel(run: OperationRun): Promise<INodeExecutionData[][]> {
	const { context } = run;
	const push = await runPush(run, await readRows(run), 'requests');
	const { outcome } = push;
	// A model reads the rejected rows.
	addPushHints(context, push, true);
	addPushHintsForModel(context, push);
	const rejected = (await notPushedItems(push, 'requests', ROW_STATUSES)).map(({ json }) => json);
	if (outcome.check !== undefined) {
		// A check has no effect, so the model may push the same contacts afterwards.
		callerOf(context).result.setReadOnly(`${ONLY_CHECKED} ${pushSummary(outcome)}`);
		return [[{ json: { ...summarize(outcome), rejected } }]];
	}
	const { stopped } = outcome;
	const { received, pushed, duplicate } = countRows(outcome);
	const isNobody = pushed === 0;
	const isPartial = stopped !== undefined || pushed + duplicate < received;
	const isOwn = isPushedByRow(context, outcome);
	const isReplay = isNobody && !isPartial && received > 0 && isOwn;
	if (isNobody && !isReplay) throw stopped ?? nobodyPushed(push);
	const requests = requestItems(push).map(({ json }) => json);
	// Nothing was sent if all contacts are in the campaign already.
	const [first = { summary: pushSummary(outcome), totals: countRows(outcome) }, ...others] =
		requests;
	const further = others.length > 0 && { further_requests: others };
	const output = [{ json: { ...first, ...further, rejected } }];
	const happened = pushSummary(outcome);
	const completed = { output, happened, isReplay, repeatable: false, isPartial };
	callerOf(context).result.setCompleted(completed);
	if (isPartial) throw partlyPushed(outcome);
	return [output];
}

/** Whether the row that asks has pushed these contacts, now or before. Another row may have pushed the same numbers. */
function isPushedByRow(context: IExecuteFunctions, outcome: PushOutcome): boolean {
	const { agent } = callerOf(context);
	if (agent === undefined || agent.row.which === 'only') return true;
	const pushes = openMemory(context, 'pushes', isJsonObject, {});
	const contacts = hashOf(outcome.input.rows.map(phoneKeyOf));
	if (countWith(outcome, 'pushed') > 0) pushes[contacts] = true;
	return agent.row.which === 'known' && pushes[contacts] === true;
}

const ONLY_CHECKED = 'Nothing was pushed, because this tool only checks the contacts.';

/** Some contacts are in the campaign, and others aren't. */
function partlyPushed(outcome: PushOutcome): ExplainedError {
	const { stopped } = outcome;
	const summary = summaryLine(outcome);
	if (stopped === undefined) return new ExplainedError('rejected', summary, forEveryone(''));
	const message = `${summary} ${stopped.message}`;
	return new ExplainedError(stopped.outcome, message, stopped.explanation.resolution, stopped);
}

/** Reasons to show to a model. The others are counted. */
const MAX_REASONS = 5;

function nobodyPushed({ outcome }: FinishedPush): ExplainedError {
	const { input, requests, hasRejections } = outcome;
	if (input.rows.length === 0) {
		const give = `Give at least one contact with a phone number. ${formatOf('Contacts')}`;
		return new InvalidInput('No contact was given, so nothing was sent', forEveryone(give));
	}
	const notPushed = rowsWith(outcome, ...ROW_STATUSES);
	const first = notPushed.slice(0, MAX_REASONS);
	const reasons = first.map((row) => `[${nameOf(row)}] ${row.reason}`);
	const more = notPushed.length - first.length;
	if (more > 0) reasons.push(`And ${counted(more, 'more row')}.`);
	const isUnknown = notPushed.some(({ status }) => status === 'unknown');
	const isSent = requests.length > 0 || hasRejections;
	return new ExplainedError(
		isUnknown ? 'unknown' : isSent ? 'rejected' : 'not_sent',
		summaryLine(outcome),
		forEveryone(reasons.join(' ')),
		{ isFinal: countWith(outcome, ...PUSHED_BEFORE_STATUSES) === notPushed.length },
	);
}
