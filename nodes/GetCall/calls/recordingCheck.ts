import type { ServiceRefusal } from '../../shared/api/errors';
import { notARecording } from './downloadErrors';
import { headerText, kindIn, type Headers } from './recordingFile';

/** What a whole file comes with. Anything else is nothing (204), a part (206), or about something else. */
const WHOLE_FILE = 200;

/** Bytes that show whether a file is text; a recording has bytes among them that no text has. */
export const BEGINNING_BYTES = 1_024;

/** Formats of sound whose first bytes nothing else has: servers send some of them as text or as a web page. */
const SOUND: readonly RegExp[] = [
	/^RIF[FX][^]{4}WAVE|^FORM[^]{4}AIF[FC]/,
	/^ID3[^ -~]|^\xff[\xe2-\xe7\xf1-\xfd]/,
	/^OggS\0|^fLaC|^#!AMR/,
	/^[^]{4}ftyp(?:M4|mp4|iso|dash|qt|3g)|^[^ -~]E\xdf\xa3/,
];

/** Control characters other than white space. */
const NOT_IN_TEXT = /(?!\s)\p{Cc}/u;

/** By the type in the header: none of these is a recording, unless it begins as sound. */
const OTHER_KINDS: ReadonlyArray<[RegExp, string]> = [
	[/^(?:text\/html|application\/xhtml\+xml)$/, 'a web page'],
	[/^(?:text|application)\/json$|\+json$/, 'JSON'],
	[/^(?:text|application)\/xml$|\+xml$/, 'XML'],
	[/^image\//, 'an image'],
];

/** By the first characters, in any encoding. */
const BEGINNINGS: ReadonlyArray<[RegExp, string]> = [
	[/^<(?:\?xml|error\b)/i, 'XML'],
	[/^<(?:!--|(?:!doctype|html|head|body|script|title)\b)/i, 'a web page'],
	[/^(?:\{\s*["}]|\[\s*[[{"\]])/, 'JSON'],
	[/^<[a-z][a-z\d]{0,20}[\s/>]/i, 'a web page or XML'],
];

/**
 * Why a response isn't a recording; `undefined` if it can be one.
 *
 * @param beginning the first {@link BEGINNING_BYTES} of the body, or all of a shorter one
 */
export function faultOfRecording(
	status: number,
	headers: Headers,
	beginning: Uint8Array,
): ServiceRefusal | undefined {
	if (status !== WHOLE_FILE) return notARecording(`HTTP status ${status}`, status);
	if (beginning.length === 0) return notARecording('an empty file', status);
	const bytes = Buffer.from(beginning).toString('latin1');
	if (SOUND.some((begins) => begins.test(bytes))) return undefined;
	const type = kindIn(headers);
	const letters = lettersOf(bytes);
	const [, kind = isText(beginning, type) ? 'text' : undefined] =
		OTHER_KINDS.find(([other]) => other.test(type)) ??
		BEGINNINGS.find(([begins]) => begins.test(letters)) ??
		[];
	return kind === undefined ? undefined : notARecording(kind, status, letters);
}

/**
 * Whether all of a file arrived. Only the length in the header proves it: n8n's HTTP helper hides where a compressed body
 * was cut, and a body without a length may end anywhere. A length that differs from what arrived is that of a compressed body.
 *
 * @returns `null` if it isn't known
 */
export function isComplete(headers: Headers, bytes: number | undefined): true | null {
	const length = headerText(headers, 'content-length').trim();
	return bytes !== undefined && /^\d+$/.test(length) && Number(length) === bytes ? true : null;
}

/** What is ASCII in it, whatever the encoding, without a byte order mark and space before it. */
function lettersOf(bytes: string): string {
	return bytes.replaceAll('\0', '').replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*/, '');
}

/** Whether it has no bytes but those of a text: in UTF-8, or in any encoding if the header says that it is text. */
function isText(beginning: Uint8Array, type: string): boolean {
	try {
		const decoder = new TextDecoder('utf-8', { fatal: true });
		// The last character may be cut.
		return !NOT_IN_TEXT.test(decoder.decode(beginning, { stream: true }));
	} catch {
		return type.startsWith('text/') && isMostlyAscii(Buffer.from(beginning).toString('latin1'));
	}
}

/** As a text in a European language is in an encoding of one byte a letter; raw sound is not. */
function isMostlyAscii(bytes: string): boolean {
	const ascii = bytes.replace(/[\x80-\xff]/g, '');
	return !NOT_IN_TEXT.test(ascii) && ascii.length > bytes.length / 2;
}
