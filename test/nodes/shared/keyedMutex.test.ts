import fc from 'fast-check';
import { KeyedMutex, runExclusive } from '../../../nodes/shared/keyedMutex';

/** A function that runs until the test ends it. */
function pending() {
	let end: () => void = () => {};
	const ended = new Promise<void>((resolve) => {
		end = resolve;
	});
	return { ended, end };
}

const settle = async () => await new Promise((resolve) => setImmediate(resolve));
const failing = async () => await Promise.reject(new Error('rejected'));

describe('runExclusive', () => {
	test('runs functions of one key one by one, and those of other keys without waiting', async () => {
		const mutex = new KeyedMutex();
		const order: string[] = [];
		const first = pending();
		const a1 = mutex.runExclusive('a', async () => {
			await first.ended;
			order.push('a1');
		});
		const a2 = mutex.runExclusive('a', async () => await Promise.resolve(order.push('a2')));
		await mutex.runExclusive('b', async () => await Promise.resolve(order.push('b1')));
		expect(order).toEqual(['b1']);
		first.end();
		await Promise.all([a1, a2]);
		expect(order).toEqual(['b1', 'a1', 'a2']);
	});

	test('returns the result, and continues after a failure', async () => {
		const mutex = new KeyedMutex();
		await expect(mutex.runExclusive('a', failing)).rejects.toThrow('rejected');
		expect(await mutex.runExclusive('a', async () => await Promise.resolve('done'))).toBe('done');
	});

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

	test('of the process has one queue for each object or text', async () => {
		const [key, other] = [{}, {}];
		const first = pending();
		const order: string[] = [];
		const one = runExclusive(key, async () => {
			await first.ended;
			order.push('one');
		});
		const two = runExclusive(key, async () => await Promise.resolve(order.push('two')));
		await runExclusive(other, async () => await Promise.resolve(order.push('other')));
		first.end();
		await Promise.all([one, two]);
		expect(order).toEqual(['other', 'one', 'two']);
	});
});

describe('acquire', () => {
	test('waits for release', async () => {
		const mutex = new KeyedMutex();
		const release = await mutex.acquire('a');
		const next = jest.fn();
		void mutex.acquire('a').then(next);
		await settle();
		expect(next).not.toHaveBeenCalled();
		release();
		release();
		await settle();
		expect(next).toHaveBeenCalledTimes(1);
	});

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
		await settle();
		expect(order).toEqual(['second']);
		releaseSecond();
		await third;
		expect(order).toEqual(['second', 'third']);
	});
});

test('for any functions of any keys: in order, never two of a key at the same time', async () => {
	const call = fc.record({
		key: fc.constantFrom('a', 'b', 'c'),
		turns: fc.nat({ max: 5 }),
		isAborted: fc.boolean(),
		fails: fc.boolean(),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(call, { maxLength: 12 }), async (calls) => {
			const mutex = new KeyedMutex();
			const running = new Map<string, number>();
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
			for (const key of ['a', 'b', 'c']) {
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
