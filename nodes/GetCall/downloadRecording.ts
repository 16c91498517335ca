import type { IBinaryData } from 'n8n-workflow';
import { isInternal } from '../core/service/access';
import { type ErrorFacts, ExplainedError, OutcomeUnknown, unusable } from '../core/service/errors';
import { BLOCKED_BY_N8N, type HttpResponse, TransportFault } from '../core/service/http';
import { sendWithRetry } from '../core/service/retry';
import { isJsonObject } from '../core/values/json';
import type { CallerRun } from '../host/caller/caller';
import { clock } from '../host/clock';
import {
	type ByteStream,
	firstBytes,
	isByteStream,
	TIME_LIMITS,
	toFault,
	toHttpResponse,
} from '../host/http/transport';
import { cancelSignal } from '../host/execution/cancel';
import { messageOf, plainText } from '../core/values/values';

type FileResponse = HttpResponse & { content: ByteStream };

/** The status of a complete file. Others mean an empty response (204), a part (206), or something else. */
const WHOLE_FILE = 200;

/** Types of files that the storage doesn't know. n8n would display a recording as text. */
const ANY_TYPE = /^$|^(?:application|binary)\/octet-stream$|^text\/plain$/;

/** Ogg and MP4 files may have types of applications. */
const SOUND_OR_VIDEO = /^(?:audio|video)\/|^application\/(?:ogg|mp4)$/;

const EXTENSIONS: { [mimeType: string]: string } = {
	'audio/mpeg': '.mp3',
	'audio/mp3': '.mp3',
	'audio/wav': '.wav',
	'audio/x-wav': '.wav',
	'audio/ogg': '.ogg',
	'application/ogg': '.ogg',
	'audio/webm': '.webm',
	'audio/mp4': '.m4a',
};

/** Of recordings whose storage doesn't know their type. */
const KNOWN_EXTENSION =
	/\.(?:3gp|aac|amr|flac|gsm|m4a|mkv|mov|mp3|mp4|oga|ogg|opus|wav|webm|wma)$/i;

/** At the end of a path, or of the name in `Content-Disposition`. */
const EXTENSION = /\.[a-z0-9]{1,5}(?="?$)/i;

const MAX_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];

const BYTES_PER_MB = 1_000_000;

type Download = {
	/** `recording_url` of the service. */
	url: string;
	callId: string;
	/** Of the service. Only a service in an internal network may link to it. */
	baseUrl: string;
	maxMegabytes: number;
	/** Whether to save what isn't known to be sound or a video. */
	isAnyType: boolean;
};

/**
 * Downloads a recording from its presigned URL to n8n's binary data storage. The URL may be of another host, so the
 * request doesn't have the API token.
 *
 * @throws OutcomeUnknown if the download failed, or the response isn't a recording
 */
export async function downloadRecording(run: CallerRun, download: Download): Promise<IBinaryData> {
	const { url, callId, maxMegabytes, isAnyType } = download;
	let content: ByteStream | undefined;
	try {
		const response = await follow(run, download);
		({ content } = response);
		const type = typeOf(response);
		const { fileName, mimeType } = nameAndType(type, response, url, callId);
		if (!isAnyType && !isRecording(type, fileName)) {
			const what = type === '' ? 'a file without a type' : `a file of type ${type}`;
			throw notSaved(
				`The storage returned ${what}, which isn't known to be a recording`,
				`To save it anyway, turn on 'Any File Type' in 'Options'. Or ${OPEN_LINK}`,
			);
		}
		const { 'content-length': length } = response.headers;
		const max = maxMegabytes * BYTES_PER_MB;
		// A storage that doesn't say the size could fill the disk.
		const whole = length === undefined ? await firstBytes(content, max) : content;
		if ((Buffer.isBuffer(whole) ? whole.length : Number(length)) > max) {
			throw notSaved(
				`The recording is larger than ${maxMegabytes} MB`,
				`To save it, raise 'Maximum Size (MB)' in 'Options'. Or ${OPEN_LINK}`,
			);
		}
		const file = await run.context.helpers.prepareBinaryData(whole, fileName, mimeType);
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
		? notSaved(INCOMPLETE, undefined, { originalMessage: error.code })
		: notSaved(INCOMPLETE, undefined, { originalMessage: messageOf(error), origin: 'n8n' });
}

const INCOMPLETE = "The recording couldn't be downloaded completely";

const OPEN_LINK = "set 'Recording As' to 'Link', and open the link in a browser.";

const AGAIN = `Run this item again. The node gets a new link each time, which is valid for 15 minutes. If this doesn't help, ${OPEN_LINK}`;

/** @param advice if another attempt wouldn't save it */
function notSaved(message: string, advice?: string, facts: ErrorFacts = {}): OutcomeUnknown {
	if (advice !== undefined) return unusable(message, `No file was saved. ${advice}`, facts);
	const resolution = {
		onScreen: `No file was saved. ${AGAIN}`,
		forModel: 'Try again. A new link is used each time.',
	};
	return new OutcomeUnknown(message, resolution, facts);
}

/** Follows redirects itself, because each one may lead into an internal network. */
async function follow(run: CallerRun, { url, baseUrl }: Download): Promise<FileResponse> {
	const options = { clock, signal: cancelSignal(run) };
	let target = url;
	for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
		if (!/^https?:\/\//i.test(target) || !URL.canParse(target))
			throw notSaved('The service returned an invalid recording_url');
		if (isInternal(new URL(target)) && !isInternal(new URL(baseUrl))) {
			throw notSaved(
				'The link to the recording leads into an internal network',
				'Such a link could read what only this network may see. Ask your service provider for recordings with public links.',
			);
		}
		const at = target;
		const response = await sendWithRetry('GET', async () => await request(run, at), options);
		const { location } = response.headers;
		if (REDIRECTS.includes(response.status) && typeof location === 'string') {
			target = URL.canParse(location, at) ? new URL(location, at).href : '';
			continue;
		}
		if (response.status === WHOLE_FILE) return response;
		throw notSaved(`The storage of the recording returned HTTP status ${response.status}`);
	}
	throw notSaved('The link to the recording was redirected too often');
}

async function request(run: CallerRun, url: string): Promise<FileResponse> {
	try {
		const response: unknown = await run.context.helpers.httpRequest({
			url,
			// n8n's HTTP helper doesn't report a truncated compressed body.
			headers: { 'Accept-Encoding': 'identity' },
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			timeout: TIME_LIMITS.silenceMs,
			// n8n's helper without a credential doesn't end when the execution is stopped.
			abortSignal: AbortSignal.any([
				cancelSignal(run),
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
		throw toFault(error);
	}
}

/** The type of the file. Empty if it's missing or invalid. */
function typeOf({ headers }: FileResponse): string {
	const [written = ''] = plainText(headers['content-type']).toLowerCase().split(';');
	return /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(written.trim()) ? written.trim() : '';
}

function isRecording(type: string, fileName: string): boolean {
	return SOUND_OR_VIDEO.test(type) || (ANY_TYPE.test(type) && KNOWN_EXTENSION.test(fileName));
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
