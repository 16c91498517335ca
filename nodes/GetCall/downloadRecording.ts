import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { ServiceRejection } from '../shared/api/errors';
import { TransportFault, type HttpResponse } from '../shared/api/http';
import { sendWithRetry } from '../shared/api/retry';
import { isJsonObject } from '../shared/json';
import { clock } from '../shared/n8n/http/accountClient';
import { firstBytes, isByteStream, type ByteStream } from '../shared/n8n/http/byteStream';
import { TIME_LIMITS, toFault, toHttpResponse } from '../shared/n8n/http/transport';
import { cancelSignal } from '../shared/n8n/run/cancel';
import {
	downloadInterrupted,
	downloadFailed,
	downloadRejected,
	noLink,
	notARecording,
	TOO_MANY_REDIRECTS,
} from './downloadErrors';
import { messageOf } from '../shared/values';

type FileResponse = HttpResponse & { content: ByteStream };

/** A recording in n8n's binary data storage. `isComplete` is null if unknown. */
export type Download = { file: IBinaryData; isComplete: true | null };

/** The status of a complete file. Others mean an empty response (204), a part (206), or something else. */
const WHOLE_FILE = 200;

/** Types that aren't recordings. Some servers send recordings as `text/plain`. */
const OTHER_TYPES: ReadonlyArray<[RegExp, string]> = [
	[/^(?:text\/html|application\/xhtml\+xml)$/, 'a web page'],
	[/^(?:text|application)\/json$|\+json$/, 'JSON'],
	[/^(?:text|application)\/xml$|\+xml$/, 'XML'],
	[/^image\//, 'an image'],
];

/** Types of files that the storage doesn't know. n8n would display a recording as text. */
const ANY_TYPE = /^$|^(?:application|binary)\/octet-stream$|^text\//;

const EXTENSIONS: { [mimeType: string]: string } = {
	'audio/mpeg': '.mp3',
	'audio/mp3': '.mp3',
	'audio/wav': '.wav',
	'audio/wave': '.wav',
	'audio/x-wav': '.wav',
	'audio/vnd.wave': '.wav',
	'audio/ogg': '.ogg',
	'audio/webm': '.webm',
	'audio/mp4': '.m4a',
	'audio/flac': '.flac',
};

/** At the end of a path, or of the name in `Content-Disposition`. */
const EXTENSION = /\.[a-z0-9]{1,5}(?="?$)/i;

/** Versions of n8n that don't know this limit follow 21 of them. */
const MAX_REDIRECTS = 5;

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
		if (status !== WHOLE_FILE) throw notARecording(`HTTP status ${status}`, status);
		if (headers['content-length'] === '0') throw notARecording('an empty file', status);
		const type = typeOf(headers);
		const [, other] = OTHER_TYPES.find(([pattern]) => pattern.test(type)) ?? [];
		if (other !== undefined) throw notARecording(other, status);
		const { fileName, mimeType } = nameAndType(type, headers, url, callId);
		const file = await context.helpers.prepareBinaryData(content, fileName, mimeType);
		if (file.bytes === 0) throw notARecording('an empty file', status);
		// n8n's HTTP helper doesn't report a truncated compressed body, so only a matching length proves the whole file.
		const isComplete = Number(headers['content-length']) === file.bytes ? true : null;
		return { file, isComplete };
	} catch (error) {
		content.destroy();
		throw error instanceof ServiceRejection ? error : downloadInterrupted(messageOf(error));
	}
}

/** The type in the header of a response. Empty if it's missing or invalid. */
function typeOf(headers: HttpResponse['headers']): string {
	const [type = ''] = textOf(headers['content-type']).toLowerCase().split(';');
	return /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type.trim()) ? type.trim() : '';
}

function textOf(value: unknown): string {
	return typeof value === 'string' ? value : '';
}

/** The file has the name of its call, because names in storage say little. */
function nameAndType(
	type: string,
	headers: HttpResponse['headers'],
	url: string,
	callId: string,
): { fileName: string; mimeType?: string } {
	const names = [textOf(headers['content-disposition']), new URL(url).pathname];
	const [named = ''] = names.flatMap((name) => EXTENSION.exec(name)?.[0] ?? []);
	const extension = EXTENSIONS[type] ?? named;
	const fileName = `${callId}${extension}`;
	if (!ANY_TYPE.test(type)) return { fileName, mimeType: type };
	// n8n derives the type from the extension. Without one, it would treat a recording as text.
	return extension === '' ? { fileName, mimeType: 'application/octet-stream' } : { fileName };
}

function isWebUrl(url: string): boolean {
	return /^https?:\/\//i.test(url) && URL.canParse(url);
}

async function fetchFile(context: IExecuteFunctions, url: string): Promise<FileResponse> {
	try {
		const response = await sendWithRetry('GET', async () => await request(context, url), {
			clock,
			random: Math.random,
			signal: cancelSignal(context),
		});
		if (response.status < 200 || response.status > 299) {
			throw downloadRejected(response.status, response.text);
		}
		return response;
	} catch (error) {
		throw error instanceof TransportFault ? downloadFailed(error) : error;
	}
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
			maxRedirects: MAX_REDIRECTS,
			timeout: TIME_LIMITS.silenceMs,
			// n8n's helper without a credential doesn't end when the execution is stopped.
			abortSignal: AbortSignal.any([
				cancelSignal(context),
				AbortSignal.timeout(TIME_LIMITS.downloadMs),
			]),
		});
		return await toFileResponse(response);
	} catch (error) {
		const fault = toFault(error);
		// Another attempt would be redirected, too.
		throw fault.code === TOO_MANY_REDIRECTS ? downloadFailed(fault) : fault;
	}
}

async function toFileResponse(response: unknown): Promise<FileResponse> {
	const { body, ...rest }: { [name: string]: unknown } = isJsonObject(response) ? response : {};
	if (!isByteStream(body)) throw new TransportFault('NO_RESPONSE', 'No response');
	const file = { ...toHttpResponse(rest), content: body };
	if (file.status >= 200 && file.status <= 299) return file;
	try {
		const bytes = await firstBytes(body, REJECTION_BYTES);
		return { ...file, text: bytes.toString('utf8', 0, REJECTION_BYTES) };
	} finally {
		body.destroy();
	}
}
