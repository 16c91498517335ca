import { readerCalls } from './readerInputs';
import { runToEnd } from './growth';
import { largeInputs } from './shapes';

test.each([...readerCalls])(
	'does not overflow the stack with many entries: %s',
	async (_, calls) => {
		for (const { read, isOneParameter } of calls) {
			for (const input of isOneParameter ? [] : largeInputs) {
				await expect(runToEnd(() => read(input))).resolves.toBeUndefined();
			}
		}
	},
);
