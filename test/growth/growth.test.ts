import { takesText } from './arguments';
import { attempts, exported, placeOf } from './readerInputs';
import { excessOf } from './growth';
import { notReaders, readers } from './readers';

/** Enough for work that grows with the square to stand out; with GROWTH_CHARACTERS=1000000 as much as a file may bring. */
const MOST_CHARACTERS = Number(process.env.GROWTH_CHARACTERS ?? 32_000);
/** For that many. */
const TIME_LIMIT_MS = 3_600_000;

test('every exported function and class that takes text is tried, or is known to read none', () => {
	const unknown = exported
		.filter(takesText)
		.map(placeOf)
		.filter((place) => !attempts.has(place) && !notReaders.has(place));
	// If it can be called with text of any length, add it to `readers`, and else to `noReaders`.
	expect(unknown).toEqual([]);
	const there = new Set(exported.map(placeOf));
	expect([...Object.keys(readers), ...notReaders].filter((place) => !there.has(place))).toEqual([]);
});

test.each([...attempts])(
	'four times the text is about four times the work: %s',
	async (_place, ways) => {
		const slow: string[] = [];
		for (const [way, { shapes, read }] of ways.entries()) {
			for (const { name, make } of shapes) {
				const job = (characters: number) => {
					const input = make(characters);
					return () => read(input);
				};
				const excess = await excessOf(job, MOST_CHARACTERS);
				if (excess === undefined) continue;
				const { characters, ms, msOfQuarter } = excess;
				slow.push(
					`way ${way}, ${name}: ${characters / 4} characters take ${msOfQuarter.toFixed(1)} ms, ${characters} take ${ms.toFixed(1)} ms`,
				);
			}
		}
		expect(slow).toEqual([]);
	},
	TIME_LIMIT_MS,
);
