import { setImmediate } from 'node:timers/promises';
import range from 'lodash/range';
import { forEachInSlices } from '../../../nodes/shared/slices';

test('other work continues while a long list is handled, in its order', async () => {
	const handled: number[] = [];
	const seenByOther: number[] = [];
	const handling = forEachInSlices(range(5_000), (entry) => handled.push(entry));
	while (handled.length < 5_000) {
		seenByOther.push(handled.length);
		await setImmediate();
	}
	await handling;
	expect(handled).toEqual(range(5_000));
	expect(new Set(seenByOther)).toEqual(new Set([1_000, 2_000, 3_000, 4_000]));
});
