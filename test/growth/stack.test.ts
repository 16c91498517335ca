import { attempts } from './readerInputs';
import { runToEnd } from './growth';
import { largeInputs } from './shapes';

test.each([...attempts])('no number of entries is too many for the stack: %s', async (_, ways) => {
	for (const { read, isOnePlace } of ways) {
		for (const input of isOnePlace ? [] : largeInputs) {
			await expect(runToEnd(() => read(input))).resolves.toBeUndefined();
		}
	}
});
