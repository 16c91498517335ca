import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { TransportFault, type WireAnswer } from '../shared/api/http';
import { sendWithRetry } from '../shared/api/retry';
import { isJsonObject } from '../shared/json';
import { clock } from '../shared/n8n/connect';
import { TIME_LIMITS, toFault } from '../shared/n8n/transport';
import {
	describeFile,
	downloadBrokeOff,
	downloadFailed,
	downloadRefused,
	noLink,
} from './calls/recordingFile';

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
		throw downloadBrokeOff(error instanceof Error ? error.message : String(error));
	}
}

async function fetchFile(context: IExecuteFunctions, url: string): Promise<FileAnswer> {
	try {
		const answer = await sendWithRetry('GET', async () => await request(context, url), {
			clock,
			random: Math.random,
		});
		if (answer.status < 200 || answer.status > 299) {
			throw downloadRefused(answer.status, answer.text);
		}
		return answer;
	} catch (error) {
		throw error instanceof TransportFault ? downloadFailed(error) : error;
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
