import compact from 'lodash/compact';
import { DateTime } from 'luxon';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { asSentence, ExplainedError, NotSent, OutcomeUnknown } from '../../core/service/errors';
import { namesTime } from '../../core/service/modelFormats';
import { whenAborted, pause } from '../../core/values/clock';
import { inEnglish, withOffset } from '../../core/values/dates';
import { isJsonObject, type JsonValue } from '../../core/values/json';
import { clock } from '../clock';
import { type Model, TOOL_LIMITS, USER } from '../caller/caller';
import type { CompletedRequest, RunResult } from '../execution/runResult';
import { messageOf } from '../../core/values/values';

/** The result of a tool request for a model, always with the same fields. */
export type ToolResult = {
	outcome:
		| 'done'
		| 'partly_done' // The rest is in `result.rejected`.
		| 'already_done' // By an earlier equal request, and not repeated.
		| 'unknown' // The request may have taken effect.
		| 'not_read' // A read got no response, and nothing was changed.
		| 'rejected' // By the service.
		| 'not_sent'; // Nothing left n8n.
	what_happened: string;
	next_step: string;
	/** The node's output: one record, a list of records, or null. */
	result: JsonValue;
};

/** A run for a model. */
type ModelRun = { context: IExecuteFunctions; caller: Model; result: RunResult };

/**
 * Runs a node for a model. n8n passes on only the first output, and little or nothing of a thrown error. So every
 * outcome is returned as one item, and nothing is thrown.
 */
export async function runForModel(
	modelRun: ModelRun,
	run: () => Promise<INodeExecutionData[][]>,
): Promise<INodeExecutionData[][]> {
	const { signal } = modelRun.caller.deadline;
	const completed = run().then(
		(outputs) => succeeded(modelRun, outputs.flat()),
		(error: unknown) => failed(modelRun, signal.aborted ? afterTimeout(modelRun, error) : error),
	);
	const ended = new AbortController();
	const timedOut = whenAborted(AbortSignal.any([signal, ended.signal])).then(async () => {
		await pause(clock, TOOL_LIMITS.graceMs, ended.signal);
		return failed(modelRun, unknownAtTimeout());
	});
	const result = await Promise.race([completed, timedOut]).finally(() => ended.abort());
	return [[{ json: withHints(modelRun, result), pairedItem: { item: 0 } }]];
}

/** With what a person sees as a hint. */
function withHints({ result: { hints } }: ModelRun, result: ToolResult): ToolResult {
	const happened = hints.map(({ message }) => asSentence(message));
	const next = hints.map(({ resolution }) => resolution);
	if (next.some(isForOwner)) next.push(FOR_THE_OWNER);
	return {
		...result,
		what_happened: compact([result.what_happened, ...happened]).join(' '),
		next_step: compact([result.next_step, ...next]).join(' '),
	};
}

const TIMED_OUT = `Timed out after ${TOOL_LIMITS.wholeMs / 1_000} seconds`;

function unknownAtTimeout(): OutcomeUnknown {
	return new OutcomeUnknown(TIMED_OUT, '');
}

/** Keeps an error that has the outcome of the request. Any other error is a consequence of the timeout. */
function afterTimeout({ result }: ModelRun, error: unknown): unknown {
	if (result.completed?.isPartial === true) return error;
	if (!(error instanceof ExplainedError)) return unknownAtTimeout();
	if (error.outcome !== 'not_sent') return error;
	return new NotSent(`${TIMED_OUT}, and nothing was sent`, '');
}

const CONTINUE = 'Continue with the result.';
const DO_NOT_REPEAT = 'Do not repeat this request.';

function succeeded({ caller, result }: ModelRun, items: INodeExecutionData[]): ToolResult {
	const { completed, readSummary = 'The data was read.' } = result;
	if (completed === undefined) return toolResult('done', readSummary, CONTINUE, items);
	const { isReplay, repeatable, happened, nextStep } = completed;
	const outcome = isReplay ? 'already_done' : 'done';
	const hasTimedOut = items.some(({ json }) => json.timed_out === true);
	if (hasTimedOut) return toolResult(outcome, ...inProgress(caller, completed), items);
	if (isReplay) {
		const earlier = 'An earlier request already did this. It was not done again.';
		return toolResult(outcome, `${happened} ${earlier}`, nextStep ?? CONTINUE, items);
	}
	const next = repeatable
		? 'You can send another request. Repeating this one would do it a second time.'
		: DO_NOT_REPEAT;
	return toolResult(outcome, happened, nextStep ?? `${CONTINUE} ${next}`, items);
}

/** For a request that was sent and hasn't ended: a call in progress, or a message without a reply so far. */
function inProgress(
	{ mcpSession }: Model,
	{ isReplay, output }: CompletedRequest,
): [happened: string, next: string] {
	if (!output.some(({ json }) => 'call_id' in json)) {
		return [
			`The message was sent${isReplay ? ' before' : ''}. No reply arrived in time.`,
			'The reply may still arrive. Do not send this message again. You can send the next one.',
		];
	}
	const placed = isReplay ? 'before, and was not placed again' : 'and may still be in progress';
	return [
		`The call was placed ${placed}. Its end was not confirmed in time.`,
		mcpSession === ''
			? `${DO_NOT_REPEAT} It would place a second call. Read this call later by its ID.`
			: 'Repeat this request to wait longer. No second call is placed.',
	];
}

const ONLY_A_PART = `Only a part was completed. The rest is in 'rejected' of the result, with the reasons. Tell ${USER} about it.`;
const MAYBE_DONE = `${DO_NOT_REPEAT} It may have taken effect. Tell ${USER} that the outcome is unknown.`;

function failed({ context, caller, result }: ModelRun, thrown: unknown): ToolResult {
	const { completed, readSummary } = result;
	const error = explainedToModel(thrown);
	const advice = adviceIn(context, error);
	const happened = happenedIn(error);
	// An earlier part of the request was completed, such as a call that can't be waited for.
	if (completed !== undefined && completed.isPartial !== true) {
		const [before, next] = inProgress(caller, completed);
		const done = completed.isReplay ? 'already_done' : 'done';
		return toolResult(done, `${before} ${happened}`, `${advice} ${next}`, completed.output);
	}
	const isRead = readSummary !== undefined;
	const isUnknown = error.outcome === 'unknown' && !isRead;
	const failure = error.outcome === 'unknown' ? 'not_read' : error.outcome;
	const outcome = isUnknown ? 'unknown' : completed === undefined ? failure : 'partly_done';
	const part = completed && ONLY_A_PART;
	const next = compact([
		advice,
		part ?? (!isUnknown && 'Nothing was done.'),
		isUnknown ? MAYBE_DONE : nextStep(error),
	]);
	const text = error.isFinal ? advice : next.join(' ');
	return toolResult(outcome, happened, text, completed?.output ?? null);
}

/** What to do. With the current time if it's about one, such as "tomorrow at 10:00". */
function adviceIn(context: IExecuteFunctions, { message, resolution }: ExplainedError): string {
	if (!namesTime(message)) return resolution;
	const now = DateTime.fromMillis(clock.now(), { zone: context.getTimezone() });
	return `${resolution} It is now ${inEnglish(now, 'cccc')}, ${withOffset(now)}.`;
}

/** What a model can do about what wasn't done. */
function nextStep({ isTransient, resolution }: ExplainedError): string {
	if (isTransient) return 'Wait for a minute, then repeat what was not done.';
	if (isForOwner(resolution)) return FOR_THE_OWNER;
	return `Request again only what you can correct. Tell ${USER} about the rest.`;
}

const FOR_THE_OWNER = `Tell ${USER} that the person who set up this tool must fix this.`;
const isForOwner = (resolution: string) => resolution.startsWith('In n8n,');

/** @param items the node's output, or null if there is none */
function toolResult(
	outcome: ToolResult['outcome'],
	happened: string,
	next: string,
	items: INodeExecutionData[] | null,
): ToolResult {
	const records = items?.map(({ json }) => json).filter(isJsonObject) ?? null;
	const [record = null] = records ?? [];
	const result = records?.length === 1 ? record : records;
	return { outcome, what_happened: happened, next_step: next.trim(), result };
}

/** n8n's own error, such as a deleted credential, is thrown before anything is sent. */
function explainedToModel(error: unknown): ExplainedError {
	if (error instanceof ExplainedError) return error;
	const resolution = 'In n8n, check the node of this tool.';
	return new NotSent(messageOf(error), resolution, { isTransient: false });
}

/** With the words of the service, or the code of the network. */
function happenedIn({ message, originalMessage: words }: ExplainedError): string {
	return asSentence(words === undefined ? message : `${message} (${words})`);
}
