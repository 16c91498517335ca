import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { type ErrorFacts, ExplainedError, OutcomeUnknown } from '../shared/api/errors';
import { BLOCKED_BY_N8N, type HttpResponse, TransportFault } from '../shared/api/http';
import { sendWithRetry } from '../shared/api/retry';
import { isJsonObject } from '../shared/json';
import { clock } from '../shared/n8n/http/accountClient';
import {
	type ByteStream,
	firstBytes,
	isByteStream,
	TIME_LIMITS,
	toFault,
	toHttpResponse,
} from '../shared/n8n/http/transport';
import { cancelSignal } from '../shared/n8n/run/cancel';
import { messageOf, plainText } from '../shared/values';

type FileResponse = HttpResponse & { content: ByteStream };

/** The status of a complete file. Others mean an empty response (204), a part (206), or something else. */
const WHOLE_FILE = 200;

/** Types of web pages, JSON, XML, and images. Some servers send recordings as `text/plain`. */
const OTHER_TYPE = /\/(?:html|xhtml\+xml)$|[/+](?:json|xml)$|^image\//;

/** Types of files that the storage doesn't know. n8n would display a recording as text. */
const ANY_TYPE = /^$|^(?:application|binary)\/octet-stream$|^text\//;

const EXTENSIONS: { [mimeType: string]: string } = {
	'audio/mpeg': '.mp3',
	'audio/mp3': '.mp3',
	'audio/wav': '.wav',
	'audio/x-wav': '.wav',
	'audio/ogg': '.ogg',
	'audio/webm': '.webm',
	'audio/mp4': '.m4a',
};

/** At the end of a path, or of the name in `Content-Disposition`. */
const EXTENSION = /\.[a-z0-9]{1,5}(?="?$)/i;

/** Versions of n8n that don't know this limit follow 21 of them. */
const MAX_REDIRECTS = 5;
const TOO_MANY_REDIRECTS = 'ERR_FR_TOO_MANY_REDIRECTS';

/**
 * Downloads a recording from its presigned URL to n8n's binary data storage. The URL may be of another host, so the
 * request doesn't have the API token.
 *
 * @param url `recording_url` of the service
 * @throws OutcomeUnknown if the download failed, or the response isn't a recording
 */
export async function downloadRecording(
	context: IExecuteFunctions,
	url: string,
	callId: string,
): Promise<IBinaryData> {
	if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
		throw notSaved('The service returned an invalid recording_url');
	const options = { clock, random: Math.random, signal: cancelSignal(context) };
	let content: ByteStream | undefined;
	try {
		const response = await sendWithRetry('GET', async () => await request(context, url), options);
		({ content } = response);
		const type = requireRecording(response);
		const { fileName, mimeType } = nameAndType(type, response, url, callId);
		const file = await context.helpers.prepareBinaryData(content, fileName, mimeType);
		const { 'content-length': length } = response.headers;
		const { bytes = Number(length) } = file;
		if (bytes === 0) throw notSaved('The storage returned an empty file');
		if (length !== undefined && Number(length) !== bytes) throw notSaved(INCOMPLETE);
		return file;
	} catch (error) {
		content?.destroy();
		throw error instanceof ExplainedError ? error : downloadFailed(error);
	}
}

function downloadFailed(error: unknown): OutcomeUnknown {
	const isCode = error instanceof TransportFault && error.code !== BLOCKED_BY_N8N;
	return isCode
		? notSaved(INCOMPLETE, { originalMessage: error.code })
		: notSaved(INCOMPLETE, { originalMessage: messageOf(error), origin: 'n8n' });
}

const INCOMPLETE = "The recording couldn't be downloaded completely";

async function request(context: IExecuteFunctions, url: string): Promise<FileResponse> {
	try {
		const response: unknown = await context.helpers.httpRequest({
			url,
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
		const { body, ...rest }: { [name: string]: unknown } = isJsonObject(response) ? response : {};
		if (!isByteStream(body)) throw new TransportFault('NO_RESPONSE');
		const file = { ...toHttpResponse(rest), content: body };
		// Closes the connection. Its text isn't used, because it may have parts of the presigned URL.
		if (file.status !== WHOLE_FILE) await firstBytes(body, 0);
		return file;
	} catch (error) {
		const fault = toFault(error);
		// Another attempt would be redirected, too.
		throw fault.code === TOO_MANY_REDIRECTS
			? notSaved('The link to the recording was redirected too often')
			: fault;
	}
}

/**
 * @returns the type of the file. Empty if it's missing or invalid.
 * @throws if the response is certainly not a recording, so no file is saved
 */
function requireRecording({ status, headers }: FileResponse): string {
	if (status !== WHOLE_FILE)
		throw notSaved(`The storage of the recording returned HTTP status ${status}`);
	const [written = ''] = plainText(headers['content-type']).toLowerCase().split(';');
	const type = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(written.trim()) ? written.trim() : '';
	if (OTHER_TYPE.test(type)) throw notSaved(`The storage returned ${type} instead of a recording`);
	return type;
}

/** The file has the name of its call, because names in storage say little. */
function nameAndType(
	type: string,
	{ headers }: FileResponse,
	url: string,
	callId: string,
): { fileName: string; mimeType?: string } {
	const names = [plainText(headers['content-disposition']), new URL(url).pathname];
	const [named = ''] = names.flatMap((name) => EXTENSION.exec(name)?.[0] ?? []);
	const extension = EXTENSIONS[type] ?? named;
	const fileName = `${callId}${extension}`;
	if (!ANY_TYPE.test(type)) return { fileName, mimeType: type };
	// n8n derives the type from the extension. Without one, it would treat a recording as text.
	return extension === '' ? { fileName, mimeType: 'application/octet-stream' } : { fileName };
}

function notSaved(
	message: string,
	facts: Pick<ErrorFacts, 'originalMessage' | 'origin'> = {},
): OutcomeUnknown {
	return new OutcomeUnknown(
		message,
		{
			onScreen:
				"No file was saved. Run this item again. The node gets a new link each time, which is valid for 15 minutes. If this doesn't help, set 'Recording As' to 'Link', and open the link in a browser.",
			forModel: 'Try again. A new link is used each time.',
		},
		facts,
	);
}
