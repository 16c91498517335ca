import { firstCharacters, withoutEnd } from '../../shared/text';

/** The type of a file that the storage doesn't know. */
const ANY_KIND = /^(application|binary)\/octet-stream$/i;
/** Wrong types of recordings in storage. n8n would display the file as this type. */
const WRONG_KIND = /^(?:text|image)\/|^application\/(?:json|xml)$|\+(?:json|xml)$/;
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

export type Headers = { [name: string]: unknown };

/** Name and type of a downloaded recording, from the response. */
export function describeFile(headers: Headers, url: string, callId: string): RecordingFile {
	const sent = kindIn(headers);
	const known = sent !== '' && !ANY_KIND.test(sent) && !WRONG_KIND.test(sent);
	const extension = AUDIO_EXTENSIONS[sent] ?? '';
	const fileName = nameIn(headers, url) ?? [callId, extension].filter(Boolean).join('.');
	if (known) return { fileName, mimeType: sent };
	// n8n derives the type from the extension. Without one, it would treat a recording as text.
	return EXTENSION.test(fileName)
		? { fileName }
		: { fileName, mimeType: 'application/octet-stream' };
}

/** The type in the header of a response. Empty if it's missing or invalid. */
export function kindIn(headers: Headers): string {
	const kind = headerText(headers, 'content-type').split(';')[0]?.trim().toLowerCase() ?? '';
	return /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(kind) ? kind : '';
}

function nameIn(headers: Headers, url: string): string | undefined {
	const disposition = headerText(headers, 'content-disposition');
	const encoded = /(?:^|[\s;])filename\*=(?:UTF-8)?'[^']*'([^;]+)/i.exec(disposition)?.[1];
	const plain = /(?:^|[\s;])filename=(?:"((?:[^"\\]|\\[^])+)"|([^";]+))/i.exec(disposition);
	const candidates = [decoded(encoded), plain?.[1] ?? plain?.[2], lastSegment(url)];
	return candidates.map(baseName).find((name) => name !== '');
}

/** The last segment of the path, if it has an extension. */
function lastSegment(url: string): string | undefined {
	const segment = decoded(new URL(url).pathname.split('/').at(-1));
	return segment !== undefined && EXTENSION.test(segment) ? segment : undefined;
}

/**
 * Control characters, line separators, unpaired surrogates, invisible characters (except those that join letters), and
 * characters that change the text direction.
 */
const NOT_IN_A_NAME =
	/[\p{Cc}\p{Cs}\u2028\u2029\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu;
/** Characters that Windows doesn't allow. A colon would write to a stream of another file. */
const NOT_ON_WINDOWS = /[<>:"|?*]/g;
/** Windows opens a device instead of a file with such a name and any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])\s*(?=\.|$)/i;
const AT_NO_END = /[.\s]/;
const DOTS = /\.{2,}/g;
/** Characters of up to 4 bytes. File systems allow 255 bytes. */
const MAX_NAME_CHARACTERS = 60;

/** A safe file name without folders, hidden files, or misleading characters. */
function baseName(name: string | undefined): string {
	const last = name?.split(/[\\/]/).at(-1) ?? '';
	const allowed = last.replace(NOT_IN_A_NAME, '').replace(NOT_ON_WINDOWS, '_').replace(DOTS, '.');
	const plain = withoutEnd(allowed, AT_NO_END)
		.replace(/^[.\s]+/, '')
		.replace(DEVICE, '_$&');
	const extension = EXTENSION.exec(plain)?.[0] ?? '';
	const stem = plain.slice(0, plain.length - extension.length);
	return `${withoutEnd(firstCharacters(stem, MAX_NAME_CHARACTERS), AT_NO_END)}${extension}`;
}

function decoded(text: string | undefined): string | undefined {
	try {
		return text === undefined ? undefined : decodeURIComponent(text.trim());
	} catch {
		return undefined;
	}
}

export function headerText(headers: Headers, name: string): string {
	const value = headers[name];
	return typeof value === 'string' ? value : '';
}
