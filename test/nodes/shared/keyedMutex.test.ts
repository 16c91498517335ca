import fc from 'fast-check';
import { KeyedMutex } from '../../../nodes/shared/keyedMutex';

const settle = async () => await new Promise((resolve) => setImmediate(resolve));
/** Texts and objects. */
const KEYS = ['a', 'b', {}, {}];
const failing = async () => await Promise.reject(new Error('rejected'));

describe('runExclusive', () => {
	test('with an error for stopped keys, runs nothing after a failure of the same key', async () => {
		const mutex = new KeyedMutex(() => new Error('stopped'));
		const run = jest.fn(async () => await Promise.resolve());
		const results = await Promise.allSettled([
			mutex.runExclusive('a', failing),
			mutex.runExclusive('a', run),
			mutex.runExclusive('a', run),
			mutex.runExclusive('b', run),
		]);
		expect(results).toMatchObject([
			{ reason: new Error('rejected') },
			{ reason: new Error('stopped') },
			{ reason: new Error('stopped') },
			{ status: 'fulfilled' },
		]);
		expect(run).toHaveBeenCalledTimes(1);
		await expect(mutex.runExclusive('a', run)).rejects.toThrow('stopped');
	});
});

describe('acquire', () => {
	test('an aborted caller continues without the lock, and the others keep their order', async () => {
		const mutex = new KeyedMutex();
		const order: string[] = [];
		const stop = new AbortController();
		const releaseFirst = await mutex.acquire('a');
		const second = mutex.acquire('a', stop.signal);
		const third = mutex.acquire('a').then(() => order.push('third'));
		await settle();
		stop.abort();
		const releaseSecond = await second;
		order.push('second');
		await settle();
		expect(order).toEqual(['second']);
		releaseFirst();
		releaseFirst();
		await settle();
		expect(order).toEqual(['second']);
		releaseSecond();
		await third;
		expect(order).toEqual(['second', 'third']);
	});
});

test('for any functions of any keys: in order, never two of a key at the same time', async () => {
	const call = fc.record({
		key: fc.constantFrom(...KEYS),
		turns: fc.nat({ max: 5 }),
		isAborted: fc.boolean(),
		fails: fc.boolean(),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(call, { maxLength: 12 }), async (calls) => {
			const mutex = new KeyedMutex();
			const running = new Map<unknown, number>();
			const order: number[] = [];
			const results = calls.map(async ({ key, turns, isAborted, fails }, index) => {
				if (isAborted) {
					(await mutex.acquire(key, AbortSignal.abort()))();
					return;
				}
				await mutex.runExclusive(key, async () => {
					expect(running.has(key)).toBe(false);
					running.set(key, index);
					order.push(index);
					for (let turn = 0; turn < turns; turn++) await Promise.resolve();
					running.delete(key);
					if (fails) throw new Error('rejected');
				});
			});
			const outcomes = await Promise.allSettled(results);
			expect(outcomes.map(({ status }) => status === 'rejected')).toEqual(
				calls.map(({ isAborted, fails }) => fails && !isAborted),
			);
			for (const key of KEYS) {
				const ofKey = (index: number) => calls[index]?.key === key;
				const expected = calls.flatMap(({ isAborted }, index) =>
					!isAborted && ofKey(index) ? [index] : [],
				);
				expect(order.filter(ofKey)).toEqual(expected);
			}
		}),
		{ numRuns: 200 },
	);
});
