/** A file, read from its beginning each time it is opened. */
export type OpenFile = () => Promise<Iterable<Uint8Array> | AsyncIterable<Uint8Array>>;

const UTF_8 = 'utf-8';
/** What Excel writes as plain CSV in most of the world; no byte is wrong in it, so it is what is left. */
const OTHERWISE = 'windows-1252';

const MARKS = [
	{ bytes: [0xef, 0xbb, 0xbf], encoding: UTF_8 },
	{ bytes: [0xff, 0xfe], encoding: 'utf-16le' },
	{ bytes: [0xfe, 0xff], encoding: 'utf-16be' },
] as const;

/** How the bytes of a file become text. */
export type Encoding = {
	/** As a TextDecoder takes it. */
	name: string;
	/**
	 * `set` by a person · `certain` by its byte order mark or by every byte · `guessed` since it isn't UTF-8 ·
	 * `damaged` UTF-8 but for some bytes, each of which becomes {@link UNREADABLE}; see {@link asWritten}.
	 */
	fit: 'set' | 'certain' | 'guessed' | 'damaged';
};

/** What a byte that is not text becomes. */
export const UNREADABLE = '\ufffd';

/** What stands for the same character where a damaged file itself has it. No text has this one. */
const WRITTEN = '\ufffe';

/** A text of {@link textOf} as the file has it. */
export function asWritten(text: string): string {
	return text.replaceAll(WRITTEN, UNREADABLE);
}

/**
 * How the file is encoded, by all of its bytes. Letters of another encoding hardly ever look like those of UTF-8, so a file
 * with any letter of UTF-8 is UTF-8, and so is one that is cut inside its only letter.
 *
 * @param head the first bytes
 * @param known where a person has set it; a byte order mark counts more
 * @throws NoEncoding
 */
export async function encodingOf(
	open: OpenFile,
	head: Uint8Array,
	known: string,
): Promise<Encoding> {
	const marked = MARKS.find(({ bytes }) => bytes.every((byte, at) => head[at] === byte))?.encoding;
	if (marked === undefined && known !== '') return { name: known, fit: 'set' };
	const name = marked ?? utf16Of(head) ?? UTF_8;
	if (name !== UTF_8 || (await fits(open, UTF_8))) return { name, fit: 'certain' };
	if (marked === UTF_8 || (await isDamagedUtf8(open))) return { name, fit: 'damaged' };
	if (await some(open, { name: OTHERWISE, fit: 'guessed' }, NOT_IN_OTHERWISE))
		throw new NoEncoding();
	return { name: OTHERWISE, fit: 'guessed' };
}

/** Bytes that Windows-1252 leaves free. */
const NOT_IN_OTHERWISE = /[\x81\x8d\x8f\x90\x9d]/;
const LETTER = /[^\0-\x7f\ufffd]/;

/** Whether a text that isn't all UTF-8 has letters of UTF-8, or only its last letter isn't whole. */
async function isDamagedUtf8(open: OpenFile): Promise<boolean> {
	let last = '';
	let isDamagedBefore = false;
	for await (const piece of textOf(open, { name: UTF_8, fit: 'damaged' })) {
		if (LETTER.test(piece)) return true;
		isDamagedBefore ||= last.includes(UNREADABLE);
		last = piece;
	}
	return !isDamagedBefore;
}

async function some(open: OpenFile, encoding: Encoding, character: RegExp): Promise<boolean> {
	for await (const piece of textOf(open, encoding)) if (character.test(piece)) return true;
	return false;
}

/** Of text in European letters every other byte is 0. */
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

async function fits(open: OpenFile, name: string): Promise<boolean> {
	const goThrough = async () => {
		const pieces = textOf(open, { name, fit: 'certain' });
		while ((await pieces.next()).done !== true);
		return true;
	};
	return await goThrough().catch((error: unknown) => {
		if (error instanceof WrongEncoding) return false;
		throw error;
	});
}

/** The bytes do not mean text in this encoding. */
export class WrongEncoding extends Error {
	constructor(readonly encoding: Encoding) {
		super(`Not ${encoding.name}`);
	}
}

/** The bytes mean text in no encoding that is looked for. */
export class NoEncoding extends Error {
	constructor() {
		super(`Neither ${UTF_8} nor ${OTHERWISE}`);
	}
}

function notIn(encoding: Encoding): WrongEncoding {
	return new WrongEncoding(encoding);
}

/** Small enough that whatever else n8n does waits a few milliseconds. */
const PIECE_BYTES = 65_536;

/**
 * The text of a file in pieces, without its byte order mark, see {@link asWritten}. The last piece is what an incomplete character at the end becomes.
 *
 * @throws WrongEncoding
 */
export async function* textOf(open: OpenFile, encoding: Encoding): AsyncGenerator<string> {
	const isDamaged = encoding.fit === 'damaged';
	const decoder = new TextDecoder(encoding.name, { fatal: !isDamaged });
	const marker = new WrittenMarker();
	const decode = (bytes?: Uint8Array) => {
		try {
			return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
		} catch {
			throw notIn(encoding);
		}
	};
	for await (const bytes of await open()) {
		for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
			const piece = bytes.subarray(from, from + PIECE_BYTES);
			yield decode(isDamaged ? marker.mark(piece) : piece);
		}
	}
	yield decode();
}

/** Tells {@link UNREADABLE} that a file has in UTF-8 (EF BF BD) from what the decoder makes of a wrong byte. */
class WrittenMarker {
	private beforeLast = 0;
	private last = 0;

	mark(bytes: Uint8Array): Uint8Array {
		const marked = bytes.slice();
		for (const [at, byte] of bytes.entries()) {
			if (byte === 0xbd && this.last === 0xbf && this.beforeLast === 0xef) marked[at] = 0xbe;
			this.beforeLast = this.last;
			this.last = byte;
		}
		return marked;
	}
}

export function isEncoding(name: string): boolean {
	try {
		return new TextDecoder(name).encoding !== '';
	} catch {
		return false;
	}
}

const HEAD_BYTES = 65_536;

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
