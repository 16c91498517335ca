const UNDEFINED_TEXT =
	'no digits begin with the word undefined, so the next condition says the same';
const FAST_PATH = 'a short cut: the reading below comes to the same';

/** Mutants that change nothing that anyone could see, each with the reason. */
export const EQUIVALENT = [
	{
		file: 'phone/callPhone.ts',
		original: 'code !== undefined',
		replacement: 'true',
		why: UNDEFINED_TEXT,
	},
	{
		file: 'phone/callPhone.ts',
		original: "''",
		replacement: '"Stryker was here!"',
		why: 'every code has a country',
	},
	...['false', 'true', '{}', '""', "typeof cell !== 'string'"].flatMap((replacement) =>
		[
			"typeof value === 'number'",
			"'number'",
			"'string'",
			"typeof cell === 'string'",
			"typeof cell === 'string' && isMobile(cell)",
			"typeof cell === 'string' && INTERNATIONAL.test(cell)",
			'{',
		].map((original) => ({
			file: 'phone/campaignPhone.ts',
			original,
			replacement,
			why: FAST_PATH,
		})),
	),
];
