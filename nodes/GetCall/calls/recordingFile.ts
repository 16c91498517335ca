import {
	NotSent,
	OutcomeUnknown,
	ServiceRefusal,
	type ExplainedError,
} from '../../shared/api/errors';
import { BLOCKED_BY_N8N, type TransportFault } from '../../shared/api/http';

/** What storage says of a file whose kind it does not know. */
const ANY_KIND = /^(application|binary)\/octet-stream$/i;
const EXTENSION = /\.[a-z0-9]{1,5}$/i;
const AUDIO_EXTENSIONS: { [mimeType: string]: string } = {
	'audio/mpeg': 'mp3',
	'audio/mp3': 'mp3',
	'audio/wav': 'wav',
	'audio/wave': 'wav',
	'audio/x-wav': 'wav',
	'audio/vnd.wave': 'wav',
	'audio/ogg': 'ogg',
	'audio/webm': 'webm',
	'audio/mp4': 'm4a',
	'audio/flac': 'flac',
};

export type RecordingFile = { fileName: string; mimeType?: string };

type Headers = { [name: string]: unknown };

/** Name and kind of a downloaded recording, taken from the answer. */
export function describeFile(headers: Headers, url: string, callId: string): RecordingFile {
	const sent = headerText(headers, 'content-type').split(';')[0]?.trim().toLowerCase() ?? '';
	const known = sent !== '' && !ANY_KIND.test(sent);
	const extension = AUDIO_EXTENSIONS[sent] ?? '';
	const fileName = nameIn(headers, url) ?? [callId, extension].filter(Boolean).join('.');
	if (known) return { fileName, mimeType: sent };
	// n8n finds the kind by the name's ending; without one it would call a recording text.
	return EXTENSION.test(fileName)
		? { fileName }
		: { fileName, mimeType: 'application/octet-stream' };
}

function nameIn(headers: Headers, url: string): string | undefined {
	const disposition = headerText(headers, 'content-disposition');
	const encoded = /filename\*=(?:UTF-8)?'[^']*'([^;]+)/i.exec(disposition)?.[1];
	const plain = /filename="([^"]+)"|filename=([^;]+)/i.exec(disposition);
	const candidates = [decoded(encoded), plain?.[1] ?? plain?.[2], lastSegment(url)];
	return candidates.map(baseName).find((name) => name !== '');
}

/** The end of the path counts as a name only where it looks like a file. */
function lastSegment(url: string): string | undefined {
	const segment = decoded(new URL(url).pathname.split('/').at(-1));
	return segment !== undefined && EXTENSION.test(segment) ? segment : undefined;
}

/** A name never leads into another folder. */
function baseName(name: string | undefined): string {
	return name?.split(/[\\/]/).at(-1)?.trim() ?? '';
}

function decoded(text: string | undefined): string | undefined {
	try {
		return text === undefined ? undefined : decodeURIComponent(text.trim());
	} catch {
		return undefined;
	}
}

function headerText(headers: Headers, name: string): string {
	const value = headers[name];
	return typeof value === 'string' ? value : '';
}

/**
 * Why storage did not give the file. Only its short code is kept: the rest of such an answer may
 * hold parts of the signed address.
 */
export function downloadRefused(status: number, text: string): ExplainedError {
	const code = /<Code>([\w.-]{1,80})<\/Code>/.exec(text)?.[1];
	const originalMessage = [`HTTP status ${status}`, ...(code === undefined ? [] : [code])].join(
		' · ',
	);
	const again = 'Run this item again: a new link is asked for each time.';
	const refusal = { texts: [], body: {} };
	if (status >= 500) {
		return new OutcomeUnknown('The recording’s storage stumbled', again, originalMessage, status);
	}
	if (status === 404 || status === 410) {
		const what = 'The recording is no longer in storage';
		return new ServiceRefusal(
			what,
			'Ask whoever runs your service how long it keeps recordings.',
			originalMessage,
			status,
			refusal,
		);
	}
	return new ServiceRefusal(
		'The link to the recording has expired or was refused',
		`${again} A link is valid for 15 minutes; if a new one is refused too, compare the clocks of n8n and the service.`,
		originalMessage,
		status,
		refusal,
	);
}

/** The service answered, but with nothing that can be fetched. */
export function noLink(): ServiceRefusal {
	return new ServiceRefusal(
		'The service gave a recording_url that is not a web address, so the recording cannot be fetched',
		'Set Recording As to Link to see what it gave.',
		'HTTP status 200',
		200,
		{ texts: [], body: {} },
		'answer',
	);
}

/** Why a request for the file came to no answer. */
export function downloadFailed({ code, message }: TransportFault): NotSent | OutcomeUnknown {
	if (code !== BLOCKED_BY_N8N) return downloadBrokeOff(code);
	return new NotSent(
		'n8n did not let the request for the recording out',
		'Ask whoever runs your n8n to allow requests to the address where your service keeps recordings.',
		message,
		false,
		'n8n',
	);
}

/** Why a file that began to come never ended. */
export function downloadBrokeOff(originalMessage: string): OutcomeUnknown {
	return new OutcomeUnknown(
		'The recording could not be fetched to its end',
		'Nothing was changed by this read. Run this item again: a new link is asked for each time.',
		originalMessage,
	);
}
