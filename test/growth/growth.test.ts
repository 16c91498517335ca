import { takesText } from './arguments';
import { exported, idOf, readerCalls } from './readerInputs';
import { excessOf } from './growth';
import { notReaders, readers } from './readers';

/** Enough to detect quadratic growth. Use GROWTH_CHARACTERS=1000000 for the size of a file. */
const MAX_CHARACTERS = Number(process.env.GROWTH_CHARACTERS ?? 32_000);
/** Long enough for GROWTH_CHARACTERS=1000000. */
const TIME_LIMIT_MS = 3_600_000;

test('measures every exported function and class that reads text', () => {
	const unknown = exported
		.filter(takesText)
		.map(idOf)
		.filter((id) => !readerCalls.has(id) && !notReaders.has(id));
	// To fix a failure, add the function to `readers` if it can get text of any length, otherwise to `notReaders`.
	expect(unknown).toEqual([]);
	const ids = new Set(exported.map(idOf));
	expect([...Object.keys(readers), ...notReaders].filter((id) => !ids.has(id))).toEqual([]);
});

test.each([...readerCalls])(
	'four times the text takes about four times the CPU time: %s',
	async (_id, calls) => {
		const slow: string[] = [];
		for (const [index, { shapes, read }] of calls.entries()) {
			for (const { name, make } of shapes) {
				const job = (characters: number) => {
					const input = make(characters);
					return () => read(input);
				};
				const excess = await excessOf(job, MAX_CHARACTERS);
				if (excess === undefined) continue;
				const { characters, ms, msOfQuarter } = excess;
				slow.push(
					`call ${index}, ${name}: ${characters / 4} characters take ${msOfQuarter.toFixed(1)} ms, ${characters} take ${ms.toFixed(1)} ms`,
				);
			}
		}
		expect(slow).toEqual([]);
	},
	TIME_LIMIT_MS,
);
