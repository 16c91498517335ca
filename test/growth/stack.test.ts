import { runToEnd } from './growth';
import { places } from './places';
import { largeInputs } from './shapes';

test.each(Object.entries(places))(
	'does not overflow the stack with many entries: %s',
	async (_place, { reads }) => {
		for (const read of largeInputs.flatMap(reads)) {
			await expect(runToEnd(read)).resolves.toBeUndefined();
		}
	},
);
