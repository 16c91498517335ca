import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { ServiceRejection } from '../shared/api/errors';
import { TransportFault, type HttpResponse } from '../shared/api/http';
import { sendWithRetry } from '../shared/api/retry';
import { isJsonObject } from '../shared/json';
import { clock } from '../shared/n8n/http/accountClient';
import { firstBytes, isByteStream, type ByteStream } from '../shared/n8n/http/byteStream';
import { TIME_LIMITS, toFault } from '../shared/n8n/http/transport';
import {
	downloadBrokeOff,
	downloadFailed,
	downloadRejected,
	MAX_REDIRECTS,
	noLink,
	tooManyRedirects,
} from './calls/downloadErrors';
import { BEGINNING_BYTES, faultOfRecording, isComplete } from './calls/recordingCheck';
import { describeFile } from './calls/recordingFile';

type FileAnswer = HttpResponse & { content: ByteStream };

/** A recording in n8n's binary store; `isComplete` is null if that isn't known. */
export type Download = { file: IBinaryData; isComplete: true | null };

/** Of a response that isn't a recording: enough for its code. */
const REJECTION_BYTES = 4_096;

/**
 * Fetches a recording from its presigned address straight into n8n's binary store. The address is
 * not the service's, so the API token stays away from it.
 */
export async function downloadRecording(
	context: IExecuteFunctions,
	url: string,
	callId: string,
): Promise<Download> {
	if (!isWebAddress(url)) throw noLink();
	const { status, headers, content } = await fetchFile(context, url);
	try {
		const beginning = await firstBytes(content, BEGINNING_BYTES, TIME_LIMITS.silenceMs);
		const fault = faultOfRecording(status, headers, beginning);
		if (fault !== undefined) throw fault;
		content.unshift(beginning);
		const { fileName, mimeType } = describeFile(headers, url, callId);
		const file = await context.helpers.prepareBinaryData(content, fileName, mimeType);
		return { file, isComplete: isComplete(headers, file.bytes) };
	} catch (error) {
		content.destroy();
		throw error instanceof ServiceRejection ? error : downloadBrokeOff(wordsOf(error));
	}
}

function wordsOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

function isWebAddress(url: string): boolean {
	return /^https?:\/\//i.test(url) && URL.canParse(url);
}

async function fetchFile(context: IExecuteFunctions, url: string): Promise<FileAnswer> {
	try {
		const answer = await sendWithRetry('GET', async () => await follow(context, url), {
			clock,
			random: Math.random,
		});
		if (answer.status < 200 || answer.status > 299) {
			throw downloadRejected(answer.status, answer.text);
		}
		return answer;
	} catch (error) {
		throw error instanceof TransportFault ? downloadFailed(error) : error;
	}
}

/** Requests the file where its link leads. n8n's HTTP helper would follow 21 redirects, and each retry would again. */
async function follow(context: IExecuteFunctions, link: string): Promise<FileAnswer> {
	const visited = new Set<string>();
	for (let url = link; ; ) {
		visited.add(url);
		const answer = await request(context, url);
		const next = redirectOf(answer, url);
		if (next === undefined) return answer;
		if (visited.size > MAX_REDIRECTS || visited.has(next)) throw tooManyRedirects(answer.status);
		url = next;
	}
}

/** Where a response leads; `undefined` if it leads nowhere on the web. */
function redirectOf({ status, headers }: HttpResponse, url: string): string | undefined {
	const { location } = headers;
	const isRedirect = status > 300 && status < 309 && typeof location === 'string';
	if (!isRedirect || !URL.canParse(location, url)) return undefined;
	const next = new URL(location, url).href;
	return isWebAddress(next) ? next : undefined;
}

async function request(context: IExecuteFunctions, url: string): Promise<FileAnswer> {
	try {
		const response: unknown = await context.helpers.httpRequest({
			url,
			method: 'GET',
			// n8n's HTTP helper hides where a compressed body was cut.
			headers: { 'Accept-Encoding': 'identity' },
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			timeout: TIME_LIMITS.silenceMs,
			abortSignal: AbortSignal.timeout(TIME_LIMITS.downloadMs),
		});
		return await toFileAnswer(response);
	} catch (error) {
		throw toFault(error);
	}
}

async function toFileAnswer(response: unknown): Promise<FileAnswer> {
	if (!isJsonObject(response)) throw new TransportFault('NO_RESPONSE', 'No response');
	const { statusCode, headers, body }: { [name: string]: unknown } = response;
	if (!isByteStream(body)) throw new TransportFault('NO_RESPONSE', 'No response');
	const status = typeof statusCode === 'number' ? statusCode : 0;
	const answer = { status, headers: isJsonObject(headers) ? headers : {}, text: '', content: body };
	if (status >= 200 && status <= 299) return answer;
	try {
		const text = Buffer.from(
			await firstBytes(body, REJECTION_BYTES, TIME_LIMITS.silenceMs),
		).toString();
		return { ...answer, text };
	} finally {
		body.destroy();
	}
}
