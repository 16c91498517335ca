import type { INodeExecutionData } from 'n8n-workflow';
import { ExplainedError, InvalidInput } from '../core/service/errors';
import { forEveryone } from '../core/service/resolution';
import { givenAs } from '../core/service/modelFormats';
import { openValues } from '../host/ledger/executionMemory';
import { hashOf } from '../core/values/hash';
import { counted } from '../core/values/values';
import type { OperationRun } from '../host/run/operations';
import { runPush } from './push';
import { PUSHED_BEFORE_STATUSES, ROW_STATUSES } from './push/outcome';
import { DUPLICATE_BEFORE } from './push/prepareRows';
import { SENT_BEFORE } from './push/pushedNumbers';
import { flatReport, type Report } from './push/report';
import { nameOf, phoneKeyOf } from './push/rows';
import { addPushHints, addPushHintsForModel, notPushedItems, requestItems } from './pushOutput';
import { readRows } from './readRows';

/**
 * As a tool, a node has one output, so the item contains the rejected rows as well. If a model pushes the same contacts
 * again, their numbers are known, also with other texts.
 */
export async function pushForModel(run: OperationRun): Promise<INodeExecutionData[][]> {
	const { context, result } = run;
	const report = await runPush(run, await readRows(run), 'requests');
	const { input, rows, check, stopped, summary, totals } = report;
	// A model reads the rejected rows.
	addPushHints(context, report, true);
	addPushHintsForModel(result, report);
	const rejected = (await notPushedItems(report, 'requests', ROW_STATUSES)).map(({ json }) => json);
	if (check !== undefined) {
		// A check has no effect, so the model may push the same contacts afterwards.
		result.setReadOnly(`${ONLY_CHECKED} ${summary}`);
		return [[{ json: { ...flatReport(report), rejected } }]];
	}
	const { length: received } = input.rows;
	const isNobody = rows.count('pushed') === 0;
	const hasDuplicate = (why: string) => rows.with('duplicate').some(({ reason }) => reason === why);
	const isPartial =
		stopped !== undefined ||
		rows.count('pushed', 'duplicate') < received ||
		// Its number may be in no campaign.
		hasDuplicate(DUPLICATE_BEFORE);
	const isOwn = isPushedByRow(run, report);
	const isReplay = isNobody && !isPartial && hasDuplicate(SENT_BEFORE) && isOwn;
	if (isNobody && !isReplay)
		throw stopped === undefined ? nobodyPushed(report) : partlyPushed(report);
	// Nothing was sent if all contacts are in the campaign already.
	const [first = { summary, totals }, ...others] = requestItems(report).map(({ json }) => json);
	const further = others.length > 0 && { further_requests: others };
	const output = [{ json: { ...first, ...further, rejected } }];
	const completed = { output, happened: summary, isReplay, repeatable: false, isPartial };
	result.setCompleted(completed);
	if (isPartial) throw partlyPushed(report);
	return [output];
}

/** Whether the row that asks has pushed these contacts, now or before. Another row may have pushed the same numbers. */
function isPushedByRow(run: OperationRun, { input, rows }: Report): boolean {
	const { agent } = run.caller;
	if (agent === undefined || agent.row.which === 'only') return true;
	const pushes = openValues(run, 'pushes');
	const contacts = hashOf(input.rows.map(phoneKeyOf));
	if (rows.count('pushed') > 0) pushes[contacts] = true;
	return agent.row.which === 'known' && pushes[contacts] === true;
}

const ONLY_CHECKED = 'Nothing was pushed, because this tool only checks the contacts.';

/** Some contacts may be in the campaign, such as by an earlier request, and others aren't. */
function partlyPushed({ stopped, line, rows }: Report): ExplainedError {
	if (stopped === undefined) return new ExplainedError('rejected', line, forEveryone(''));
	const outcome = rows.count('unknown') > 0 ? 'unknown' : stopped.outcome;
	const message = `${line} ${stopped.message}`;
	return new ExplainedError(outcome, message, stopped.explanation.resolution, stopped);
}

/** Reasons to show to a model. The others are counted. */
const MAX_REASONS = 5;

function nobodyPushed({ input, rows, requests, line }: Report): ExplainedError {
	if (input.rows.length === 0) {
		const give = 'Give at least one contact with a phone number.';
		const resolution = givenAs('Contacts', give, give);
		return new InvalidInput('No contact was given, so nothing was sent', resolution);
	}
	const notPushed = rows.with(...ROW_STATUSES);
	const first = notPushed.slice(0, MAX_REASONS);
	const reasons = first.map((row) => `[${nameOf(row)}] ${row.reason}`);
	const more = notPushed.length - first.length;
	if (more > 0) reasons.push(`And ${counted(more, 'more row')}.`);
	// A row that the node itself rejects has no phone.
	const isSent = requests.length > 0 || rows.with('rejected').some(({ phone }) => phone !== '');
	return new ExplainedError(
		rows.count('unknown') > 0 ? 'unknown' : isSent ? 'rejected' : 'not_sent',
		line,
		forEveryone(reasons.join(' ')),
		{ isFinal: rows.count(...PUSHED_BEFORE_STATUSES) === notPushed.length },
	);
}
