/** Opens a file at its beginning. */
export type OpenFile = () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** A label of TextDecoder. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

const BYTE_ORDER_MARKS = [
	{ bytes: [0xef, 0xbb, 0xbf], encoding: 'utf-8' },
	{ bytes: [0xff, 0xfe], encoding: 'utf-16le' },
	{ bytes: [0xfe, 0xff], encoding: 'utf-16be' },
] as const;

/** Replaces bytes that aren't text. */
export const UNREADABLE = '\ufffd';

const LETTER = /[^\0-\x7f\ufffd]/;

/**
 * Detects the encoding. Other encodings rarely look like multi-byte letters of UTF-8, so a file with any such letter is
 * UTF-8, even if other bytes are damaged. Windows-1252 is the plain CSV encoding of Excel in most countries, and nearly
 * every byte is valid in it.
 *
 * @param head the first bytes
 */
export async function encodingOf(open: OpenFile, head: Uint8Array): Promise<Encoding> {
	for (const { bytes, encoding } of BYTE_ORDER_MARKS) {
		if (bytes.every((byte, at) => head[at] === byte)) return encoding;
	}
	let isUtf8 = true;
	for await (const piece of textOf(open, 'utf-8')) {
		if (LETTER.test(piece)) return 'utf-8';
		isUtf8 &&= !piece.includes(UNREADABLE);
	}
	return isUtf8 ? 'utf-8' : 'windows-1252';
}

/** Small enough to block n8n for only a few milliseconds. */
const PIECE_BYTES = 65_536;

/** The text of a file in pieces, without its byte order mark. Invalid bytes become {@link UNREADABLE}. */
export async function* textOf(open: OpenFile, encoding: Encoding): AsyncGenerator<string> {
	const decoder = new TextDecoder(encoding);
	for await (const bytes of open()) {
		for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
			yield decoder.decode(bytes.subarray(from, from + PIECE_BYTES), { stream: true });
		}
	}
	yield decoder.decode();
}

export const HEAD_BYTES = 65_536;

/** The first bytes of a file. */
export async function headOf(open: OpenFile): Promise<Uint8Array> {
	const head = new Uint8Array(HEAD_BYTES);
	let length = 0;
	for await (const bytes of open()) {
		const part = bytes.subarray(0, HEAD_BYTES - length);
		head.set(part, length);
		length += part.length;
		if (length === HEAD_BYTES) break;
	}
	return head.subarray(0, length);
}

/** Bytes without a character in Windows-1252. */
const NOT_IN_WINDOWS_1252 = /[\x81\x8d\x8f\x90\x9d]/;

/** Whether a piece has characters that no text has, such as in an Excel workbook. */
export function isBinary(piece: string, encoding: Encoding): boolean {
	return piece.includes('\0') || (encoding === 'windows-1252' && NOT_IN_WINDOWS_1252.test(piece));
}
