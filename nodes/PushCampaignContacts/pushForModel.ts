import mapValues from 'lodash/mapValues';
import omit from 'lodash/omit';
import pickBy from 'lodash/pickBy';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { ExplainedError, InvalidInput } from '../core/service/errors';
import { isJsonObject } from '../core/values/json';
import { counted } from '../core/values/values';
import type { OperationRun } from '../host/run/operations';
import { addPushHints, asHint, rowItems } from './output';
import { runPush } from './push';
import { nameOf, ROW_STATUSES } from './push/rows';
import { readRows } from './readRows';
import { countOf, flatReport, lineOf, notesOn, type Report, rowsWith, summaryOf } from './report';

/**
 * As a tool, a node has one output, so the item contains the rejected rows as well.
 */
export async function pushForModel(run: OperationRun): Promise<INodeExecutionData[][]> {
	const { context, result } = run;
	const report = await runPush(run, await readRows(run));
	const { input, check, stopped } = report;
	// A model reads the rejected rows.
	addPushHints(context, report, true);
	result.addHintsForModel(...report.hints, ...notesOn(report).map(asHint));
	const rejected = (await rowItems(report, ROW_STATUSES)).map(({ json }) => json);
	const output = [{ json: withoutZeros({ ...omit(flatReport(report), 'summary'), rejected }) }];
	const summary = summaryOf(report);
	if (check !== undefined) {
		// A check has no effect, so the model may push the same contacts afterwards.
		result.setReadOnly(`${ONLY_CHECKED} ${summary}`);
		return [output];
	}
	const isNobody = countOf(report, 'pushed') === 0;
	if (isNobody) throw stopped === undefined ? nobodyPushed(report) : partlyPushed(report);
	const done = countOf(report, 'pushed', 'duplicate', 'sent_before');
	const isPartial = stopped !== undefined || done < input.rows.length;
	const completed = { output, happened: summary, isReplay: false, repeatable: false, isPartial };
	result.completed = completed;
	if (isPartial) throw partlyPushed(report);
	return [output];
}

/** A model reads what happened in a sentence, and each number costs it tokens. */
function withoutZeros(report: IDataObject): IDataObject {
	const all = mapValues(report, (value) => (isJsonObject(value) ? pickBy(value) : value));
	return pickBy(all, (value) => value !== 0 && !(Array.isArray(value) && value.length === 0));
}

const ONLY_CHECKED = 'Nothing was pushed, because this tool only checks the contacts.';

/** Some contacts may be in the campaign, such as by an earlier request, and others aren't. */
function partlyPushed(report: Report): ExplainedError {
	const { stopped } = report;
	const line = lineOf(report);
	if (stopped === undefined) return new ExplainedError('rejected', line, '');
	const outcome = countOf(report, 'unknown') > 0 ? 'unknown' : stopped.outcome;
	const message = `${line} ${stopped.message}`;
	return new ExplainedError(outcome, message, stopped.resolution, stopped);
}

/** Reasons to show to a model. The others are counted. */
const MAX_REASONS = 5;

function nobodyPushed(report: Report): ExplainedError {
	const { input, requests } = report;
	if (input.rows.length === 0) {
		return new InvalidInput(
			'No contact was given, so nothing was sent',
			'Give at least one contact with a phone number.',
		);
	}
	const notPushed = rowsWith(report, ROW_STATUSES);
	const first = notPushed.slice(0, MAX_REASONS);
	const reasons = first.map((row) => `[${nameOf(row)}] ${row.reason}`);
	const more = notPushed.length - first.length;
	if (more > 0) reasons.push(`And ${counted(more, 'more row')}.`);
	// A row that the node itself rejects has no phone.
	const isSent =
		requests.length > 0 || rowsWith(report, ['rejected']).some(({ phone }) => phone !== '');
	return new ExplainedError(
		countOf(report, 'unknown') > 0 ? 'unknown' : isSent ? 'rejected' : 'not_sent',
		lineOf(report),
		reasons.join(' '),
		{ isFinal: countOf(report, 'sent_before') === notPushed.length },
	);
}
