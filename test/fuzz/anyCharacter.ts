import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };

/** As fast-check's unit `binary`, but without its table of a million characters. */
export const anyCharacter = fc.nat(0x10_ff_ff - SURROGATES.count).map(
	(index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count),
	// So that it also generates texts such as `__proto__`.
	(text) => {
		const [code, second] =
			typeof text === 'string' ? Array.from(text, (one) => one.codePointAt(0)) : [];
		if (code === undefined || second !== undefined) throw new Error('not one character');
		return code < SURROGATES.first ? code : code - SURROGATES.count;
	},
);
