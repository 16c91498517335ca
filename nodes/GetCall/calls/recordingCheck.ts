import type { ServiceRejection } from '../../shared/api/errors';
import { notARecording } from './downloadErrors';
import { headerText, kindIn, type Headers } from './recordingFile';

/** The status of a complete file. Others mean an empty response (204), a part (206), or something else. */
const WHOLE_FILE = 200;

/** Bytes that show whether a file is text. In a recording, some of them can't be in a text. */
export const BEGINNING_BYTES = 1_024;

/** Audio formats with unique first bytes. Servers send some of them with the type of a text or a web page. */
const SOUND: readonly RegExp[] = [
	/^R(?:IF[FX]|F64)[^]{4}WAVE|^FORM[^]{4}AIF[FC]/,
	/^ID3[^ -~]|^\xff[\xe2-\xe7\xf1-\xfd]/,
	/^OggS\0|^fLaC|^#!AMR|^NIST_1A\n/,
	/^[^]{4}ftyp(?:M4|mp4|iso|dash|qt|3g)|^[^ -~]E\xdf\xa3/,
];

/** Other formats by their first bytes in hexadecimal. Long enough that raw audio is unlikely to match. */
const OTHER_FORMATS: ReadonlyArray<[RegExp, string]> = [
	// gzip · bzip2 · xz · zstd · 7-Zip · RAR
	[
		/^1f8b08[01]|^425a683[1-9]314159|^fd377a585a00|^28b52ffd|^377abcaf271c|^526172211a07/,
		'a compressed file',
	],
	[/^504b0(?:304|506|708)/, 'a ZIP file'],
	[/^255044462d/, 'a PDF'],
	[/^d0cf11e0a1b11ae1/, 'an Office document'],
	// PNG · GIF · WebP · TIFF
	[/^89504e470d0a1a0a|^474946383[79]61|^52494646.{8}57454250|^49492a00|^4d4d002a/, 'an image'],
	// JPEG: JFIF, Exif, ICC, bare, Adobe
	[
		/^ffd8ff(?:e0.{4}4a464946|e1.{4}45786966|e2.{4}4943435f|db00(?:43|84)|ee.{4}41646f6265)/,
		'an image',
	],
	// BMP · AVIF and HEIF
	[
		/^424d.{8}0{8}.{8}(?:28|6c|7c)000000|^.{8}66747970(?:617669|686569|686576|6d696631|6d736631)/,
		'an image',
	],
];

/** The maximum that these formats need. */
const FORMAT_BYTES = 32;

/** Control characters other than white space. */
const NOT_IN_TEXT = /(?!\s)\p{Cc}/u;

/** Also for UTF-16: unassigned and private characters, which are frequent in audio. */
const NOT_IN_UTF_16_TEXT = /(?!\s)[\p{Cc}\p{Cn}\p{Co}]/u;

/** Types that aren't recordings, unless the file begins like audio. */
const OTHER_KINDS: ReadonlyArray<[RegExp, string]> = [
	[/^(?:text\/html|application\/xhtml\+xml)$/, 'a web page'],
	[/^(?:text|application)\/json$|\+json$/, 'JSON'],
	[/^(?:text|application)\/xml$|\+xml$/, 'XML'],
	[/^image\//, 'an image'],
];

/** Other formats by their first characters. */
const BEGINNINGS: ReadonlyArray<[RegExp, string]> = [
	[/^<(?:\?xml|error\b)/i, 'XML'],
	[/^<(?:!--|(?:!doctype|html|head|body|script|title)\b)/i, 'a web page'],
	[/^(?:\{\s*["}]|\[\s*[[{"\]])/, 'JSON'],
	[/^<[a-z][a-z\d]{0,20}[\s/>]/i, 'a web page or XML'],
];

/**
 * Why a response isn't a recording. `undefined` if it may be one.
 *
 * @param beginning the first {@link BEGINNING_BYTES} of the body, or all of a shorter one
 */
export function notARecordingReason(
	status: number,
	headers: Headers,
	beginning: Uint8Array,
): ServiceRejection | undefined {
	if (status !== WHOLE_FILE) return notARecording(`HTTP status ${status}`, status);
	if (beginning.length === 0) return notARecording('an empty file', status);
	const bytes = Buffer.from(beginning).toString('latin1');
	if (SOUND.some((begins) => begins.test(bytes))) return undefined;
	const format = Buffer.from(beginning.subarray(0, FORMAT_BYTES)).toString('hex');
	const type = kindIn(headers);
	const letters = lettersOf(bytes);
	const [, kind = isText(beginning, type) ? 'text' : undefined] =
		OTHER_FORMATS.find(([begins]) => begins.test(format)) ??
		OTHER_KINDS.find(([other]) => other.test(type)) ??
		BEGINNINGS.find(([begins]) => begins.test(letters)) ??
		[];
	return kind === undefined ? undefined : notARecording(kind, status, letters);
}

/**
 * Whether a file arrived completely. Only a matching length in the header proves it, because n8n's HTTP helper doesn't
 * report a truncated compressed body. A different length may be that of the compressed body.
 *
 * @returns `null` if unknown
 */
export function isComplete(headers: Headers, bytes: number | undefined): true | null {
	const length = headerText(headers, 'content-length').trim();
	return bytes !== undefined && /^\d+$/.test(length) && Number(length) === bytes ? true : null;
}

/** ASCII in UTF-16: a NUL before or after each letter. Silence in a recording has only NULs. */
const IN_UTF_16 = /^(?:\xff\xfe|\xfe\xff)?(?:(?:\0[\t\n\r -~]){2}|(?:[\t\n\r -~]\0){2})/;

/** The ASCII text of the bytes in any encoding, without a byte order mark and leading space. */
function lettersOf(bytes: string): string {
	const text = IN_UTF_16.test(bytes) ? bytes.replaceAll('\0', '') : bytes;
	return text.replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*/, '');
}

/** Whether the bytes are a text in UTF-8, in UTF-16, or in a single-byte encoding. */
function isText(beginning: Uint8Array, type: string): boolean {
	const utf8 = decoded(beginning, 'utf-8');
	if (utf8 !== undefined && !NOT_IN_TEXT.test(utf8)) return true;
	if (UTF_16.some((encoding) => isUtf16Text(decoded(beginning, encoding)))) return true;
	const share = type.startsWith('text/') ? ASCII_IN_TEXT : ASCII_WITHOUT_TYPE;
	return isMostlyAscii(Buffer.from(beginning).toString('latin1'), share);
}

const UTF_16 = ['utf-16le', 'utf-16be'];

/** `undefined` if the bytes aren't in this encoding. The last character may be incomplete. */
function decoded(beginning: Uint8Array, encoding: string): string | undefined {
	try {
		const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
		return decoder.decode(beginning, { stream: true });
	} catch {
		return undefined;
	}
}

/** Whether a text has a byte order mark or is mostly ASCII. */
function isUtf16Text(text = ''): boolean {
	if (text.startsWith('\ufeff')) return !NOT_IN_UTF_16_TEXT.test(text);
	return text.length >= SHORTEST_UNMARKED && isMostlyAscii(text, ASCII_WITHOUT_TYPE);
}

/** In UTF-16 units. */
const SHORTEST_UNMARKED = 8;

/** Minimum share of ASCII in a text of a European language. Audio has about half. */
const ASCII_IN_TEXT = 0.5;
const ASCII_WITHOUT_TYPE = 0.75;

function isMostlyAscii(text: string, share: number): boolean {
	const ascii = text.replace(/[^\0-\x7f]/g, '');
	return !NOT_IN_TEXT.test(ascii) && ascii.length > text.length * share;
}
