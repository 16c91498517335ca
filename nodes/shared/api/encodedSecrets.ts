/** A word without characters that end an encoded text. A backslash before a quote escapes the quote. */
const WORD = /(?:[^\s"'<>\\]|\\[^"])+/g;

/** Hexadecimal bytes with the separators of a dump: `74`, `:74`, `, 0x74`. */
const HEX_RUN = /(?:(?:0x)?[\da-f]{2}[\s:,-]{0,2})+/gi;

/** Base64 or base64url, also in several lines. */
const BASE64_RUN = /[\w+/-]+(?:\r?\n[\w+/-]+)*/g;

const ESCAPE =
	/%([\da-f]{2})|\\u([\da-f]{4})|\\x([\da-f]{2})|&#x0*([\da-f]{1,6});|&#0*(\d{1,7});|&(amp|lt|gt|quot|apos);|\\(.)/gi;

const ENTITIES: { [name: string]: string } = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Maximum nesting of escapes. No known server nests deeper. */
const MAX_ROUNDS = 4;

/**
 * Hides words that contain a secret in encoded form: JSON or log escapes, percent-encoding, or HTML entities, also
 * nested, hexadecimal, or base64 at any position of a longer text. Decodes the text once for all secrets.
 *
 * @param hidden replaces the words
 */
export function hidingEncoded(
	secrets: readonly string[],
	hidden: string,
): (text: string) => string {
	const wanted = secrets.flatMap((secret) => {
		const bytes = Buffer.from(secret).toString('latin1');
		return bytes === secret ? [secret] : [secret, bytes];
	});
	const shortest = wanted.reduce((least, { length }) => Math.min(least, length), Infinity);
	const isIn = (text: string): boolean =>
		text.length >= shortest && wanted.some((secret) => text.includes(secret));
	const isInHex = (run: string): boolean => run.length >= 2 * shortest && isIn(fromHex(run));
	const isInBase64 = (run: string): boolean =>
		run.length >= shortest && ALIGNMENTS.some((from) => isIn(fromBase64(run, from)));
	const isInRuns = (text: string): boolean =>
		runsOf(text, HEX_RUN).some(isInHex) || runsOf(text, BASE64_RUN).some(isInBase64);
	const isInWord = (word: string): boolean =>
		word.length >= shortest && unescaped(word).some((plain) => isIn(plain) || isInRuns(plain));
	const hide = (text: string, pattern: RegExp, has: (part: string) => boolean): string =>
		text.replace(pattern, (part) => (has(part) ? hidden : part));
	return (text) => {
		if (text.length < shortest) return text;
		const words = hide(text, WORD, isInWord);
		const shown = hide(hide(words, HEX_RUN, isInHex), BASE64_RUN, isInBase64);
		// A secret with quotes or white space isn't part of a single word.
		return unescaped(shown).some(isIn) ? hidden : shown;
	};
}

function runsOf(text: string, pattern: RegExp): string[] {
	return text.match(pattern) ?? [];
}

/** The text unescaped once, twice, and so on until it no longer changes. A secret may look like an escape itself. */
function unescaped(text: string): string[] {
	const rounds: string[] = [];
	let plain = text;
	for (let round = 0; round < MAX_ROUNDS; round++) {
		const next = plain.replace(ESCAPE, decoded);
		if (next === plain) break;
		rounds.push(next);
		plain = next;
	}
	return rounds;
}

/** Decodes an escape of a byte or a character. */
function decoded(...[, byte, unit, ofLog, hex, decimal, entity, char]: string[]): string {
	const digits = byte ?? unit ?? ofLog ?? hex;
	if (digits !== undefined) return character(parseInt(digits, 16));
	if (decimal !== undefined) return character(Number(decimal));
	return entity === undefined ? (char ?? '') : (ENTITIES[entity.toLowerCase()] ?? '');
}

const LAST_CHARACTER = 0x10ffff;

function character(code: number): string {
	return code > LAST_CHARACTER ? '' : String.fromCodePoint(code);
}

function fromHex(run: string): string {
	const digits = run.replace(/0x|[\s:,-]/gi, '');
	return Buffer.from(digits, 'hex').toString('latin1');
}

/** Offsets at which a group of four base64 characters may begin. */
const ALIGNMENTS = [0, 1, 2, 3];

function fromBase64(run: string, from: number): string {
	return Buffer.from(run.replace(/\s/g, '').slice(from), 'base64').toString('latin1');
}
