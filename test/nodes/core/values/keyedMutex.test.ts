import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { KeyedMutex } from '../../../../nodes/core/values/keyedMutex';

/** Texts and objects. */
const KEYS = ['a', 'b', {}, {}];

test('an aborted caller continues without the lock, and the others keep their order', async () => {
	const mutex = new KeyedMutex();
	const order: string[] = [];
	const stop = new AbortController();
	const releaseFirst = await mutex.acquire('a');
	const second = mutex.acquire('a', stop.signal);
	const third = mutex.acquire('a').then(() => order.push('third'));
	await setImmediate();
	stop.abort();
	const releaseSecond = await second;
	order.push('second');
	releaseFirst();
	releaseFirst();
	await setImmediate();
	expect(order).toEqual(['second']);
	releaseSecond();
	await third;
	expect(order).toEqual(['second', 'third']);
});

const caller = fc.record({
	key: fc.constantFrom(...KEYS),
	steps: fc.nat({ max: 5 }),
	isAborted: fc.boolean(),
	fails: fc.boolean(),
});

test('for any functions of any keys: in order, never two of a key at the same time', async () => {
	const property = fc.asyncProperty(fc.array(caller, { maxLength: 12 }), async (callers) => {
		const mutex = new KeyedMutex();
		const running = new Set<unknown>();
		const order: number[] = [];
		const results = callers.map(async ({ key, steps, isAborted, fails }, index) => {
			if (isAborted) {
				(await mutex.acquire(key, AbortSignal.abort()))();
				return;
			}
			await mutex.runExclusive(key, async () => {
				expect(running.has(key)).toBe(false);
				running.add(key);
				order.push(index);
				for (let step = 0; step < steps; step++) await Promise.resolve();
				running.delete(key);
				if (fails) throw new Error('rejected');
			});
		});
		const outcomes = await Promise.allSettled(results);
		expect(outcomes.map(({ status }) => status === 'rejected')).toEqual(
			callers.map(({ isAborted, fails }) => fails && !isAborted),
		);
		for (const key of KEYS) {
			const expected = [...callers.keys()].filter(
				(index) => callers[index]?.key === key && !callers[index].isAborted,
			);
			expect(order.filter((index) => callers[index]?.key === key)).toEqual(expected);
		}
	});
	await fc.assert(property, { numRuns: 200 });
});
