import { dialectOf, type Dialect } from './forms';

/** Tests run with the plain dialect, and contracts with both. */
export const dialects = {
	/** The most common choices: flat bodies, 404 for missing resources, numbered pages. */
	plain: dialectOf('plain', (plain) => plain),
	/** Everything different from that, with names that nobody could guess. */
	scrambled: dialectOf('scrambled', (_plain, scrambled) => scrambled),
};

/** A dialect with any form of each detail. The same seed chooses the same ones. */
export function randomDialect(seed: number): Dialect {
	let count = 0;
	return dialectOf(`random ${seed}`, (plain, ...others) => {
		const forms = [plain, ...others];
		const at = Math.floor(
			fraction(Math.imul(seed, 0x9e3779b1) + Math.imul(++count, 0x85ebca77)) * forms.length,
		);
		const [chosen = plain] = forms.slice(at);
		return chosen;
	});
}

/** A number from 0 to 1 that looks random, by the finalizer of MurmurHash3. */
function fraction(seed: number): number {
	let hash = seed | 0;
	hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
	hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
	return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

export type { Dialect };
