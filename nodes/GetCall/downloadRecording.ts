import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { NotSent, OutcomeUnknown, ServiceRefusal } from '../shared/api/errors';
import { BLOCKED_BY_N8N, TransportFault, type WireAnswer } from '../shared/api/http';
import { describeFile, downloadRefused } from './calls/recordingFile';
import { sendWithRetry } from '../shared/api/retry';
import { isJsonObject } from '../shared/json';
import { clock } from '../shared/n8n/connect';
import { TIME_LIMITS, toFault } from '../shared/n8n/transport';

type Stream = Exclude<Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0], Uint8Array>;

type FileAnswer = WireAnswer & { content: Stream };

/**
 * Fetches a recording from its presigned address straight into n8n's binary store. The address is
 * not the service's, so the API token stays away from it.
 */
export async function downloadRecording(
	context: IExecuteFunctions,
	url: string,
	callId: string,
): Promise<IBinaryData> {
	if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) throw noLink();
	const { headers, content } = await fetchFile(context, url);
	const { fileName, mimeType } = describeFile(headers, url, callId);
	try {
		return await context.helpers.prepareBinaryData(content, fileName, mimeType);
	} catch (error) {
		throw brokeOff(error instanceof Error ? error.message : String(error));
	}
}

async function fetchFile(context: IExecuteFunctions, url: string): Promise<FileAnswer> {
	try {
		const answer = await sendWithRetry(
			'GET',
			async () => await request(context, url),
			clock,
			Math.random,
		);
		if (answer.status < 200 || answer.status > 299) {
			throw downloadRefused(answer.status, answer.text);
		}
		return answer;
	} catch (error) {
		throw error instanceof TransportFault ? explainFault(error) : error;
	}
}

async function request(context: IExecuteFunctions, url: string): Promise<FileAnswer> {
	try {
		const response: unknown = await context.helpers.httpRequest({
			url,
			method: 'GET',
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			timeout: TIME_LIMITS.silenceMs,
			abortSignal: AbortSignal.timeout(TIME_LIMITS.downloadMs),
		});
		return await toFileAnswer(context, response);
	} catch (error) {
		throw toFault(error);
	}
}

async function toFileAnswer(context: IExecuteFunctions, response: unknown): Promise<FileAnswer> {
	if (!isJsonObject(response)) throw new TransportFault('NO_RESPONSE', 'No response');
	const { statusCode, headers, body }: { [name: string]: unknown } = response;
	if (!isStream(body)) throw new TransportFault('NO_RESPONSE', 'No response');
	const status = typeof statusCode === 'number' ? statusCode : 0;
	// The answer of a refusal is short; that of a success may be an hour of audio.
	const refused = status < 200 || status > 299;
	const text = refused ? (await context.helpers.binaryToBuffer(body)).toString() : '';
	return { status, headers: isJsonObject(headers) ? headers : {}, text, content: body };
}

function isStream(value: unknown): value is Stream {
	return typeof value === 'object' && value !== null && 'pipe' in value;
}

function noLink(): ServiceRefusal {
	return new ServiceRefusal(
		'The service gave a recording_url that is not a web address, so the recording cannot be fetched',
		'Set Recording As to Link to see what it gave.',
		'HTTP status 200',
		200,
		{ texts: [], body: {} },
		'answer',
	);
}

function explainFault({ code, message }: TransportFault): NotSent | OutcomeUnknown {
	if (code !== BLOCKED_BY_N8N) return brokeOff(code);
	return new NotSent(
		'n8n did not let the request for the recording out',
		'Ask whoever runs your n8n to allow requests to the address where your service keeps recordings.',
		message,
		false,
		'n8n',
	);
}

function brokeOff(originalMessage: string): OutcomeUnknown {
	return new OutcomeUnknown(
		'The recording could not be fetched to its end',
		'Nothing was changed by this read. Run this item again: a new link is asked for each time.',
		originalMessage,
	);
}
