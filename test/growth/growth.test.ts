import { excessOf, runToEnd } from './growth';
import { places } from './places';

/** Enough to detect quadratic growth. Use GROWTH_CHARACTERS=1000000 for the size of a file. */
const MAX_CHARACTERS = Number(process.env.GROWTH_CHARACTERS ?? 32_000);
/** Long enough for GROWTH_CHARACTERS=1000000. */
const TIME_LIMIT_MS = 3_600_000;

test.each(Object.entries(places))(
	'four times the text takes about four times the CPU time: %s',
	async (_place, { shapes, reads }) => {
		for (const { name, make } of shapes) {
			const job = (characters: number) => {
				const all = reads(make(characters));
				return async () => {
					for (const read of all) await runToEnd(read);
				};
			};
			const excess = await excessOf(job, MAX_CHARACTERS);
			expect(excess && { shape: name, ...excess }).toBeUndefined();
		}
	},
	TIME_LIMIT_MS,
);
