import { attempts } from './attempts';
import { finished } from './growth';
import { crowds } from './shapes';

test.each([...attempts])('no number of entries is too many for the stack: %s', async (_, ways) => {
	for (const { read, isOnePlace } of ways) {
		for (const input of isOnePlace ? [] : crowds) {
			await expect(finished(() => read(input))).resolves.toBeUndefined();
		}
	}
});
