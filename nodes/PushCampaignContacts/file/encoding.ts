/** Opens a file at its beginning. */
export type OpenFile = () => Pieces | Promise<Pieces>;
type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

const UTF_8 = 'utf-8';
/** The plain CSV encoding of Excel in most countries. Nearly every byte is valid in it. */
const FALLBACK = 'windows-1252';

const BYTE_ORDER_MARKS = [
	{ bytes: [0xef, 0xbb, 0xbf], encoding: UTF_8 },
	{ bytes: [0xff, 0xfe], encoding: 'utf-16le' },
	{ bytes: [0xfe, 0xff], encoding: 'utf-16be' },
] as const;

export type Encoding = {
	/** A label of TextDecoder. */
	name: string;
	/**
	 * `certain`: by the byte order mark or all bytes · `guessed`: because it isn't UTF-8 ·
	 * `damaged`: UTF-8 with some invalid bytes, which become {@link UNREADABLE}
	 */
	fit: 'certain' | 'guessed' | 'damaged';
};

/** Replaces a byte that isn't text. */
export const UNREADABLE = '\ufffd';

/** Bytes without a character in Windows-1252. */
const NOT_IN_FALLBACK = /[\x81\x8d\x8f\x90\x9d]/;
const LETTER = /[^\0-\x7f\ufffd]/;

/**
 * Detects the encoding from all bytes. Other encodings rarely look like multi-byte letters of UTF-8, so a file with any such
 * letter is UTF-8, even if other bytes are damaged.
 *
 * @param head the first bytes
 * @returns undefined if the bytes aren't valid in any of them
 */
export async function encodingOf(open: OpenFile, head: Uint8Array): Promise<Encoding | undefined> {
	const marked = BYTE_ORDER_MARKS.find(({ bytes }) =>
		bytes.every((byte, at) => head[at] === byte),
	)?.encoding;
	const name = marked ?? utf16Of(head) ?? UTF_8;
	if (name !== UTF_8 || (await isUtf8(open))) return { name, fit: 'certain' };
	if (marked === UTF_8 || (await some(open, { name, fit: 'damaged' }, LETTER))) {
		return { name, fit: 'damaged' };
	}
	const guessed: Encoding = { name: FALLBACK, fit: 'guessed' };
	return (await some(open, guessed, NOT_IN_FALLBACK)) ? undefined : guessed;
}

async function isUtf8(open: OpenFile): Promise<boolean> {
	const decodeAll = async () => {
		const pieces = textOf(open, { name: UTF_8, fit: 'certain' });
		while ((await pieces.next()).done !== true);
		return true;
	};
	return await decodeAll().catch((error: unknown) => {
		if (error instanceof WrongEncoding) return false;
		throw error;
	});
}

async function some(open: OpenFile, encoding: Encoding, character: RegExp): Promise<boolean> {
	for await (const piece of textOf(open, encoding)) if (character.test(piece)) return true;
	return false;
}

/** In UTF-16 text with European letters, every other byte is 0. */
function utf16Of(head: Uint8Array): string | undefined {
	const pairs = Math.floor(head.length / 2);
	const zeros = [0, 1].map((from) => {
		let count = 0;
		for (let at = from; at < 2 * pairs; at += 2) if (head[at] === 0) count++;
		return count;
	});
	const [atFirst = 0, atSecond = 0] = zeros;
	if (pairs === 0 || atFirst + atSecond < pairs / 2) return undefined;
	if (atFirst === 0) return 'utf-16le';
	return atSecond === 0 ? 'utf-16be' : undefined;
}

/** The bytes aren't valid in this encoding. */
export class WrongEncoding extends Error {
	constructor(readonly encoding: Encoding) {
		super(`Not ${encoding.name}`);
	}
}

function notIn(encoding: Encoding): WrongEncoding {
	return new WrongEncoding(encoding);
}

/** Small enough to block n8n for only a few milliseconds. */
const PIECE_BYTES = 65_536;

/**
 * The text of a file in pieces, without its byte order mark. The last piece replaces an incomplete character at the end, or
 * is empty.
 *
 * @throws WrongEncoding
 */
export async function* textOf(open: OpenFile, encoding: Encoding): AsyncGenerator<string> {
	const decoder = new TextDecoder(encoding.name, { fatal: encoding.fit !== 'damaged' });
	const decode = (bytes?: Uint8Array) => {
		try {
			return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
		} catch {
			throw notIn(encoding);
		}
	};
	for await (const bytes of await open()) {
		for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
			yield decode(bytes.subarray(from, from + PIECE_BYTES));
		}
	}
	yield decode();
}

export const HEAD_BYTES = 65_536;

/** The first bytes of a file. */
export async function headOf(open: OpenFile): Promise<Uint8Array> {
	const head = new Uint8Array(HEAD_BYTES);
	let length = 0;
	for await (const bytes of await open()) {
		const part = bytes.subarray(0, HEAD_BYTES - length);
		head.set(part, length);
		length += part.length;
		if (length === HEAD_BYTES) break;
	}
	return head.subarray(0, length);
}
