import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { asSentence, ExplainedError, type Outcome } from '../../api/errors';
import { FOR_THE_OWNER, forEveryone, USER } from '../../api/modelAdvice';
import { whenAborted, pause } from '../../clock';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json';
import { clock } from '../http/accountClient';
import { completedIn, isReadOnly, mcpSessionOf, readOf, type CompletedRequest } from './toolRun';
import { startDeadline, TOOL_LIMITS } from './toolDeadline';

/** What a model is told of a tool that it called, always in the same words and fields. */
export type ToolResult = {
	/**
	 * `done` · `partly_done` the rest is in `result.rejected` · `already_done` earlier, by the same request, and not a second
	 * time · `timed_out` a wait that ended too early, nothing was changed · `unknown` it may have been done · `not_read` a read
	 * that got no response, nothing was changed · `rejected` by the service · `not_sent` nothing left n8n
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
	/** Of the call, the contact list, the chat session or the entry; null where there is none. */
	id: JsonValue;
	service_said: string | null;
	/** What the node puts out: one record, a list of records, or null. */
	result: JsonValue;
};

/** What happened, and what to do. */
type Words = Pick<ToolResult, 'what_happened' | 'next_step'>;

/** The names that the service gives its IDs, the most telling first. */
const IDS = ['call_id', 'campaign_upload_id', 'session_id', 'id'];

const NOT_AGAIN = 'Do not ask for the same again.';
const GO_ON = 'Go on with the result.';

/**
 * Runs a node for a model. n8n hands on the first output alone and of what is thrown a sentence or
 * nothing, so whatever happens is told in one item, and nothing is thrown.
 */
export async function runForModel(
	context: IExecuteFunctions,
	run: () => Promise<INodeExecutionData[][]>,
): Promise<INodeExecutionData[][]> {
	const { signal } = startDeadline(context, clock);
	const answering = run().then(
		(outputs) => succeeded(context, outputs.flat()),
		(error: unknown) => failed(context, signal.aborted ? late(context, error) : error),
	);
	const over = new AbortController();
	const givenUp = whenAborted(AbortSignal.any([signal, over.signal])).then(async () => {
		await pause(clock, TOOL_LIMITS.graceMs, over.signal);
		return failed(context, new ToolTimeout('unknown'));
	});
	const answer = await Promise.race([answering, givenUp]).finally(() => over.abort());
	return [[{ json: answer, pairedItem: { item: 0 } }]];
}

/** The time of the tool was over. */
class ToolTimeout extends ExplainedError {
	override readonly name = 'ToolTimeout';
	override readonly isTransient = true;

	constructor(readonly outcome: Outcome) {
		const seconds = Math.round(TOOL_LIMITS.wholeMs / 1_000);
		const so = outcome === 'not_sent' ? ', so it was given up and nothing was sent' : '';
		super(`It was not over after ${seconds} seconds${so}`, forEveryone(''));
	}
}

/** What is known of the request stands; all else broke off because the time was over. */
function late(context: IExecuteFunctions, error: unknown): unknown {
	if (completedIn(context)?.isPartial === true) return error;
	if (!(error instanceof ExplainedError)) return new ToolTimeout('unknown');
	return error.outcome === 'not_sent' ? new ToolTimeout('not_sent') : error;
}

function succeeded(context: IExecuteFunctions, items: INodeExecutionData[]): ToolResult {
	const completedText = completedIn(context);
	const outcome = completedText?.isReplay === true ? 'already_done' : 'done';
	const isTimedOut = items.some(hasTimedOut);
	if (completedText === undefined || isReadOnly(context)) {
		if (isTimedOut) return { outcome: 'timed_out', ...WAITED, ...resultOf(items) };
		return { outcome, ...readWords(context), ...resultOf(items) };
	}
	if (isTimedOut) return { outcome, ...begun(context, completedText, items), ...resultOf(items) };
	if (outcome === 'done' && items.some(isPartial)) {
		return { outcome: 'partly_done', ...PARTLY_DONE, ...resultOf(items) };
	}
	return { outcome, ...doneWords(completedText), ...resultOf(items) };
}

/** A wait that ended before what it was for. */
function hasTimedOut({ json }: INodeExecutionData): boolean {
	return json.timed_out === true || json.wait_outcome === 'timed_out';
}

/** Rows that Push Campaign Contacts left out; a duplicate is in the campaign all the same. */
function isPartial({ json: { rejected } }: INodeExecutionData): boolean {
	if (!Array.isArray(rejected)) return false;
	return rejected.some((row) => isJsonObject(row) && row.rejection_status !== 'duplicate');
}

const WAITED: Words = {
	what_happened: 'The wait ended before this happened. Nothing was changed.',
	next_step: 'The result is what was known by then. Ask for the same again to wait longer.',
};
const ONLY_A_PART =
	"Only a part was done. The rest is in 'rejected' of the result, with the reasons.";
const PARTLY_DONE: Words = {
	what_happened: ONLY_A_PART,
	next_step: `Tell ${USER} which part was not done. Ask again only for what you can correct.`,
};

function readWords(context: IExecuteFunctions): Words {
	return { what_happened: readOf(context) ?? 'It was read.', next_step: GO_ON };
}

function doneWords({ isReplay, repeatable }: CompletedRequest): Words {
	if (isReplay) {
		const happened = 'This was done before and was not done a second time.';
		return { what_happened: happened, next_step: GO_ON };
	}
	const next = repeatable
		? 'You can ask for the next one. The same request again would be done a second time.'
		: NOT_AGAIN;
	return { what_happened: 'It is done.', next_step: `${GO_ON} ${next}` };
}

/** What was sent, and is not over: a call in progress, or a message without a reply so far. */
function begun(
	context: IExecuteFunctions,
	{ isReplay }: CompletedRequest,
	items: INodeExecutionData[],
): Words {
	const isCall = items.some(({ json }) => 'call_id' in json);
	if (!isCall) {
		return {
			what_happened: `The message was sent${isReplay ? ' before' : ''}. No reply came in time.`,
			next_step:
				'The reply may still come. Do not send this message again. You can send the next one.',
		};
	}
	const placed = isReplay ? 'before, and nobody was called a second time' : 'and may go on';
	return {
		what_happened: `The call was placed ${placed}. Its end was not seen in time.`,
		// An MCP client without a session is not recognized: its next request would be a second call.
		next_step:
			mcpSessionOf(context) === ''
				? `${NOT_AGAIN} It would be a second call. Read this one later by its ID.`
				: 'Ask for the same again to wait longer: nobody is called a second time.',
	};
}

function failed(context: IExecuteFunctions, error: unknown): ToolResult {
	const completedText = completedIn(context);
	const failure = explain(error);
	if (completedText?.isPartial === true) {
		return {
			outcome: failure.outcome === 'unknown' ? 'unknown' : 'partly_done',
			what_happened: asSentence(failure.what),
			next_step: `${failure.advice} ${nextPart(failure)}`.trim(),
			...resultOf(completedText.output),
			service_said: failure.originalMessage,
		};
	}
	// What was sent before stays done, such as a call whose end could not be waited for.
	if (completedText !== undefined && !isReadOnly(context)) {
		const { what_happened: happened, next_step: next } = begun(
			context,
			completedText,
			completedText.output,
		);
		return {
			outcome: completedText.isReplay ? 'already_done' : 'done',
			what_happened: `${happened} ${asSentence(failure.what)}`,
			next_step: `${failure.advice} ${next}`.trim(),
			...resultOf(completedText.output),
		};
	}
	const isRead = isReadOnly(context);
	const next = isRead ? nextRead(failure) : nextRequest(failure);
	return {
		outcome: isRead && failure.outcome === 'unknown' ? 'not_read' : failure.outcome,
		what_happened: asSentence(failure.what),
		next_step: `${failure.advice} ${next}`.trim(),
		id: null,
		service_said: failure.originalMessage,
		result: null,
	};
}

const LATER = 'Wait for a minute, or as long as the service asks, then ask for the same again.';

/** A read may always be repeated. */
function nextRead({ outcome, isTransient, isForOwner }: Failure): string {
	if (isForOwner) return `Nothing was changed. ${FOR_THE_OWNER}`;
	if (isTransient) return `Nothing was changed. ${LATER}`;
	return outcome === 'unknown'
		? 'Nothing was changed. You can ask for the same again.'
		: 'Nothing was changed. You can ask again, also with other values.';
}

/** Something of the request was done, and must not be done again. */
function nextPart({ outcome, isTransient, isForOwner }: Failure): string {
	if (outcome === 'unknown') {
		return `${ONLY_A_PART} Do not ask for the same again, because more may have been done. Tell ${USER} what is not known.`;
	}
	if (isForOwner) return `${ONLY_A_PART} ${FOR_THE_OWNER}`;
	return isTransient
		? `${ONLY_A_PART} Wait for a minute, or as long as the service asks, then ask again for the rest alone.`
		: `${ONLY_A_PART} Ask again only for what you can correct.`;
}

function nextRequest({ outcome, isTransient, isForOwner, isFinal }: Failure): string {
	if (isFinal) return '';
	if (outcome === 'unknown') {
		return `Do not ask for the same again, because it may have been done. Tell ${USER} that it is not known.`;
	}
	if (isForOwner) return `Nothing was done. ${FOR_THE_OWNER}`;
	if (isTransient) return `Nothing was done. ${LATER}`;
	return outcome === 'rejected'
		? 'Nothing was done. Do not ask for the same again unchanged.'
		: 'Nothing was sent. Ask again once this is corrected.';
}

function resultOf(items: INodeExecutionData[]): Pick<ToolResult, 'id' | 'service_said' | 'result'> {
	const records = items.map(({ json }) => json).filter(isJsonObject);
	const [record = {}] = records;
	if (records.length !== 1) return { id: null, service_said: null, result: records };
	const id = IDS.map((name) => record[name]).find((value) => value !== undefined) ?? null;
	return { id, service_said: saidIn(record), result: record };
}

/** What stands beside the data of a success: a message, or warnings. */
function saidIn({ message, warnings }: JsonObject): string | null {
	if (typeof message === 'string') return message;
	if (!Array.isArray(warnings) || warnings.length === 0) return null;
	return warnings.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join(' ');
}

/** What went wrong, as a model is told it. */
type Failure = {
	outcome: Outcome;
	what: string;
	/** Empty if a model can do nothing about it. */
	advice: string;
	/** Whether there is something to do, and only a person at n8n's screen can do it. */
	isForOwner: boolean;
	isTransient: boolean;
	isFinal: boolean;
	originalMessage: string | null;
};

/** What went wrong and what a model can do, where n8n hands it a text alone. */
export function failureForModel(error: unknown): string {
	const { what, advice, isForOwner, originalMessage: said } = explain(error);
	const words = [asSentence(what), isForOwner ? FOR_THE_OWNER : advice];
	if (said !== null) words.push(`The service said: ${asSentence(said)}`);
	return words.filter((text) => text !== '').join(' ');
}

function explain(error: unknown): Failure {
	if (error instanceof ExplainedError) {
		const { message, originalMessage = null, origin, isTransient, resolution } = error;
		const advice = error.resolutionForModel;
		const byService = origin === 'service' || origin === 'response';
		const what =
			byService || originalMessage === null ? message : `${message} (${originalMessage})`;
		return {
			outcome: error.outcome,
			what,
			advice,
			isForOwner: resolution !== '' && advice === '' && !isTransient,
			isTransient,
			isFinal: error.isFinal,
			originalMessage: byService ? originalMessage : null,
		};
	}
	// n8n's own, such as a credential that is gone: it comes before anything is sent.
	const what = error instanceof Error ? error.message : String(error);
	return {
		outcome: 'not_sent',
		what,
		advice: '',
		isForOwner: true,
		isTransient: false,
		isFinal: false,
		originalMessage: null,
	};
}
