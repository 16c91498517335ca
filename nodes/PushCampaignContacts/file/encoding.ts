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

/**
 * How the file is encoded, as the name that a TextDecoder takes. A byte order mark tells it for certain; without one and
 * unless it is known, it is UTF-8 where every byte of the file fits that.
 *
 * @param head the first bytes
 */
export async function encodingOf(open: OpenFile, head: Uint8Array, known: string): Promise<string> {
	const marked = MARKS.find(({ bytes }) => bytes.every((byte, at) => head[at] === byte));
	if (marked !== undefined) return marked.encoding;
	if (known !== '') return known;
	return utf16Of(head) ?? ((await fits(open, UTF_8)) ? UTF_8 : OTHERWISE);
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

async function fits(open: OpenFile, encoding: string): Promise<boolean> {
	const goThrough = async () => {
		const pieces = textOf(open, encoding);
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
	constructor(readonly encoding: string) {
		super(`Not ${encoding}`);
	}
}

function notIn(encoding: string): WrongEncoding {
	return new WrongEncoding(encoding);
}

/** Small enough that whatever else n8n does waits a few milliseconds. */
const PIECE_BYTES = 65_536;

/**
 * The text of a file in pieces, without its byte order mark.
 *
 * @throws WrongEncoding
 */
export async function* textOf(open: OpenFile, encoding: string): AsyncGenerator<string> {
	const decoder = new TextDecoder(encoding, { fatal: true });
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
