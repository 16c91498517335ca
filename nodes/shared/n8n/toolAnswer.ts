import {
	NodeApiError,
	NodeOperationError,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';
import { asSentence, ExplainedError, type Outcome } from '../api/errors';
import { adviceForModel } from '../api/modelAdvice';
import { aborted, pause } from '../clock';
import { isJsonObject, type JsonObject, type JsonValue } from '../json';
import { clock } from './connect';
import { deedOf, type ToolDeed } from './toolRun';
import { QuotaUsed } from './once';
import { beginTool, TOOL_LIMITS } from './toolTime';

/** What a model is told of a tool that it called, always in the same words and fields. */
export type ToolAnswer = {
	/**
	 * `done` · `already_done` earlier, by the same wish, and not a second time · `unknown` it may have been done ·
	 * `refused` by the service · `not_sent` nothing left n8n
	 */
	outcome: 'done' | 'already_done' | 'unknown' | 'refused' | 'not_sent';
	what_happened: string;
	next_step: string;
	/** Of the call, the contact list, the chat session or the entry; null where there is none. */
	id: JsonValue;
	service_said: string | null;
	/** What the node puts out: one record, a list of records, or null. */
	result: JsonValue;
};

/** The names that the service gives its IDs, the most telling first. */
const IDS = ['call_id', 'campaign_upload_id', 'session_id', 'id'];

const HAPPENED = {
	done: 'It is done.',
	already_done: 'This was done before and was not done a second time.',
};
const NEXT = {
	done: 'Go on with the result. Do not ask for the same again.',
	ongoing:
		'The call goes on. Ask for the same again to wait further: nobody is called a second time.',
	already_done: 'Go on with the result. Do not ask for the same again.',
	unknown:
		'Do not ask for the same again, because it may have been done. Tell the person that this is not known.',
	refused: 'Do not ask for the same again unchanged.',
	not_sent: 'Ask for it again when this is put right.',
};
const READ = { what_happened: 'It was read.', next_step: 'Go on with the result.' };

/**
 * Runs a node for a model. n8n hands on the first output alone and of what is thrown a sentence or
 * nothing, so whatever happens is told in one item, and nothing is thrown.
 */
export async function answerModel(
	context: IExecuteFunctions,
	run: () => Promise<INodeExecutionData[][]>,
): Promise<INodeExecutionData[][]> {
	const { signal } = beginTool(context);
	const answering = run().then(
		(outputs) => went(outputs.flat(), deedOf(context)),
		(error: unknown) => failed(signal.aborted ? late(error) : error, deedOf(context)),
	);
	const over = new AbortController();
	const givenUp = aborted(AbortSignal.any([signal, over.signal])).then(async () => {
		await pause(clock, TOOL_LIMITS.graceMs, over.signal);
		return failed(new TookTooLong('unknown'), deedOf(context));
	});
	const answer = await Promise.race([answering, givenUp]).finally(() => over.abort());
	return [[{ json: answer, pairedItem: { item: 0 } }]];
}

/** The time of the tool was over. */
class TookTooLong extends ExplainedError {
	override readonly name = 'TookTooLong';

	constructor(readonly outcome: Outcome) {
		const seconds = Math.round(TOOL_LIMITS.wholeMs / 1_000);
		const so = outcome === 'notSent' ? ', so it was given up and nothing was sent' : '';
		super(`It was not over after ${seconds} seconds${so}`, '');
	}
}

/** What is known of the request stands; all else broke off because the time was over. */
function late(error: unknown): unknown {
	if (!(error instanceof ExplainedError)) return new TookTooLong('unknown');
	return error.outcome === 'notSent' ? new TookTooLong('notSent') : error;
}

function went(items: INodeExecutionData[], deed: ToolDeed | undefined): ToolAnswer {
	const outcome = deed?.repeated === true ? 'already_done' : 'done';
	const nextStep = items.some(isOngoingCall) ? NEXT.ongoing : NEXT[outcome];
	const words =
		deed === undefined ? READ : { what_happened: HAPPENED[outcome], next_step: nextStep };
	return { outcome, ...words, ...resultOf(items) };
}

/** A call that was still open when a tool had to answer; of a chat, the message is sent all the same. */
function isOngoingCall({ json }: INodeExecutionData): boolean {
	return json.timed_out === true && 'call_id' in json;
}

function failed(error: unknown, deed: ToolDeed | undefined): ToolAnswer {
	const { what, resolution: advice, originalMessage, outcome } = explain(error);
	const resolution = adviceForModel(advice);
	// What was sent before stays done, such as a call whose end could not be waited for.
	if (deed !== undefined) {
		const before = went(deed.output, deed);
		const happened = `${before.what_happened} What came after it did not go well: ${asSentence(what)}`;
		return {
			...before,
			what_happened: happened,
			next_step: `${before.next_step} ${resolution}`.trim(),
		};
	}
	return {
		outcome,
		what_happened: asSentence(what),
		next_step: (error instanceof QuotaUsed ? resolution : `${resolution} ${NEXT[outcome]}`).trim(),
		id: null,
		service_said: originalMessage,
		result: null,
	};
}

function resultOf(items: INodeExecutionData[]): Pick<ToolAnswer, 'id' | 'service_said' | 'result'> {
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

type ToolError = {
	outcome: 'unknown' | 'refused' | 'not_sent';
	what: string;
	resolution: string;
	originalMessage: string | null;
};

const OUTCOMES = { unknown: 'unknown', refused: 'refused', notSent: 'not_sent' } as const;

function explain(error: unknown): ToolError {
	if (error instanceof ExplainedError) {
		const { message, resolution, originalMessage = null, speaker } = error;
		const byService = speaker === 'service' || speaker === 'answer';
		const what =
			byService || originalMessage === null ? message : `${message} (${originalMessage})`;
		return {
			outcome: OUTCOMES[error.outcome],
			what,
			resolution,
			originalMessage: byService ? originalMessage : null,
		};
	}
	// n8n's own, such as a credential that is gone: it comes before anything is sent.
	const what = error instanceof Error ? error.message : String(error);
	const description =
		error instanceof NodeApiError || error instanceof NodeOperationError ? error.description : null;
	return { outcome: 'not_sent', what, resolution: description ?? '', originalMessage: null };
}
