import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import {
	type ErrorOrigin,
	ExplainedError,
	NotSent,
	OutcomeUnknown,
	ServiceRejection,
} from '../shared/api/errors';
import { BLOCKED_BY_N8N, type HttpResponse, TransportFault } from '../shared/api/http';
import { NO_ERROR_BODY } from '../shared/api/rejectionBody';
import { type Explanation, onScreenOnly, type Resolution } from '../shared/api/resolution';
import { sendWithRetry } from '../shared/api/retry';
import { isJsonObject } from '../shared/json';
import { clock } from '../shared/n8n/http/accountClient';
import { firstBytes, isByteStream, type ByteStream } from '../shared/n8n/http/byteStream';
import { TIME_LIMITS, toFault, toHttpResponse } from '../shared/n8n/http/transport';
import { cancelSignal } from '../shared/n8n/run/cancel';
import { messageOf } from '../shared/values';

type FileResponse = HttpResponse & { content: ByteStream };

/** A recording in n8n's binary data storage. `isComplete` is null if unknown. */
export type Download = { file: IBinaryData; isComplete: true | null };

/** The status of a complete file. Others mean an empty response (204), a part (206), or something else. */
const WHOLE_FILE = 200;

/** Types that aren't recordings. Some servers send recordings as `text/plain`. */
const OTHER_TYPES: ReadonlyArray<[RegExp, string]> = [
	[/\/(?:html|xhtml\+xml)$/, 'a web page'],
	[/[/+]json$/, 'JSON'],
	[/[/+]xml$/, 'XML'],
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

/** The code of a request that was redirected more often. */
const TOO_MANY_REDIRECTS = 'ERR_FR_TOO_MANY_REDIRECTS';

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
	if (!isWebUrl(url)) throw rejected(NO_LINK, WHOLE_FILE);
	const options = { clock, random: Math.random, signal: cancelSignal(context) };
	let content: ByteStream | undefined;
	try {
		const response = await sendWithRetry('GET', async () => await request(context, url), options);
		({ content } = response);
		requireRecording(response);
		const { status, headers } = response;
		const { fileName, mimeType } = nameAndType(headers, url, callId);
		const file = await context.helpers.prepareBinaryData(content, fileName, mimeType);
		if (file.bytes === 0) throw notARecording('an empty file', status);
		// n8n's HTTP helper doesn't report a truncated compressed body, so only a matching length proves the whole file.
		const isComplete = Number(headers['content-length']) === file.bytes ? true : null;
		return { file, isComplete };
	} catch (error) {
		content?.destroy();
		throw error instanceof ExplainedError ? error : downloadFailed(error);
	}
}

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
		if (!isByteStream(body)) throw new TransportFault('NO_RESPONSE', 'No response');
		const file = { ...toHttpResponse(rest), content: body };
		if (file.status === WHOLE_FILE) return file;
		const bytes = await firstBytes(body, REJECTION_BYTES);
		return { ...file, text: bytes.toString('utf8', 0, REJECTION_BYTES) };
	} catch (error) {
		const fault = toFault(error);
		// Another attempt would be redirected, too.
		throw fault.code === TOO_MANY_REDIRECTS ? rejected(REDIRECTED_TOO_OFTEN, REDIRECTED) : fault;
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
	headers: HttpResponse['headers'],
	url: string,
	callId: string,
): { fileName: string; mimeType?: string } {
	const type = typeOf(headers);
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

// What is reported.

const RUN_AGAIN: Resolution = {
	onScreen: 'Run this item again. The node gets a new link each time.',
	forModel: 'Try again. A new link is used each time.',
};

const NOT_STORED: Explanation = {
	message: 'The recording is no longer in storage',
	resolution: onScreenOnly('Ask your service provider how long recordings are stored.'),
};

const LINK_REJECTED: Explanation = {
	message: 'The link to the recording has expired or was rejected',
	resolution: {
		onScreen: `${RUN_AGAIN.onScreen} A link is valid for 15 minutes. If the storage rejects a new link, compare the clocks of n8n and the service.`,
		forModel: RUN_AGAIN.forModel,
	},
};

/** The response of the service has no usable link. */
const NO_LINK: Explanation = {
	message: "The service returned an invalid recording_url, so the recording can't be downloaded",
	resolution: onScreenOnly("To see it, set 'Recording As' to 'Link'."),
};

const REDIRECTED_TOO_OFTEN: Explanation = {
	message: 'The link to the recording was redirected too often, so no file was saved',
	resolution: onScreenOnly('Ask your service provider for direct links to recordings.'),
};

const BY_STATUS: { [status: number]: Explanation } = {
	400: LINK_REJECTED,
	401: LINK_REJECTED,
	403: LINK_REJECTED,
	404: NOT_STORED,
	410: NOT_STORED,
};

/** Stands for the redirects, whose statuses n8n doesn't report. */
const REDIRECTED = 302;

/** Statuses of a storage that may accept the request later, beside 5xx. */
const BUSY = new Set([408, 425, 429]);

/** @throws if the response is certainly not a recording, so no file is saved */
function requireRecording({ status, headers, text }: FileResponse): void {
	if (status >= 500 || BUSY.has(status)) {
		throw new OutcomeUnknown(
			`The storage of the recording returned HTTP status ${status}`,
			RUN_AGAIN,
			{ originalMessage: statusText(status, text), status },
		);
	}
	const known = BY_STATUS[status];
	if (known !== undefined) throw rejected(known, status, text, 'service');
	if (status !== WHOLE_FILE) throw notARecording(`HTTP status ${status}`, status, text);
	const type = typeOf(headers);
	const [, other] = OTHER_TYPES.find(([pattern]) => pattern.test(type)) ?? [];
	if (other !== undefined) throw notARecording(other, status);
}

/** @param content for the message, such as "a web page" */
function notARecording(content: string, status: number, text?: string): ServiceRejection {
	const explanation = {
		message: `The link to the recording returned ${content} instead of a recording, so no file was saved`,
		resolution: onScreenOnly(
			`Run this item again. If this doesn't help, set 'Recording As' to 'Link' and open the link in a browser, or ask your service provider.`,
		),
	};
	return rejected(explanation, status, text);
}

/** Without a response, or if the download or its storing was interrupted. */
function downloadFailed(error: unknown): NotSent | OutcomeUnknown {
	if (error instanceof TransportFault && error.code === BLOCKED_BY_N8N) {
		return new NotSent(
			'n8n blocked the request for the recording',
			onScreenOnly(
				'Ask your n8n administrator to allow requests to the host where your service stores recordings.',
			),
			{ originalMessage: error.message, isTransient: false, origin: 'n8n' },
		);
	}
	return new OutcomeUnknown(
		"The recording couldn't be downloaded completely",
		{
			onScreen: `Nothing was changed. ${RUN_AGAIN.onScreen}`,
			forModel: RUN_AGAIN.forModel,
		},
		{ originalMessage: error instanceof TransportFault ? error.code : messageOf(error) },
	);
}

/** Only the error code of the storage is kept, because the rest of its response may have parts of the presigned URL. */
function rejected(
	explanation: Explanation,
	status: number,
	text?: string,
	origin: ErrorOrigin = 'response',
): ServiceRejection {
	return new ServiceRejection(explanation, statusText(status, text), status, NO_ERROR_BODY, origin);
}

/** The HTTP status with the error code of the storage, if it has one. */
function statusText(status: number, text = ''): string {
	const code = /<Code>([\w.-]{1,80})<\/Code>/.exec(text)?.[1];
	return [`HTTP status ${status}`, ...(code === undefined ? [] : [code])].join(' · ');
}
