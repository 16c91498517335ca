import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { ServiceRejection } from '../shared/api/errors';
import { TransportFault, type HttpResponse } from '../shared/api/http';
import { sendWithRetry } from '../shared/api/retry';
import { isJsonObject } from '../shared/json';
import { clock } from '../shared/n8n/http/accountClient';
import { firstBytes, isByteStream, type ByteStream } from '../shared/n8n/http/byteStream';
import { TIME_LIMITS, toFault } from '../shared/n8n/http/transport';
import {
	downloadInterrupted,
	downloadFailed,
	downloadRejected,
	MAX_REDIRECTS,
	noLink,
	notARecording,
	tooManyRedirects,
} from './calls/downloadErrors';
import { notARecordingReason, isComplete } from './calls/recordingCheck';
import { describeFile } from './calls/recordingFile';

type FileResponse = HttpResponse & { content: ByteStream };

/** A recording in n8n's binary data storage. `isComplete` is null if unknown. */
export type Download = { file: IBinaryData; isComplete: true | null };

/** Bytes to read of a response that isn't a recording, enough for its error code. */
const REJECTION_BYTES = 4_096;

/**
 * Downloads a recording from its presigned URL to n8n's binary data storage. The URL may be of another host, so the
 * request doesn't have the API token.
 *
 * @param url `recording_url` of the service
 * @throws ServiceRejection if the link is invalid or returns something else
 * @throws NotSent if n8n blocked the request
 * @throws OutcomeUnknown if the download failed
 */
export async function downloadRecording(
	context: IExecuteFunctions,
	url: string,
	callId: string,
): Promise<Download> {
	if (!isWebUrl(url)) throw noLink();
	const { status, headers, content } = await fetchFile(context, url);
	try {
		const rejection = notARecordingReason(status, headers);
		if (rejection !== undefined) throw rejection;
		const { fileName, mimeType } = describeFile(headers, url, callId);
		const file = await context.helpers.prepareBinaryData(content, fileName, mimeType);
		if (file.bytes === 0) throw notARecording('an empty file', status);
		return { file, isComplete: isComplete(headers, file.bytes) };
	} catch (error) {
		content.destroy();
		throw error instanceof ServiceRejection ? error : downloadInterrupted(messageOf(error));
	}
}

function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

function isWebUrl(url: string): boolean {
	return /^https?:\/\//i.test(url) && URL.canParse(url);
}

async function fetchFile(context: IExecuteFunctions, url: string): Promise<FileResponse> {
	try {
		const response = await sendWithRetry('GET', async () => await follow(context, url), {
			clock,
			random: Math.random,
		});
		if (response.status < 200 || response.status > 299) {
			throw downloadRejected(response.status, response.text);
		}
		return response;
	} catch (error) {
		throw error instanceof TransportFault ? downloadFailed(error) : error;
	}
}

/** Requests a file and follows redirects. n8n's HTTP helper would follow up to 21 of them, on each attempt. */
async function follow(context: IExecuteFunctions, link: string): Promise<FileResponse> {
	const visited = new Set<string>();
	for (let url = link; ; ) {
		visited.add(url);
		const response = await request(context, url);
		const next = redirectOf(response, url);
		if (next === undefined) return response;
		if (visited.size > MAX_REDIRECTS || visited.has(next)) throw tooManyRedirects(response.status);
		url = next;
	}
}

/** The URL of a redirect. `undefined` if the response isn't a redirect to a web URL. */
function redirectOf({ status, headers }: HttpResponse, url: string): string | undefined {
	const { location } = headers;
	const isRedirect = status > 300 && status < 309 && typeof location === 'string';
	if (!isRedirect || !URL.canParse(location, url)) return undefined;
	const next = new URL(location, url).href;
	return isWebUrl(next) ? next : undefined;
}

async function request(context: IExecuteFunctions, url: string): Promise<FileResponse> {
	try {
		const response: unknown = await context.helpers.httpRequest({
			url,
			method: 'GET',
			// n8n's HTTP helper doesn't report a truncated compressed body.
			headers: { 'Accept-Encoding': 'identity' },
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			timeout: TIME_LIMITS.silenceMs,
			abortSignal: AbortSignal.timeout(TIME_LIMITS.downloadMs),
		});
		return await toFileResponse(response);
	} catch (error) {
		throw toFault(error);
	}
}

async function toFileResponse(response: unknown): Promise<FileResponse> {
	if (!isJsonObject(response)) throw new TransportFault('NO_RESPONSE', 'No response');
	const { statusCode, headers, body }: { [name: string]: unknown } = response;
	if (!isByteStream(body)) throw new TransportFault('NO_RESPONSE', 'No response');
	const status = typeof statusCode === 'number' ? statusCode : 0;
	const file = {
		status,
		headers: isJsonObject(headers) ? headers : {},
		text: '',
		content: body,
	};
	if (status >= 200 && status <= 299) return file;
	try {
		const text = Buffer.from(
			await firstBytes(body, REJECTION_BYTES, TIME_LIMITS.silenceMs),
		).toString();
		return { ...file, text };
	} finally {
		body.destroy();
	}
}
