import { setImmediate } from 'node:timers/promises';
import range from 'lodash/range';
import uniq from 'lodash/uniq';
import { forEachWithPauses, Pauses } from '../../../nodes/shared/pauses';

/** A clock that only the work moves, in milliseconds. */
let now = 0;
beforeEach(() => {
	jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => jest.restoreAllMocks());

test('other work continues every 10 ms while a long list is handled, in its order', async () => {
	const handled: number[] = [];
	const seenByOther: number[] = [];
	const handling = forEachWithPauses(range(50), (entry) => {
		handled.push(entry);
		now += 1;
	});
	while (handled.length < 50) {
		seenByOther.push(handled.length);
		await setImmediate();
	}
	await handling;
	expect(handled).toEqual(range(50));
	expect(uniq(seenByOther)).toEqual([10, 20, 30, 40]);
});

test('for short steps, it looks at the clock after as many as given', () => {
	const pauses = new Pauses(3);
	now += 10;
	expect([pauses.isDue(), pauses.isDue(), pauses.isDue()]).toEqual([false, false, true]);
});
