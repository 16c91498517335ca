const SHORT_CUT = 'a short cut for most cells; the reading below it comes to the same';
const ALWAYS_DEFINED =
	'no digits begin with the word undefined, so the next condition says the same';

/** Mutants that change nothing that anyone could see, each with the reason. */
export const EQUIVALENT = [
	['phone/callPhone.ts', 'code !== undefined', 'true', ALWAYS_DEFINED],
	['phone/campaignPhone.ts', "'number'", '""', SHORT_CUT],
	['phone/campaignPhone.ts', "'string'", '""', SHORT_CUT],
	['phone/written.ts', '!/[^\\x20-\\x7e]/.test(text)', 'false', SHORT_CUT],
].map(([file, original, replacement, why]) => ({ file, original, replacement, why }));
