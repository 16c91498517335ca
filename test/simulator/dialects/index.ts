import { dialectOf, type Dialect } from './forms';

/** Tests run with the plain dialect, and contracts with both. */
export const dialects = {
	/** The most common choices: flat bodies, 404 for missing resources, numbered pages. */
	plain: dialectOf('plain', (plain) => plain),
	/** Everything different from that, with names that nobody could guess. */
	scrambled: dialectOf('scrambled', (_plain, scrambled) => scrambled),
};

export type { Dialect };
