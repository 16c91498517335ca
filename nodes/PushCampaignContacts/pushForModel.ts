import type { INodeExecutionData } from 'n8n-workflow';
import { ExplainedError, InvalidInput } from '../core/service/errors';
import { forEveryone } from '../core/service/resolution';
import { givenAs } from '../core/service/modelFormats';
import { counted } from '../core/values/values';
import type { OperationRun } from '../host/run/operations';
import { runPush } from './push';
import { ROW_STATUSES } from './push/outcome';
import { DUPLICATE_BEFORE } from './push/prepareRows';
import { flatReport, type Report } from './push/report';
import { nameOf } from './push/rows';
import { addPushHints, addPushHintsForModel, notPushedItems, requestItems } from './pushOutput';
import { readRows } from './readRows';

/**
 * As a tool, a node has one output, so the item contains the rejected rows as well.
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
	// Its number may be in no campaign.
	const isLeftOut = rows.with('duplicate').some(({ reason }) => reason === DUPLICATE_BEFORE);
	const isPartial =
		stopped !== undefined ||
		rows.count('pushed', 'duplicate', 'sent_before') < received ||
		isLeftOut;
	if (isNobody) throw stopped === undefined ? nobodyPushed(report) : partlyPushed(report);
	const [first = { summary, totals }, ...others] = requestItems(report).map(({ json }) => json);
	const further = others.length > 0 && { further_requests: others };
	const output = [{ json: { ...first, ...further, rejected } }];
	const completed = { output, happened: summary, isReplay: false, repeatable: false, isPartial };
	result.completed = completed;
	if (isPartial) throw partlyPushed(report);
	return [output];
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
		{ isFinal: rows.count('sent_before') === notPushed.length },
	);
}
