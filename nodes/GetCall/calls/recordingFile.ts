import { firstCharacters, withoutEnd } from '../../shared/text';

/** What storage says of a file whose kind it does not know. */
const ANY_KIND = /^(application|binary)\/octet-stream$/i;
/** Types that storage has for a recording by mistake. n8n would show the file as what they say. */
const NO_SOUND = /^(?:text|image)\/|^application\/(?:json|xml)$|\+(?:json|xml)$/;
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

/** Name and kind of a downloaded recording, taken from the answer. */
export function describeFile(headers: Headers, url: string, callId: string): RecordingFile {
	const sent = kindIn(headers);
	const known = sent !== '' && !ANY_KIND.test(sent) && !NO_SOUND.test(sent);
	const extension = AUDIO_EXTENSIONS[sent] ?? '';
	const fileName = nameIn(headers, url) ?? [callId, extension].filter(Boolean).join('.');
	if (known) return { fileName, mimeType: sent };
	// n8n finds the kind by the name's ending; without one it would call a recording text.
	return EXTENSION.test(fileName)
		? { fileName }
		: { fileName, mimeType: 'application/octet-stream' };
}

/** The type that the response has by its header; empty without one that is a type. */
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

/** The end of the path counts as a name only where it looks like a file. */
function lastSegment(url: string): string | undefined {
	const segment = decoded(new URL(url).pathname.split('/').at(-1));
	return segment !== undefined && EXTENSION.test(segment) ? segment : undefined;
}

/**
 * Control characters, line separators, half characters, invisible ones (but those that letters are joined by), and what
 * changes the direction of the text around it.
 */
const NOT_IN_A_NAME =
	/[\p{Cc}\p{Cs}\u2028\u2029\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu;
/** What Windows allows in no name; after a colon, another file of the same name would be written to. */
const NOT_ON_WINDOWS = /[<>:"|?*]/g;
/** Windows opens a device instead of such a file, whatever its extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])\s*(?=\.|$)/i;
const AT_NO_END = /[.\s]/;
const DOTS = /\.{2,}/g;
/** Characters, each of which takes up to 4 bytes: file systems allow 255. */
const LONGEST_NAME = 60;

/** A name that leads into no other folder, hides nothing, and looks like what it is. */
function baseName(name: string | undefined): string {
	const last = name?.split(/[\\/]/).at(-1) ?? '';
	const allowed = last.replace(NOT_IN_A_NAME, '').replace(NOT_ON_WINDOWS, '_').replace(DOTS, '.');
	const plain = withoutEnd(allowed, AT_NO_END)
		.replace(/^[.\s]+/, '')
		.replace(DEVICE, '_$&');
	const extension = EXTENSION.exec(plain)?.[0] ?? '';
	const stem = plain.slice(0, plain.length - extension.length);
	return `${withoutEnd(firstCharacters(stem, LONGEST_NAME), AT_NO_END)}${extension}`;
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
