import type { ServiceRefusal } from '../../shared/api/errors';
import { notARecording } from './downloadErrors';
import { headerText, kindIn, type Headers } from './recordingFile';

/** What a whole file comes with. Anything else is nothing (204), a part (206), or about something else. */
const WHOLE_FILE = 200;

/** Bytes that show whether a file is text; a recording has bytes among them that no text has. */
export const BEGINNING_BYTES = 1_024;

/** Formats of sound that begin with letters: a very short one could otherwise be read as text. */
const BEGINS_AS_SOUND = /^(?:RIFF|RIFX|ID3|OggS|fLaC|FORM|#!AMR)/;

/** Control characters other than white space. */
const NOT_IN_TEXT = /(?!\s)\p{Cc}/u;

/** By the type in the header: none of these is a recording, whatever is inside. */
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
	const letters = lettersOf(beginning);
	const [, kind = isText(beginning) ? 'text' : undefined] =
		OTHER_KINDS.find(([type]) => type.test(kindIn(headers))) ??
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
function lettersOf(beginning: Uint8Array): string {
	return Buffer.from(beginning)
		.toString('latin1')
		.replaceAll('\0', '')
		.replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*/, '');
}

/** Whether it has no bytes but those of a text, and doesn't begin as sound does. */
function isText(beginning: Uint8Array): boolean {
	try {
		const decoder = new TextDecoder('utf-8', { fatal: true });
		// The last character may be cut.
		const text = decoder.decode(beginning, { stream: true });
		return !NOT_IN_TEXT.test(text) && !BEGINS_AS_SOUND.test(text);
	} catch {
		return false;
	}
}
