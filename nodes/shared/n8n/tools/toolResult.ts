import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { asSentence, ExplainedError, type Outcome, withoutQuotation } from '../../api/errors';
import { FOR_THE_OWNER, forEveryone, USER } from '../../api/resolution';
import { whenAborted, pause } from '../../clock';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json';
import { clock } from '../http/accountClient';
import { type CompletedRequest, mcpSessionOf, toolRunOf } from './toolRun';
import { startDeadline, TOOL_LIMITS } from './toolDeadline';
import { displayText, messageOf } from '../../values';

/** The result of a tool request for a model, always with the same fields. */
export type ToolResult = {
	/**
	 * - `done`
	 * - `partly_done`: the rest is in `result.rejected`
	 * - `already_done`: by an earlier equal request, and not repeated
	 * - `timed_out`: a wait ended early, and nothing was changed
	 * - `unknown`: the request may have taken effect
	 * - `not_read`: a read got no response, and nothing was changed
	 * - `rejected`: by the service
	 * - `not_sent`: nothing left n8n
	 */
	outcome:
		| 'done'
		| 'partly_done'
		| 'already_done'
		| 'timed_out'
		| 'unknown'
		| 'not_read'
		| 'rejected'
		| 'not_sent';
	what_happened: string;
	next_step: string;
	/** ID of the call, contact list, chat session, or entry. Null if there is none. */
	id: JsonValue;
	service_said: string | null;
	/** The node's output: one record, a list of records, or null. */
	result: JsonValue;
};

type Texts = Pick<ToolResult, 'what_happened' | 'next_step'>;

/** The service's ID fields, the most specific first. */
const IDS = ['call_id', 'campaign_upload_id', 'session_id', 'id'];

const DO_NOT_REPEAT = 'Do not repeat this request.';
const CONTINUE = 'Continue with the result.';

/**
 * Runs a node for a model. n8n passes on only the first output, and little or nothing of a thrown error. So every
 * outcome is returned as one item, and nothing is thrown.
 */
export async function runForModel(
	context: IExecuteFunctions,
	run: () => Promise<INodeExecutionData[][]>,
): Promise<INodeExecutionData[][]> {
	const { signal } = startDeadline(context, clock);
	const completed = run().then(
		(outputs) => succeeded(context, outputs.flat()),
		(error: unknown) => failed(context, signal.aborted ? afterTimeout(context, error) : error),
	);
	const ended = new AbortController();
	const timedOut = whenAborted(AbortSignal.any([signal, ended.signal])).then(async () => {
		await pause(clock, TOOL_LIMITS.graceMs, ended.signal);
		return failed(context, new ToolTimeout('unknown'));
	});
	const result = await Promise.race([completed, timedOut]).finally(() => ended.abort());
	return [[{ json: result, pairedItem: { item: 0 } }]];
}

/** The tool reached its time limit. */
class ToolTimeout extends ExplainedError {
	override readonly name = 'ToolTimeout';

	constructor(readonly outcome: Outcome) {
		const seconds = Math.round(TOOL_LIMITS.wholeMs / 1_000);
		const effect = outcome === 'not_sent' ? ', and nothing was sent' : '';
		super(`Timed out after ${seconds} seconds${effect}`, forEveryone(''), { isTransient: true });
	}
}

/** Keeps an error that has the outcome of the request. Any other error is a consequence of the timeout. */
function afterTimeout(context: IExecuteFunctions, error: unknown): unknown {
	if (toolRunOf(context).completed?.isPartial === true) return error;
	if (!(error instanceof ExplainedError)) return new ToolTimeout('unknown');
	return error.outcome === 'not_sent' ? new ToolTimeout('not_sent') : error;
}

function succeeded(context: IExecuteFunctions, items: INodeExecutionData[]): ToolResult {
	const { completed, readSummary } = toolRunOf(context);
	const outcome = completed?.isReplay === true ? 'already_done' : 'done';
	const isTimedOut = items.some(hasTimedOut);
	if (completed === undefined || readSummary !== undefined) {
		if (isTimedOut) return { outcome: 'timed_out', ...WAITED, ...resultOf(items) };
		const happened = readSummary ?? 'The data was read.';
		return { outcome, what_happened: happened, next_step: CONTINUE, ...resultOf(items) };
	}
	if (isTimedOut) return { outcome, ...begun(context, completed, items), ...resultOf(items) };
	return { outcome, ...doneTexts(completed), ...resultOf(items) };
}

/** Whether a wait timed out. */
function hasTimedOut({ json }: INodeExecutionData): boolean {
	return json.timed_out === true || json.wait_outcome === 'timed_out';
}

const WAITED: Texts = {
	what_happened: 'The wait timed out before this happened. Nothing was changed.',
	next_step: 'The result is the state at that time. Repeat this request to wait longer.',
};
const ONLY_A_PART =
	"Only a part was completed. The rest is in 'rejected' of the result, with the reasons.";

function doneTexts({ isReplay, repeatable }: CompletedRequest): Texts {
	if (isReplay) {
		const happened = 'An earlier request already did this. It was not done again.';
		return { what_happened: happened, next_step: CONTINUE };
	}
	const next = repeatable
		? 'You can send another request. Repeating this one would do it a second time.'
		: DO_NOT_REPEAT;
	return { what_happened: 'The request was completed.', next_step: `${CONTINUE} ${next}` };
}

/** For a request that was sent and hasn't ended: a call in progress, or a message without a reply so far. */
function begun(
	context: IExecuteFunctions,
	{ isReplay }: CompletedRequest,
	items: INodeExecutionData[],
): Texts {
	const isCall = items.some(({ json }) => 'call_id' in json);
	if (!isCall) {
		return {
			what_happened: `The message was sent${isReplay ? ' before' : ''}. No reply arrived in time.`,
			next_step:
				'The reply may still arrive. Do not send this message again. You can send the next one.',
		};
	}
	const placed = isReplay ? 'before, and was not placed again' : 'and may still be in progress';
	return {
		what_happened: `The call was placed ${placed}. Its end was not confirmed in time.`,
		// Without a session ID, an MCP client isn't recognized, and its next request would place a second call.
		next_step:
			mcpSessionOf(context) === ''
				? `${DO_NOT_REPEAT} It would place a second call. Read this call later by its ID.`
				: 'Repeat this request to wait longer. No second call is placed.',
	};
}

function failed(context: IExecuteFunctions, error: unknown): ToolResult {
	const { completed, readSummary } = toolRunOf(context);
	const isRead = readSummary !== undefined;
	const failure = explain(error);
	hintForOwner(context, error);
	if (completed?.isPartial === true) {
		return {
			outcome: failure.outcome === 'unknown' ? 'unknown' : 'partly_done',
			what_happened: asSentence(failure.message),
			next_step: `${failure.advice} ${nextPart(failure)}`.trim(),
			...resultOf(completed.output),
			service_said: failure.originalMessage,
		};
	}
	// An earlier part of the request was completed, such as a call that can't be waited for.
	if (completed !== undefined && !isRead) {
		const { what_happened: happened, next_step: next } = begun(
			context,
			completed,
			completed.output,
		);
		return {
			outcome: completed.isReplay ? 'already_done' : 'done',
			what_happened: `${happened} ${asSentence(failure.message)}`,
			next_step: `${failure.advice} ${next}`.trim(),
			...resultOf(completed.output),
		};
	}
	const next = isRead ? nextRead(failure) : nextRequest(failure);
	return {
		outcome: isRead && failure.outcome === 'unknown' ? 'not_read' : failure.outcome,
		what_happened: asSentence(failure.message),
		next_step: `${failure.advice} ${next}`.trim(),
		id: null,
		service_said: failure.originalMessage,
		result: null,
	};
}

const LATER = 'Wait for a minute, or as long as the service asks, then repeat this request.';

/** A read may always be repeated. */
function nextRead({ isTransient, isForOwner }: Failure): string {
	if (isForOwner) return `Nothing was changed. ${FOR_THE_OWNER}`;
	if (isTransient) return `Nothing was changed. ${LATER}`;
	return 'Nothing was changed. You can repeat this request, also with other values.';
}

/** For a request of which a part was completed and must not be repeated. */
function nextPart({ outcome, isTransient, isForOwner }: Failure): string {
	if (outcome === 'unknown') {
		return `${ONLY_A_PART} Do not repeat this request, because more may have been completed. Tell ${USER} what is unknown.`;
	}
	if (isForOwner) return `${ONLY_A_PART} ${FOR_THE_OWNER}`;
	return isTransient
		? `${ONLY_A_PART} Wait for a minute, or as long as the service asks, then request only the rest.`
		: `${ONLY_A_PART} Tell ${USER} which part was not completed. Request again only what you can correct.`;
}

function nextRequest({ outcome, isTransient, isForOwner, isFinal }: Failure): string {
	if (isFinal) return '';
	if (outcome === 'unknown') {
		return `Do not repeat this request, because it may have taken effect. Tell ${USER} that the outcome is unknown.`;
	}
	if (isForOwner) return `Nothing was done. ${FOR_THE_OWNER}`;
	if (isTransient) return `Nothing was done. ${LATER}`;
	return outcome === 'rejected'
		? 'Nothing was done. Do not repeat this request unchanged.'
		: 'Nothing was sent. Correct this, then send the request again.';
}

function resultOf(items: INodeExecutionData[]): Pick<ToolResult, 'id' | 'service_said' | 'result'> {
	const records = items.map(({ json }) => json).filter(isJsonObject);
	const [record = {}] = records;
	if (records.length !== 1) return { id: null, service_said: null, result: records };
	const id = IDS.map((name) => record[name]).find((value) => value !== undefined) ?? null;
	return { id, service_said: messageIn(record), result: record };
}

/** The message or warnings beside the data of a successful response. */
function messageIn({ message, warnings }: JsonObject): string | null {
	if (typeof message === 'string') return message;
	if (!Array.isArray(warnings) || warnings.length === 0) return null;
	return warnings.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join(' ');
}

/** An error as shown to a model. */
type Failure = {
	outcome: Outcome;
	message: string;
	/** Empty if a model can't fix it. */
	advice: string;
	/** Whether only the person who set up the tool can fix it. */
	isForOwner: boolean;
	isTransient: boolean;
	isFinal: boolean;
	originalMessage: string | null;
};

/** Advice that the model doesn't get. The person who set up the tool finds it in the execution. */
export function hintForOwner(context: IExecuteFunctions, error: unknown): void {
	if (!(error instanceof ExplainedError) || !explain(error).isForOwner) return;
	const message = displayText(`${asSentence(error.message)} ${error.resolution}`);
	context.addExecutionHints({ message });
}

/** The message and advice for a model, if n8n passes on only a text. */
export function failureForModel(error: unknown): string {
	const { message, advice, isForOwner, originalMessage } = explain(error);
	const texts = [asSentence(message), isForOwner ? FOR_THE_OWNER : advice];
	if (originalMessage !== null) texts.push(`The service said: ${asSentence(originalMessage)}`);
	return texts.filter((text) => text !== '').join(' ');
}

function explain(error: unknown): Failure {
	if (error instanceof ExplainedError) {
		const { message, originalMessage = null, origin, isTransient, resolution } = error;
		const advice = error.resolutionForModel;
		const byService = origin === 'service' || origin === 'response';
		return {
			outcome: error.outcome,
			message:
				byService || originalMessage === null
					? withoutQuotation(message, originalMessage ?? '')
					: `${message} (${originalMessage})`,
			advice,
			isForOwner: resolution !== '' && advice === '' && !isTransient,
			isTransient,
			isFinal: error.isFinal,
			originalMessage: byService ? originalMessage : null,
		};
	}
	// n8n's own error, such as a deleted credential. It's thrown before anything is sent.
	return {
		outcome: 'not_sent',
		message: messageOf(error),
		advice: '',
		isForOwner: true,
		isTransient: false,
		isFinal: false,
		originalMessage: null,
	};
}
